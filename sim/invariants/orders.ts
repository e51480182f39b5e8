// What must be true of orders, whatever got lost on the way to the broker and back.

import * as instant from "../../contracts/src/instant.ts";
import type { OrderCreated, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { covers } from "../../testkit/halt-judge.ts";
import type { Evidence } from "../evidence.ts";
import { haltOf } from "../halt-history.ts";
import { isOver } from "../history.ts";
import { mayPassHalts } from "./decisions.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const routedWithApproval: Invariant = {
  name: "routed_with_approval",
  sentence:
    "Nothing goes to the broker without an approval that has not run out and knows every halt over it, because between the check and the sending somebody may have pulled the switch.",
  violated(evidence) {
    const { reported, past, platform } = evidence;
    if (reported !== undefined) {
      return onMessage<OrderTransition>(evidence, subjects.ordersUpdated, (step) =>
        step.to === "ROUTED" ? whyNotRouted(evidence, step) : undefined,
      );
    }
    return first(platform.outside.arrived.keys(), (id) =>
      past.orders.get(id)?.routed === true ? undefined : `${id} came to the broker and was never reported to be routed`,
    );
  },
};

function whyNotRouted({ past }: Evidence, step: OrderTransition): string | undefined {
  const found = past.approvals.get(step.decision_id ?? "");
  if (found === undefined || found.order.order_id !== step.order_id)
    return `${step.order_id} was routed without an approval`;
  const { order, decision } = found;
  const until = decision.valid_until;
  if (until === undefined || instant.parse(step.at) > instant.parse(until)) {
    return `${step.order_id} was routed at ${step.at} with an approval until ${until}`;
  }
  if (mayPassHalts(past, order, decision)) return undefined;
  const halt = past.halts.find(
    (one) => one.lift === undefined && one.epoch > decision.halt_epoch && covers(one, order),
  );
  if (halt === undefined) return undefined;
  return `${step.order_id} was routed with an approval of epoch ${decision.halt_epoch} under ${halt.halt_id} of epoch ${halt.epoch}`;
}

const stepNames: ReadonlySet<string> = new Set(
  [
    subjects.ordersAccepted,
    subjects.ordersRejected,
    subjects.ordersUpdated,
    subjects.ordersCancelled,
    subjects.ordersExpired,
  ].map(({ name }) => name),
);

export const oneLife: Invariant = {
  name: "one_life",
  sentence:
    "An order is created once, every step begins where the one before ended, and no end is left again, because two stories about one order are none.",
  violated({ reported, past }) {
    if (reported?.subject === subjects.ordersCreated.name) {
      const { order_id: id } = reported.payload as OrderCreated;
      return past.orders.has(id) ? `${id} was created twice` : undefined;
    }
    if (reported === undefined || !stepNames.has(reported.subject)) return undefined;
    const { order_id: id, from, to } = reported.payload as OrderTransition;
    const before = past.orders.get(id)?.state;
    if (before !== from) return `${id} went from ${from} to ${to}, and it was ${before}`;
    return isOver(from) && to !== from ? `${id} came back from ${from}` : undefined;
  },
};

export const changesAreAudited: Invariant = {
  name: "changes_are_audited",
  sentence:
    "What the stores hold is what was reported, no more and no less, because a change that was never reported can be neither audited nor followed nor undone.",
  violated({ reported, past, platform: { tables } }) {
    if (reported !== undefined) return undefined;
    const envelopes = [...tables.risk.envelopes.values()].reduce((sum, versions) => sum + versions.length, 0);
    const counts: readonly (readonly [what: string, kept: number, reported: number])[] = [
      ["fills", tables.oms.fills.size, past.fills.size],
      ["orders", tables.oms.orders.size, past.orders.size],
      ["halts", tables.risk.halts.length + tables.risk.liftedHalts.size, past.halts.length],
      ["lifts", tables.risk.liftedHalts.size, past.halts.filter(({ lift }) => lift !== undefined).length],
      ["versions of limits", envelopes, past.envelopes.size],
      ["stops that fired", tables.stops.size, past.stops.size],
    ];
    const wrong = counts.find(([, kept, said]) => kept !== said);
    if (wrong !== undefined) return `there are ${wrong[1]} ${wrong[0]} in the store, and ${wrong[2]} were reported`;
    return first(tables.oms.orders, ([id, { state }]) => {
      const said = past.orders.get(id)?.state;
      return state === said ? undefined : `${id} is ${state} in the store and was reported as ${said}`;
    });
  },
};

export const acknowledgedIsKept: Invariant = {
  name: "acknowledged_is_kept",
  sentence: "Whatever an answer said was done is there, because an answer that left is a promise.",
  violated({ reported, past, promises, platform: { tables } }) {
    if (reported !== undefined) return undefined;
    return (
      first(promises.orders, (id) =>
        tables.oms.orders.has(id) ? undefined : `the order ${id} was taken and is gone`,
      ) ??
      first(promises.halts.keys(), (id) =>
        haltOf(past, id) === undefined ? `the halt ${id} was latched and is gone` : undefined,
      ) ??
      first(promises.lifted, (id) =>
        haltOf(past, id)?.lift === undefined ? `the halt ${id} was lifted and is in force` : undefined,
      ) ??
      first(promises.signals, (id) =>
        tables.signals.signals.has(id) ? undefined : `the alert ${id} was accepted and is gone`,
      ) ??
      first(promises.envelopes, (key) =>
        past.envelopes.has(key) ? undefined : `the limits ${key} were set and are gone`,
      )
    );
  },
};
