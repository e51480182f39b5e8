// One part of the platform as a child process. The two sides talk over the IPC channel: the parent hands in what the part needs to
// start (so no secret stands in an argument list or in the environment), the child says "ready" or why not. The child runs in
// its own process group, so that Ctrl-C reaches only the supervisor; and when the supervisor is gone the channel closes, which the
// child takes as the order to stop.
import { spawn } from "node:child_process";

export interface PartFailure {
  readonly code: string;
  readonly message: string;
}

export type FromPart =
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  | ({ readonly type: "failed" } & PartFailure);

export type ToPart = { readonly type: "start"; readonly input: unknown } | { readonly type: "stop" };

export interface PartExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface PartProcess {
  readonly pid: number;
  /** Settles once: the first thing the part says, or its end if it said nothing. */
  readonly outcome: Promise<FromPart | { readonly type: "exited"; readonly exit: PartExit }>;
  readonly exited: Promise<PartExit>;
  /** Asks it to stop; after the grace period it is killed. Resolves when it is gone. */
  stop(graceMs: number): Promise<PartExit>;
}

export interface SpawnPartOptions {
  /** The module that the child runs. */
  readonly entry: string;
  /** Shown in the process list. */
  readonly name: string;
  readonly input: unknown;
}

export function spawnPart(options: SpawnPartOptions): PartProcess {
  const child = spawn(process.execPath, ["--enable-source-maps", options.entry, options.name], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
    serialization: "json",
  });
  const exited = new Promise<PartExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
  const said = new Promise<FromPart>((resolve) => child.once("message", (message) => resolve(message as FromPart)));
  send({ type: "start", input: options.input });

  function send(message: ToPart): void {
    // A child that just died cannot be told anything; its exit says the rest.
    if (child.connected) child.send(message, () => undefined);
  }

  return {
    pid: child.pid ?? 0,
    outcome: Promise.race([said, exited.then((exit) => ({ type: "exited" as const, exit }))]),
    exited,
    stop: async (graceMs) => {
      send({ type: "stop" });
      const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      try {
        return await exited;
      } finally {
        clearTimeout(killer);
      }
    },
  };
}

/** The child's side: resolves to the input, and tells when the parent wants it to stop or is gone. */
export function partSide(): {
  readonly input: Promise<unknown>;
  readonly stopped: Promise<string>;
  tell(message: FromPart): Promise<void>;
} {
  let giveInput: (input: unknown) => void = () => undefined;
  let giveStop: (reason: string) => void = () => undefined;
  const input = new Promise<unknown>((resolve) => {
    giveInput = resolve;
  });
  const stopped = new Promise<string>((resolve) => {
    giveStop = resolve;
  });
  process.on("message", (message: ToPart) => {
    if (message.type === "start") giveInput(message.input);
    else giveStop("the supervisor asked for it");
  });
  process.once("disconnect", () => giveStop("the supervisor is gone"));
  process.once("SIGTERM", () => giveStop("SIGTERM"));
  process.once("SIGINT", () => giveStop("SIGINT"));
  return {
    input,
    stopped,
    tell: (message) =>
      new Promise((resolve) => {
        if (process.connected) process.send?.(message, () => resolve());
        else resolve();
      }),
  };
}
