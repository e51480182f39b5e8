// One part of the platform as a child process. The two sides talk over the IPC channel: the parent hands in what the part needs to
// start (so no secret stands in an argument list or in the environment), the child says "ready" or why not, and from then on
// that it is alive. The child runs in its own process group, so that Ctrl-C reaches only the supervisor; and when the supervisor
// is gone the channel closes, which the child takes as the order to stop. A child that says nothing for long hangs: it is killed,
// so that it can be started again.
import { spawn } from "node:child_process";

/** What a busy part has in hand at one time must not be copied with every small collection: twice the room, half the copying. */
const nodeFlags = ["--enable-source-maps", "--max-semi-space-size=32"];

export interface PartFailure {
  readonly code: string;
  readonly message: string;
}

export type FromPart =
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  | ({ readonly type: "failed" } & PartFailure);

/** Sent once a second by a child that is alive. */
interface Beat {
  readonly type: "beat";
}

const beatEveryMs = 1_000;
/** Looks without a beat in between after which a child counts as hung. Looks, not seconds: when the machine slept, so did we. */
const silentLooksMax = 20;

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
  const child = spawn(process.execPath, [...nodeFlags, options.entry, options.name], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
    serialization: "json",
    env: withoutSettings(process.env),
  });
  const exited = new Promise<PartExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
  let silentLooks = 0;
  const said = new Promise<FromPart>((resolve) =>
    child.on("message", (message: FromPart | Beat) => {
      silentLooks = 0;
      if (message.type !== "beat") resolve(message);
    }),
  );
  const watch = setInterval(() => {
    silentLooks += 1;
    if (silentLooks > silentLooksMax) child.kill("SIGKILL");
  }, beatEveryMs);
  void exited.then(() => clearInterval(watch));
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

/** The settings, secrets among them, travel over the channel; a child's environment can be read by others of the same user. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("PORTCULLIS_")));
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
  const beating = setInterval(() => {
    if (process.connected) process.send?.({ type: "beat" } satisfies Beat, () => undefined);
  }, beatEveryMs);
  beating.unref();
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
