// A process that is there and says nothing, for as long as the work takes.

export async function whileSilent(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    wake(pid);
  }
}

/** Whoever watches it may have given it up and started another one. */
function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
