// One part of the platform as a child process. The two sides talk over the IPC channel: the parent hands in what the part needs to
// start (so no secret stands in an argument list or in the environment), the child says "ready" or why not, and from then on
// that it is alive. The child runs in its own process group, so that Ctrl-C reaches only the supervisor; and when the supervisor
// is gone the channel closes, which the child takes as the order to stop. A child that says nothing for long hangs: it is killed,
// so that it can be started again.
import { spawn } from "node:child_process";
import { Fault, messageOf } from "../../contracts/src/fault.ts";

/** For the risk engine alone. */
const heapFlag = "--heap-growing-percent=400";

/**
 * A part's pauses are its collector's, so the collector is told how to have few and short ones; and its compiler, to take its time.
 *  1. What lives for one call must die young. V8 notices where objects are made that outlive a small collection, as all do that are in hand during a busy
 *     moment, and from then on makes their like among the old ones. There they are dead at once and still point to the call that they were made for:
 *     every answered call was kept, copied twice and left to the large collection, and whether that began was a matter of chance. So it is forbidden.
 *  2. Then little survives, and a small collection takes as long as there is to look at: a millisecond for eight megabytes.
 *  3. It is done by the one thread that waits for it: its helpers would compete with the other parts for the same few processors, and it would
 *     wait for the last of them.
 *  4. The risk engine's heap grows to five times what was alive after the last large collection before there is another: a rare long pause meets fewer than
 *     frequent shorter ones. The others keep V8's own measure: nobody waits for them so, and a crowd at their ports made the gateway grow to 370 MB.
 *  5. A check of an order is some three hundred small functions. The compiler puts four times as much of them into one as it would by itself; that is a
 *     seventh of a check's time.
 */
export const nodeFlags: readonly string[] = [
  "--enable-source-maps",
  "--no-allocation-site-pretenuring",
  "--max-semi-space-size=8",
  "--no-parallel-scavenge",
  heapFlag,
  "--max-inlined-bytecode-size=1000",
  "--max-inlined-bytecode-size-cumulative=4000",
];

function flagsOf(name: string): readonly string[] {
  return name === "riskengine" ? nodeFlags : nodeFlags.filter((flag) => flag !== heapFlag);
}

interface PartFailure {
  readonly code: string;
  readonly message: string;
  /** The database was away for a moment: another try may succeed. */
  readonly isPassing?: boolean;
}

export type FromService =
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  | ({ readonly type: "failed" } & PartFailure);

/** Sent once a second by a child that is alive. */
interface Beat {
  readonly type: "beat";
}

/** A part wants something of whoever runs it. */
interface Ask {
  readonly type: "ask";
  readonly number: number;
  readonly what: SupervisorRequest;
}

/** The services to be started anew, in place; or a part that is started on request, and whether it is wanted. */
export type SupervisorRequest =
  | { readonly request: "restart"; readonly parts: readonly string[] }
  | { readonly request: "keep"; readonly part: string; readonly wanted: boolean };

const beatEveryMs = 1_000;
/** Looks without a beat in between after which a child counts as hung. Looks, not seconds: when the machine slept, so did we. */
const silentLooksMax = 20;

type ToService =
  | { readonly type: "start"; readonly input: unknown }
  | { readonly type: "stop" }
  | ({ readonly type: "answer"; readonly number: number } & (
      | { readonly value: unknown }
      | { readonly failure: string }
    ));

export interface PartExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface PartProcess {
  readonly pid: number;
  /** Settles once: the first thing the part says, or its end if it said nothing. */
  readonly outcome: Promise<FromService | { readonly type: "exited"; readonly exit: PartExit }>;
  readonly exited: Promise<PartExit>;
  /** Asks it to stop; after the grace period it is killed. Resolves when it is gone. */
  stop(graceMs: number): Promise<PartExit>;
}

interface SpawnPartOptions {
  /** The Node that runs it. */
  readonly node: string;
  /** The module that the child runs. */
  readonly entry: string;
  /** Shown in the process list. */
  readonly name: string;
  readonly input: unknown;
  /** Does what the part asks for; what it resolves to travels back as JSON. */
  grant(request: SupervisorRequest): Promise<unknown>;
}

/** How long it may take to become ready is its supervisor's to say: a machine with much to do takes long to load a program that cannot beat meanwhile. */
export function spawnService(options: SpawnPartOptions, lookEveryMs = beatEveryMs): PartProcess {
  const child = spawn(options.node, [...flagsOf(options.name), options.entry, options.name], {
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
  const said = new Promise<FromService>((resolve) =>
    child.on("message", (message: FromService | Beat | Ask) => {
      silentLooks = 0;
      if (message.type === "ask") void answer(message);
      else if (message.type !== "beat") resolve(message);
    }),
  );
  void said.then(() => {
    // Its last words may come after its end.
    if (child.exitCode !== null || child.signalCode !== null) return;
    const watch = setInterval(() => {
      silentLooks += 1;
      if (silentLooks > silentLooksMax) child.kill("SIGKILL");
    }, lookEveryMs);
    void exited.then(() => clearInterval(watch));
  });
  send({ type: "start", input: options.input });

  async function answer({ number, what }: Ask): Promise<void> {
    try {
      send({ type: "answer", number, value: await options.grant(what) });
    } catch (error) {
      send({ type: "answer", number, failure: messageOf(error) });
    }
  }

  function send(message: ToService): void {
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

/**
 * The settings, secrets among them, travel over the channel; a child's environment can be read by others of the same user. Variables of the database's
 * driver are the owner's as well.
 */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(PORTCULLIS_|PG[A-Z])/.test(name)));
}

/** The child's side: resolves to the input, and tells when the parent wants it to stop or is gone. */
export function partSide(): {
  readonly input: Promise<unknown>;
  readonly stopped: Promise<string>;
  tell(message: FromService): Promise<void>;
  /** Rejects with SERVICE_UNAVAILABLE when nobody grants it. */
  ask(what: SupervisorRequest): Promise<unknown>;
} {
  let giveInput: (input: unknown) => void = () => undefined;
  let giveStop: (reason: string) => void = () => undefined;
  const input = new Promise<unknown>((resolve) => {
    giveInput = resolve;
  });
  const stopped = new Promise<string>((resolve) => {
    giveStop = resolve;
  });
  const asked = new Map<number, (answer: Extract<ToService, { readonly type: "answer" }>) => void>();
  let asks = 0;
  process.on("message", (message: ToService) => {
    if (message.type === "start") giveInput(message.input);
    else if (message.type === "answer") asked.get(message.number)?.(message);
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
    ask: (what) =>
      new Promise((resolve, reject) => {
        asks += 1;
        const number = asks;
        asked.set(number, (answer) => {
          asked.delete(number);
          if ("failure" in answer) reject(new Fault("SERVICE_UNAVAILABLE", answer.failure, { retry: "later" }));
          else resolve(answer.value);
        });
        process.send?.({ type: "ask", number, what } satisfies Ask, () => undefined);
      }),
  };
}
