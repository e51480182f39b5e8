// One connection that is kept open: lost, it is opened again with doubling back-off and jitter, for as long as the bus
// lives, and says so meanwhile.
import type pg from "pg";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";

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
  /** Resolves to the next open connection, or to undefined when the signal aborts or the connection is closed. */
  opened(signal: AbortSignal): Promise<pg.Client | undefined>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

const backOffMsMin = 20;
const backOffMsMax = 2_000;

export function keepConnection(options: KeptConnectionOptions): KeptConnection {
  const { timers, random, log, title } = options;
  const closing = new AbortController();
  const waiters = new Set<() => void>();
  let client: pg.Client | undefined;
  let complaint: string | undefined = `${title} has not been opened yet`;

  function tellWaiters(): void {
    for (const waiter of [...waiters]) waiter();
  }

  /** The promise is wrapped, because one that is returned bare would be awaited with the function. */
  async function openOnce(): Promise<{ readonly lost: Promise<void> }> {
    const fresh = await options.open();
    const lost = new Promise<void>((resolve) => {
      fresh.once("end", () => resolve());
      fresh.once("error", () => resolve());
    });
    try {
      await options.prepare(fresh);
    } catch (error) {
      await endQuietly(fresh, log);
      throw error;
    }
    client = fresh;
    complaint = undefined;
    tellWaiters();
    return { lost };
  }

  async function keep(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const { lost } = await openOnce();
        failures = 0;
        await Promise.race([lost, aborted(closing.signal)]);
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
      if (gone !== undefined) await endQuietly(gone, log);
      const spanMs = Math.min(backOffMsMax, backOffMsMin * 2 ** failures);
      const dice = (random.bytes(1)[0] ?? 0) / 255;
      await timers.sleep(spanMs / 2 + (spanMs / 2) * dice, closing.signal);
    }
  }

  const kept = keep();
  return {
    current: () => client,
    complaint: () => complaint,
    opened(signal) {
      if (client !== undefined || signal.aborted || closing.signal.aborted) return Promise.resolve(client);
      return new Promise((resolve) => {
        const done = (): void => {
          waiters.delete(done);
          signal.removeEventListener("abort", done);
          resolve(client);
        };
        waiters.add(done);
        signal.addEventListener("abort", done);
      });
    },
    async close() {
      closing.abort();
      tellWaiters();
      await kept;
      const last = client;
      client = undefined;
      complaint = `${title} has been closed`;
      if (last !== undefined) await endQuietly(last, log);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function endQuietly(client: pg.Client, log: Log): Promise<void> {
  await client.end().catch((error: unknown) => {
    log.debug("closing a lost connection", { reason: messageOf(error) });
  });
}
