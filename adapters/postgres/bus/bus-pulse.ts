// Once a second one statement for all subscriptions of a process: it sends a notification that this process alone hears, over another connection than the
// one that listens, and reads what each subscription would otherwise ask for by itself.
//
//  1. Notifications are known to travel until two seconds after one was sent that has come back. What comes back late, or of another sending, proves nothing.
//  2. A subscription hears within a second that its name was forgotten, or that something waits that was put aside.
import { messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { BusSession } from "./bus-session.ts";
import type { Wake } from "./wake.ts";

export interface NotificationProof {
  /** Until when notifications are known to travel; undefined when nothing has come back yet. */
  provenUntil(): Instant | undefined;
}

/** What the database says of a subscription. */
export interface Standing {
  /** Its entry; undefined when it was forgotten. */
  readonly entry: bigint | undefined;
  /** Something is held for it, or to be tried again. */
  readonly hasAside: boolean;
}

export interface BusPulse extends NotificationProof {
  /** Hears every second how the subscription stands; gives the function that stops it. */
  watch(name: string, hear: (standing: Standing) => void): () => void;
}

interface KeptPulse extends BusPulse {
  close(): Promise<void>;
}

const beatMs = 1_000;
const provesForMs = 2_000;

const text = `
select pg_notify($1, $2)::text as sent,
  (select coalesce(json_agg(json_build_array(s.name, s.entry::text, exists (
     select from parked_event p where p.subscription = s.name and (p.state = 'HELD' or (p.state = 'PARKED' and p.retry_us is not null)))))
   , '[]') from subscription s where s.name = any ($3))::text as standings`;

type Found = readonly (readonly [name: string, entry: string, hasAside: boolean])[];

export function startPulse(options: {
  readonly session: Pick<BusSession, "run" | "complaint">;
  readonly wake: Pick<Wake, "echo">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}): KeptPulse {
  const { session, wake, clock, timers, log } = options;
  const closing = new AbortController();
  const watchers = new Map<string, Set<(standing: Standing) => void>>();
  let beats = 0;
  let sent: { readonly text: string; readonly at: Instant } | undefined;
  let provenUntil: Instant | undefined;

  const stopHearing = wake.echo.onHeard((echo) => {
    if (sent?.text === echo) provenUntil = plusMilliseconds(sent.at, provesForMs);
  });

  async function beat(): Promise<void> {
    beats += 1;
    sent = { text: String(beats), at: clock.now() };
    // Who begins to watch while it is on its way was not asked about.
    const asked = [...watchers].map(([name, hearers]) => [name, [...hearers]] as const);
    const values = [wake.echo.channel, sent.text, asked.map(([name]) => name)];
    const answer = await session.run({ name: "bus_pulse", text, values, rowMode: "array" });
    const found = parseJson(String(answer.rows[0]?.[1])) as Found;
    const standings = new Map(found.map(([name, entry, hasAside]) => [name, { entry: BigInt(entry), hasAside }]));
    for (const [name, hearers] of asked) {
      const standing = standings.get(name) ?? { entry: undefined, hasAside: false };
      for (const hear of hearers) hear(standing);
    }
  }

  async function live(): Promise<void> {
    while (!closing.signal.aborted) {
      if (session.complaint() === undefined) {
        // A session that is lost says so itself; until it is back nothing is proven.
        await beat().catch((thrown: unknown) => log.debug("no pulse of the bus", { reason: messageOf(thrown) }));
      }
      await timers.sleep(beatMs, closing.signal);
    }
  }

  const lived = live();
  return {
    provenUntil: () => provenUntil,
    watch(name, hear) {
      const hearers = watchers.get(name) ?? new Set();
      watchers.set(name, hearers.add(hear));
      return () => {
        hearers.delete(hear);
        if (hearers.size === 0 && watchers.get(name) === hearers) watchers.delete(name);
      };
    },
    async close() {
      closing.abort();
      stopHearing();
      await lived;
    },
  };
}
