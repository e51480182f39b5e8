// Putting an event aside that a subscription cannot handle: kept whole in its table, reported on the bus by the same
// transaction, logged and counted. It is done until it succeeds, because going on without it would lose the event.
import type { ParkedEvent } from "../../contracts/src/records/platform.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { OutboxRow } from "./outbox-reader.ts";
import type { PostgresStore } from "./store.ts";

export interface Parking {
  park(
    subscription: string,
    row: OutboxRow,
    reason: { readonly error: string; readonly attempts: number },
  ): Promise<void>;
}

const errorLengthMax = 1_000;

const text = `
insert into parked_event
  (subscription, event_id, outbox_id, subject, key, source, at_us, payload, error, attempts, parked_us)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`;

export function createParking(options: {
  readonly store: PostgresStore;
  readonly parkedSubject: Subject<ParkedEvent>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}): Parking {
  const { store, parkedSubject, clock, log } = options;
  const parked = options.metrics.counter("portcullis_bus_parked_total", "Events that were put aside.", [
    "subscription",
  ]);
  return {
    async park(subscription, row, reason) {
      const error = reason.error.replaceAll("\0", "").slice(0, errorLengthMax);
      const report = {
        subscription,
        event_id: row.eventId,
        subject: row.subject,
        error,
        attempts: reason.attempts,
      };
      await store.transactSql("bus.park", async (unit, sql) => {
        const payload = Buffer.from(row.payload, "utf8");
        const kept = await sql.write({
          text,
          values: [
            ...[subscription, row.eventId, String(row.id), row.subject, row.key, row.source, row.at, payload],
            ...[error, reason.attempts, clock.now()],
          ],
        });
        // A report that cannot be handled is not reported again: that would never end.
        if (kept.rowCount === 1 && row.subject !== parkedSubject.name) await unit.events.publish(parkedSubject, report);
      });
      parked.add(1, { subscription });
      log.error("event parked", report);
    },
  };
}
