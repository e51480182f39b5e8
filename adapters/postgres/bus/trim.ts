// Trimming: once a minute the outbox loses what every registered subscription has passed and what is older than the
// retention, in bounded chunks. The database itself holds the rule (the app role cannot delete): never beyond the slowest
// cursor, nothing at all while no subscription is registered. A subscription that stays far behind, or an outbox that
// only grows, is a complaint.
import type pg from "pg";
import { messageOf } from "../../../contracts/src/fault.ts";
import { earlier, type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Timers } from "../../../ports/timers.ts";
import { type Alarms, noAlarms } from "../alarms.ts";
import { newestIdText } from "../risk/decision-rows.ts";

interface TrimOptions {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Events younger than this stay; also how long an unknown commit can be asked for. Default one hour. */
  readonly retentionMs?: number;
  /** How long handled ids, markers and ended instances are remembered; default one day. */
  readonly historyMs?: number;
  /**
   * On a transport that keeps events beside the outbox: when the oldest that it can still hand over was stored. What was handled
   * after that stays known. Undefined or a rejection means that nobody can say: then nothing is forgotten this time.
   */
  readonly historyFloor?: () => Promise<Instant | undefined>;
  readonly everyMs?: number;
  /** Rows removed by one statement at most; default 5,000. */
  readonly chunkRows?: number;
  /** A subscription further behind than this is complained about; default 100,000. */
  readonly behindEventsMax?: number;
  /** Where an outbox that only grows is reported; absent = nowhere but in health and log. */
  readonly alarms?: Alarms;
}

interface TrimResult {
  readonly removed: number;
  readonly complaint?: string;
}

export interface Trim {
  /** One round now; what the loop does every minute. */
  round(): Promise<TrimResult>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

const chunksMax = 200;
/** Events of the outbox are counted up to here; beyond it, more is only more. */
const countMax = 1_000_000;
/** Two servers' clocks may disagree by this much. */
const clockSlackMs = 3_600_000;

export function startTrim(options: TrimOptions): Trim {
  const { pool, clock, timers, log, alarms = noAlarms } = options;
  const retentionMs = options.retentionMs ?? 3_600_000;
  const historyMs = options.historyMs ?? 86_400_000;
  const everyMs = options.everyMs ?? 60_000;
  const chunkRows = options.chunkRows ?? 5_000;
  const behindEventsMax = options.behindEventsMax ?? 100_000;
  const trimmed = options.metrics.counter("portcullis_bus_trimmed_total", "Outbox rows removed behind every cursor.");
  const size = options.metrics.gauge("portcullis_bus_outbox_events", "Events in the outbox, counted up to a million.");
  const closing = new AbortController();
  let complaint: string | undefined;

  async function chunks(text: string, olderThan: Instant): Promise<number> {
    let removed = 0;
    for (let chunk = 0; chunk < chunksMax && !closing.signal.aborted; chunk += 1) {
      const answer = await pool.query({ text, values: [olderThan, chunkRows] });
      const count = Number(answer.rows[0]?.removed);
      removed += count;
      if (count < chunkRows) break;
    }
    return removed;
  }

  async function forgettableBefore(): Promise<Instant | undefined> {
    const aged = minusMilliseconds(clock.now(), historyMs);
    if (options.historyFloor === undefined) return aged;
    const floor = await options.historyFloor().catch((thrown: unknown) => {
      log.warn("nobody can say what may still be handed over; history is kept", { reason: messageOf(thrown) });
      return undefined;
    });
    return floor === undefined ? undefined : earlier(aged, minusMilliseconds(floor, clockSlackMs));
  }

  async function look(): Promise<string | undefined> {
    // Counted, because numbers of the journal lie between those of the outbox.
    const kept = await pool.query(
      `select (select count(*) from (select from outbox limit ${countMax}) counted)::text as kept,
              coalesce(${newestIdText}, 0)::text as newest`,
    );
    size.set(Number(kept.rows[0]?.kept));
    const slowest = await pool.query(
      "select name, cursor_id::text as cursor from subscription order by cursor_id limit 1",
    );
    const row = slowest.rows[0];
    if (row === undefined) {
      return Number(kept.rows[0]?.kept) > behindEventsMax
        ? `the outbox keeps ${kept.rows[0]?.kept} events and no subscription is registered, so nothing is trimmed`
        : undefined;
    }
    const behind = Number(kept.rows[0]?.newest) - Number(row.cursor);
    return behind > behindEventsMax
      ? `the subscription ${row.name} is ${behind} events behind and holds back trimming; it runs nowhere or is too slow`
      : undefined;
  }

  async function round(): Promise<TrimResult> {
    const removed = await chunks("select trim_outbox($1, $2) as removed", minusMilliseconds(clock.now(), retentionMs));
    trimmed.add(removed);
    const forgettable = await forgettableBefore();
    if (forgettable !== undefined) await chunks("select trim_history($1, $2) as removed", forgettable);
    complaint = await look();
    if (complaint === undefined) alarms.clear("OUTBOX_GROWING", "outbox");
    else {
      alarms.raise("OUTBOX_GROWING", "outbox", complaint);
      log.error("outbox grows", { complaint });
    }
    return { removed, ...(complaint === undefined ? {} : { complaint }) };
  }

  async function live(): Promise<void> {
    while (!closing.signal.aborted) {
      await timers.sleep(everyMs, closing.signal);
      if (closing.signal.aborted) return;
      await round().catch((error: unknown) => {
        complaint = `the outbox could not be trimmed: ${messageOf(error)}`;
        log.warn("trimming failed", { reason: messageOf(error) });
      });
    }
  }

  const lived = live();
  return {
    round,
    complaint: () => complaint,
    async close() {
      closing.abort();
      await lived;
    },
  };
}
