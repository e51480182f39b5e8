// What operators do at their desk beside halting: flatten, drill, reconcile, prove, end stops, release throttles and approvals; change a strategy; make
// the paper market suffer; and what clients of the risk engine say of their approvals. Also of things that are not there, twice, and without a reason.
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import { changeLimits } from "../operators.ts";
import { one } from "../people.ts";
import {
  type Act,
  type ActionParts,
  asOfficer,
  asService,
  earlier,
  freshKey,
  funds,
  reason,
  someReason,
  strategies,
  symbols,
} from "./action.ts";

/** One of them, now and then nobody's. */
function someFund({ dice }: ActionParts): string {
  return dice.chance(0.9) ? one(dice, funds) : "omega";
}

export const flattenPaper: Act = (parts) => {
  const { dice } = parts;
  return asOfficer(parts, "HaltDesk", "FlattenPaper", {
    ...(dice.chance(0.85) && { fund_id: someFund(parts) }),
    confirmation: dice.chance(0.6) ? "FLATTEN" : "flatten",
    reason: someReason(parts),
  });
};

export const runDrill: Act = (parts) => asOfficer(parts, "HaltDesk", "RunDrill", { reason: someReason(parts) });

export const reconcile: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "Reconcile", parts.dice.chance(0.3) ? {} : { fund_id: someFund(parts) });

export const proveFlat: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "ProveFlat", { fund_id: someFund(parts), reason: someReason(parts) });

export const endStop: Act = (parts) => {
  const { dice, platform } = parts;
  const fired = [...platform.world.stops.keys()];
  const stopId = fired.length === 0 || dice.chance(0.1) ? "stop-nobody" : one(dice, fired);
  return asOfficer(parts, "RiskWorkers", "EndStop", { stop_id: stopId, reason: someReason(parts) });
};

/** Where none has tripped, one is made to: a fund's strategies may hardly repeat themselves for a while. */
export const releaseThrottle: Act = async (parts) => {
  const { dice } = parts;
  const fundId = one(dice, funds);
  if (dice.chance(0.3)) return changeLimits(parts, "duty", { fundId, limits: { repeated_execution_max: 1 } });
  if (dice.chance(0.2)) return changeLimits(parts, "duty", { fundId, limits: { repeated_execution_max: 1_000 } });
  const strategyId = dice.chance(0.9) ? one(dice, strategies) : "omega-one";
  return asOfficer(parts, "RiskEngine", "ReleaseThrottle", { strategy_id: strategyId, reason: someReason(parts) });
};

const beforeSending: ReadonlySet<string> = new Set(["PENDING_CHECK", "ACCEPTED"]);

/** Approvals of clients that never sent them, orders about to be sent, orders that were sent long ago, and nobody's. */
function someOrder({ dice, platform, crashed }: ActionParts): string {
  const orders = [...platform.world.oms.orders.keys()];
  if (crashed.length > 0 && dice.chance(0.5)) return one(dice, crashed);
  const unsent = orders.filter((id) => beforeSending.has(platform.world.oms.orders.get(id)?.state ?? ""));
  if (unsent.length > 0 && dice.chance(0.7)) return one(dice, unsent);
  return orders.length === 0 || dice.chance(0.1) ? "order-nobody" : one(dice, orders);
}

export const releaseApproval: Act = (parts) => {
  const request = { order_id: someOrder(parts), reason: someReason(parts) };
  return asOfficer(parts, "RiskEngine", "ReleaseApproval", request);
};

/** Of what its client will never send nobody says so: what was said to be sent is held until it ends, and that never would. */
export const confirmSent: Act = (parts) => {
  const drawn = someOrder(parts);
  const orderId = parts.crashed.includes(drawn) ? "order-nobody" : drawn;
  return asService(parts, "oms", "RiskEngine", "ConfirmSent", { order_id: orderId });
};

export const setStrategy: Act = (parts) => {
  const { dice } = parts;
  return asOfficer(parts, "Research", "SetStrategy", {
    strategy_id: dice.chance(0.92) ? one(dice, strategies) : "omega-one",
    ...(dice.chance(0.6) && { status: one(dice, ["live", "live", "shadow", "halted", "resting"]) }),
    ...(dice.chance(0.6) && { allocation_pct: dice.below(12) / 10 }),
    reason: someReason(parts),
  });
};

/** Each setting replaces the one before: half of them make it fair again. */
export const setPaperWeather: Act = (parts) => {
  const { dice, time } = parts;
  const until = format(plusMilliseconds(time.clock.now(), 50 + dice.below(1_500)));
  const symbol = dice.chance(0.95) ? one(dice, symbols) : "NOBODY";
  return asOfficer(parts, "Oms", "SetPaperWeather", {
    ...(dice.chance(0.15) && { broker_silent_until: until }),
    ...(dice.chance(0.2) && { report_loss_pct: dice.below(12) / 10, report_repeat_pct: dice.below(5) / 10 }),
    gaps: dice.chance(0.3) ? [{ symbol, pct: (dice.below(16) - 10) / 100 }] : [],
    halted_symbols: dice.chance(0.3) ? [symbol] : [],
    reason: someReason(parts),
  });
};

interface Appended {
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
  readonly data: object;
  readonly idempotency_key?: string;
}

/** Entries of a client of the platform: keys come again, and some names are the platform's own. */
export const appendAudit: Act = (parts) => {
  const { dice } = parts;
  const thrown = dice.below(100);
  const again = thrown < 25 ? earlier<Appended>(parts, "AppendAudit") : undefined;
  const fresh: Appended = {
    actor: "service:research",
    action: thrown < 35 ? "order.decided" : "model.trained",
    subject_id: one(dice, strategies),
    data: { number: dice.below(1_000), reason },
    ...(dice.chance(0.8) && { idempotency_key: freshKey(parts, "entry") }),
  };
  const request = again === undefined ? fresh : thrown < 15 ? again : { ...again, data: { number: -1 } };
  return asService(parts, "research", "Operations", "AppendAudit", request);
};

export const rotateAuditKey: Act = async (parts) => {
  const request = { reason: someReason(parts), step_up_proof: "" };
  const answer = await asOfficer(parts, "AuditDesk", "RotateAuditKey", request);
  const { old_key: oldKey = "" } = (answer ?? {}) as { readonly old_key?: string };
  const [, keyId] = oldKey.split("+");
  if (keyId !== undefined) parts.oldKeys.push(keyId);
};

/** One that was in force before, one that there never was, and none. */
export const revokeAuditKey: Act = async (parts) => {
  const { dice, oldKeys } = parts;
  if (oldKeys.length === 0 && dice.chance(0.6)) await rotateAuditKey(parts);
  const keyId = oldKeys.at(-1) ?? (dice.chance(0.5) ? "00000000" : "no key");
  const request = { key_id: keyId, reason: someReason(parts), step_up_proof: "" };
  return asOfficer(parts, "AuditDesk", "RevokeAuditKey", request);
};

export const inspectAudit: Act = (parts) =>
  asOfficer(parts, "AuditDesk", "InspectAudit", { rebuild: parts.dice.chance(0.5) });

export const beginAuditInspection: Act = (parts) =>
  asOfficer(parts, "AuditDesk", "BeginAuditInspection", { rebuild: parts.dice.chance(0.5) });

/** No event is put aside here, which is an invariant: only of what is not there. */
const parked = ({ dice }: ActionParts) => ({
  ...{ subscription: one(dice, ["treasury.fills", "riskengine.orders"]), event_id: "event-nobody" },
});

export const retryParked: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "RetryParked", { ...parked(parts), reason: someReason(parts) });

export const discardParked: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "DiscardParked", { ...parked(parts), reason: someReason(parts), step_up_proof: "" });
