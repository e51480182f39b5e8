// One connection that is kept open: lost, it is opened again with doubling back-off and jitter, for as long as the bus
// lives, and says so meanwhile.
import type pg from "pg";
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";

/** Opens a connection of the app role that is shared with nobody. */
export type OpenConnection = () => Promise<pg.Client>;

export interface KeptConnectionOptions {
  /** For logs and complaints: "the bus's session". */
  readonly title: string;
  readonly open: OpenConnection;
  /** Prepares every new connection before anybody gets it. */
  readonly prepare: (client: pg.Client) => Promise<void>;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface KeptConnection {
  /** The open connection, or undefined while there is none. */
  current(): pg.Client | undefined;
  /** Resolves when there is an open connection, when the signal aborts, or when there will never be one again. */
  opened(signal: AbortSignal): Promise<Opening>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

/** How waiting for a connection ended. */
export type Opening = "open" | "aborted" | "closed";

const backOffMsMin = 20;
const backOffMsMax = 2_000;
/** How often a connection is asked for a sign of life: one that only listens would never notice that it is dead. */
const beatMs = 5_000;
const endMsMax = 2_000;

export function keepConnection(options: KeptConnectionOptions): KeptConnection {
  const { timers, random, log, title } = options;
  const closing = new AbortController();
  const waiters = new Set<() => void>();
  let client: pg.Client | undefined;
  let complaint: string | undefined = `${title} has not been opened yet`;
  let stopWaiting: () => void = () => undefined;

  function tellWaiters(): void {
    for (const waiter of [...waiters]) waiter();
  }

  /** The promise is wrapped, because one that is returned bare would be awaited with the function. */
  async function openOnce(): Promise<{ readonly lost: Promise<void> }> {
    const fresh = await options.open();
    const lost = new Promise<void>((resolve) => {
      stopWaiting = resolve;
      fresh.once("end", () => resolve());
      fresh.once("error", () => resolve());
    });
    try {
      await options.prepare(fresh);
    } catch (error) {
      await endQuietly(fresh, options);
      throw error;
    }
    client = fresh;
    complaint = undefined;
    void beat(fresh);
    tellWaiters();
    return { lost };
  }

  /** Never rejects; the connection's own end is what tells that a beat was missed. */
  async function beat(beating: pg.Client): Promise<void> {
    for (;;) {
      await timers.sleep(beatMs, closing.signal);
      if (client !== beating || closing.signal.aborted) return;
      try {
        await beating.query("select 1");
      } catch (error) {
        log.debug("no sign of life from a connection", { connection: title, reason: messageOf(error) });
        return;
      }
    }
  }

  async function keep(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const { lost } = await openOnce();
        failures = 0;
        if (!closing.signal.aborted) await lost;
        if (closing.signal.aborted) return;
        complaint = `${title} was lost`;
        log.warn("bus connection lost", { connection: title });
      } catch (error) {
        failures += 1;
        complaint = `${title} cannot be opened: ${messageOf(error)}`;
        if (failures === 1)
          log.warn("bus connection cannot be opened", { connection: title, reason: messageOf(error) });
      }
      const gone = client;
      client = undefined;
      if (gone !== undefined) await endQuietly(gone, options);
      const spanMs = Math.min(backOffMsMax, backOffMsMin * 2 ** failures);
      const share = (random.bytes(1)[0] ?? 0) / 255;
      await timers.sleep(spanMs / 2 + (spanMs / 2) * share, closing.signal);
    }
  }

  const kept = keep();
  return {
    current: () => client,
    complaint: () => complaint,
    opened(signal) {
      const opening = (): Opening => {
        if (closing.signal.aborted) return "closed";
        return client === undefined ? "aborted" : "open";
      };
      if (client !== undefined || signal.aborted || closing.signal.aborted) return Promise.resolve(opening());
      return new Promise((resolve) => {
        const done = (): void => {
          waiters.delete(done);
          signal.removeEventListener("abort", done);
          resolve(opening());
        };
        waiters.add(done);
        signal.addEventListener("abort", done);
      });
    },
    async close() {
      closing.abort();
      stopWaiting();
      tellWaiters();
      await kept;
      const last = client;
      client = undefined;
      complaint = `${title} has been closed`;
      if (last !== undefined) await endQuietly(last, options);
    },
  };
}

/** A server that does not answer any more must not hold up who says goodbye to it. */
async function endQuietly(client: pg.Client, tools: { readonly log: Log; readonly timers: Timers }): Promise<void> {
  const { log, timers } = tools;
  const done = new AbortController();
  let ended = false;
  const ending = client
    .end()
    .catch((error: unknown) => log.debug("closing a lost connection", { reason: messageOf(error) }))
    .then(() => {
      ended = true;
    });
  await Promise.race([ending, timers.sleep(endMsMax, done.signal)]);
  done.abort();
  if (!ended) client.connection.stream.destroy();
}
