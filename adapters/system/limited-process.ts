// A process for one piece of work, with an end to its time and its memory. What it is handed travels over the IPC channel, or over three pipes where it is not
// trusted, so that no secret stands in an argument list or in the environment. However it dies, only its own work is lost.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";

export interface WorkLimits {
  readonly timeMsMax: number;
  readonly memoryBytesMax: number;
}

interface Work {
  /** The module that runs it. */
  readonly entry: string;
  readonly input: unknown;
  /** Beside what this process has without the platform's own settings; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: WorkLimits;
  readonly signal: AbortSignal;
  /** What it says before its last word; `answer` is for what it asks. */
  heard(message: unknown, answer: (message: object) => void): void;
}

type WorkEnd =
  /** It ended by itself, well. */
  { readonly kind: "done" } | { readonly kind: "died"; readonly why: string };

const lookEveryMs = 200;

export async function runLimited({ entry, input, environment, limits, signal, heard }: Work): Promise<WorkEnd> {
  const heapMb = Math.floor((limits.memoryBytesMax * 0.8) / 1_048_576);
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, entry], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "json",
    env: { ...withoutSettings(process.env), ...environment },
  });
  yieldToOthers(child.pid);
  let why: string | undefined;
  const kill = (reason: string): void => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const clock = setTimeout(() => kill(`it took longer than ${limits.timeMsMax / 1_000} s`), limits.timeMsMax);
  const memory = setInterval(() => {
    void residentBytes(child.pid).then((bytes) => {
      if (bytes > limits.memoryBytesMax) kill(`it took more than ${limits.memoryBytesMax / 1e9} GB of memory`);
    });
  }, lookEveryMs);
  const onAbort = (): void => kill("it was ended");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.on("message", (message) =>
    heard(message, (answer) => {
      if (child.connected) child.send(answer, () => undefined);
    }),
  );
  try {
    return await new Promise<WorkEnd>((resolve) => {
      child.once("error", (error) => resolve({ kind: "died", why: why ?? error.message }));
      child.once("exit", (code, exitSignal) => {
        if (why === undefined && code === 0) resolve({ kind: "done" });
        else resolve({ kind: "died", why: why ?? `its process ended with ${exitSignal ?? code}` });
      });
      // One that died at once cannot be handed anything; its exit says the rest.
      child.send({ input }, () => undefined);
    });
  } finally {
    clearTimeout(clock);
    clearInterval(memory);
    signal.removeEventListener("abort", onAbort);
  }
}

interface PipedWork {
  /** A program and its arguments, by whole paths: there is no environment to find them by. */
  readonly command: readonly [string, ...string[]];
  readonly limits: WorkLimits;
  readonly signal: AbortSignal;
  /** The first line that it is handed. */
  readonly input: string;
  readonly lineBytesMax: number;
  /** A line that it said; `answer` hands it another. */
  heard(line: string, answer: (line: string) => void): void;
}

/**
 * The same for work that is not trusted: it has three pipes and nothing else of this process, no environment, no channel and no folder. What it writes on its
 * third pipe is not read by anybody. One that says a longer line than allowed is ended.
 */
export async function runPiped({ command, limits, signal, input, lineBytesMax, heard }: PipedWork): Promise<WorkEnd> {
  const [program, ...given] = command;
  const child = spawn(program, given, { stdio: ["pipe", "pipe", "pipe"], env: {}, cwd: "/" });
  yieldToOthers(child.pid);
  let why: string | undefined;
  const kill = (reason: string): void => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const clock = setTimeout(() => kill(`it took longer than ${limits.timeMsMax / 1_000} s`), limits.timeMsMax);
  const memory = setInterval(() => {
    void residentBytes(child.pid).then((bytes) => {
      if (bytes > limits.memoryBytesMax) kill(`it took more than ${limits.memoryBytesMax / 1e6} MB of memory`);
    });
  }, lookEveryMs);
  const onAbort = (): void => kill("it was ended");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  // Whoever ended reads no more; its exit says the rest.
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  const say = (line: string): void => void child.stdin.write(`${line}\n`);
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (Buffer.byteLength(rest) > lineBytesMax) kill("it said more than it may");
    for (const line of lines) if (why === undefined) heard(line, say);
  });
  try {
    return await new Promise<WorkEnd>((resolve) => {
      child.once("error", (error) => resolve({ kind: "died", why: why ?? error.message }));
      child.once("close", (code, exitSignal) => {
        if (why === undefined && code === 0) resolve({ kind: "done" });
        else resolve({ kind: "died", why: why ?? `its process ended with ${exitSignal ?? code}` });
      });
      say(input);
    });
  } finally {
    clearTimeout(clock);
    clearInterval(memory);
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Orders go first and do not wait for it; yet it gets a tenth of a busy processor, so that its time does not run out unused. Called at once, before it
 * has threads, which inherit this.
 */
export function yieldToOthers(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  } catch (thrown) {
    // One that ended already has no priority; its exit says the rest.
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_SYSTEM_ERROR") throw thrown;
  }
}

/** 0 where the system does not say. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
}

function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("PORTCULLIS_")));
}

interface HandedIn {
  readonly input: Promise<unknown>;
  say(message: object): Promise<void>;
  /** One question at a time. */
  ask(message: object): Promise<unknown>;
}

/** The process's side: what it was handed. It ends when whoever started it is gone. */
export function handedIn(): HandedIn {
  process.on("disconnect", () => process.exit(1));
  return {
    input: new Promise((resolve) =>
      process.once("message", (message) => resolve((message as { input: unknown }).input)),
    ),
    say: (message) => new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve())),
    ask: (message) =>
      new Promise((resolve) => {
        process.once("message", resolve);
        process.send?.(message);
      }),
  };
}
