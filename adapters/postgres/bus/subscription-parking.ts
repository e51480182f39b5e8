// Putting an event aside that a subscription cannot handle, and taking it out again when it could: kept whole in its table, reported on the bus by the
// same transaction, logged and counted. It is done until it succeeds, because going on without it would lose the event.
import { format } from "../../../contracts/src/instant.ts";
import type { ParkedEvent } from "../../../contracts/src/records/platform.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { AsideEvent } from "../../../ports/parked-events.ts";
import type { Store } from "../../../ports/store.ts";
import { type AsideStore, refusedAside, waitsBehind } from "../../transport/put-aside.ts";

export function createParking(options: {
  readonly store: Store;
  readonly parkedSubject: Subject<ParkedEvent>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}): AsideStore {
  const { store, parkedSubject, clock, log } = options;
  const parked = options.metrics.counter("portcullis_bus_parked_total", "Events that were put aside.", [
    "subscription",
  ]);

  /** What only waited behind another one, and no operator asked for, is reported by its own entry. */
  const isReported = ({ retry, error }: AsideEvent): boolean => retry !== undefined || error !== waitsBehind;

  function retried(event: AsideEvent, outcome: "DONE" | "FAILED", error?: string) {
    const { subscription, eventId, subject, retry } = event;
    return {
      subscription,
      event_id: eventId,
      subject,
      outcome,
      ...(error === undefined ? {} : { error }),
      ...(retry === undefined ? {} : { asked_by: retry.by, reason: retry.reason }),
      at: format(clock.now()),
    };
  }

  return {
    async put(event) {
      const { subscription, subject, error, attempts, state, lane } = event;
      const report: ParkedEvent = {
        subscription,
        event_id: event.eventId,
        subject,
        error,
        attempts,
        ...(state === "HELD" && { state, ...(lane !== undefined && { lane }) }),
      };
      await store.transact("bus.park", async (unit) => {
        const isNew = await unit.parked.put(event);
        // A report that cannot be handled is not reported again: that would never end.
        const isReported = subject !== parkedSubject.name && error !== waitsBehind;
        if (isNew && isReported) await unit.events.publish(parkedSubject, report);
      });
      parked.add(1, { subscription });
      log.error(state === "HELD" ? "event held" : "event parked", { ...report });
    },
    due: (subscription, perLaneMax) =>
      store.transact("parked.look", (unit) => unit.parked.due(subscription, perLaneMax)),
    take: ({ subscription, eventId }) =>
      store.transact("bus.retry", (unit) => unit.parked.take(subscription, eventId, clock.now())),
    failed: (event, error) =>
      store.transact("bus.retry", async (unit) => {
        await unit.parked.failed(event.subscription, event.eventId, error, clock.now());
        // What it tries by itself it tries for ever: that it still fails is no news.
        if (event.retry !== undefined) await unit.events.publish(subjects.busRetried, retried(event, "FAILED", error));
      }),
    done: (event) =>
      store.transact("bus.retry", async (unit) => {
        await unit.parked.remove(event.subscription, event.eventId);
        if (isReported(event)) await unit.events.publish(subjects.busRetried, retried(event, "DONE"));
      }),
    refused: (event, error) =>
      store.transact("bus.retry", async (unit) => {
        await unit.parked.remove(event.subscription, event.eventId);
        await unit.parked.put(refusedAside(event, error, clock.now()));
        if (event.retry !== undefined) await unit.events.publish(subjects.busRetried, retried(event, "FAILED", error));
      }),
  };
}
