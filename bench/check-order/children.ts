// The bench's own child processes: one question, one answer, one at a time, over the channel between parent and child.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { nodeFlags } from "../../adapters/system/service-process.ts";

export interface Child {
  ask<Answer>(message: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** `entry` is a module that knows the role; a TypeScript one is run through tsx, as tests do. */
export function startChild(
  entry: string,
  role: "server" | "generator" | "gates" | "halts" | "halt-server" | "market-data",
): Child {
  // As the platform starts its parts.
  const execArgv = [...nodeFlags, ...(entry.endsWith(".ts") ? ["--import", "tsx"] : [])];
  const child: ChildProcess = fork(entry, [role], { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  let waiting: { resolve(value: unknown): void; reject(error: Error): void } | undefined;
  child.on("message", (message: { readonly result?: unknown; readonly error?: string }) => {
    const asked = waiting;
    waiting = undefined;
    if (message.error === undefined) asked?.resolve(message.result);
    else asked?.reject(new Error(message.error));
  });
  child.once("exit", (code, signal) => {
    waiting?.reject(new Error(`the ${role} ended with ${code ?? signal}`));
    waiting = undefined;
  });
  return {
    ask: <Answer>(message: object) =>
      new Promise<Answer>((resolve, reject) => {
        if (waiting !== undefined) {
          reject(new Error(`the ${role} is still busy`));
          return;
        }
        waiting = { resolve: (value) => resolve(value as Answer), reject };
        child.send(message, (error) => {
          if (error !== null) reject(error);
        });
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
