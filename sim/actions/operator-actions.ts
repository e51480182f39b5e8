// What operators do beside halting: flatten, drill, reconcile, prove, end stops, release throttles and approvals; change a strategy; make
// the paper market suffer; and what clients of the risk engine say of their approvals. Also of things that are not there, twice, and without a reason.
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import { riskBlock } from "../../contracts/src/records/block.ts";
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

const decoder = new TextDecoder();

/** One of them, now and then nobody's. */
function someFund({ prng }: ActionParts): string {
  return prng.chance(0.9) ? one(prng, funds) : "omega";
}

export const flattenPaper: Act = (parts) => {
  const { prng } = parts;
  return asOfficer(parts, "HaltDesk", "FlattenPaper", {
    ...(prng.chance(0.85) && { fund_id: someFund(parts) }),
    confirmation: prng.chance(0.6) ? "FLATTEN" : "flatten",
    reason: someReason(parts),
  });
};

export const runDrill: Act = (parts) => asOfficer(parts, "HaltDesk", "RunDrill", { reason: someReason(parts) });

export const reconcile: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "Reconcile", parts.prng.chance(0.3) ? {} : { fund_id: someFund(parts) });

export const proveFlat: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "ProveFlat", { fund_id: someFund(parts), reason: someReason(parts) });

export const endStop: Act = (parts) => {
  const { prng, platform } = parts;
  const fired = [...platform.tables.stops.keys()];
  const stopId = fired.length === 0 || prng.chance(0.1) ? "stop-nobody" : one(prng, fired);
  return asOfficer(parts, "RiskWorkers", "EndStop", { stop_id: stopId, reason: someReason(parts) });
};

/** Where none has tripped, one is made to: a fund's strategies may hardly repeat themselves for a while. */
export const releaseThrottle: Act = async (parts) => {
  const { prng } = parts;
  const fundId = one(prng, funds);
  if (prng.chance(0.3)) return changeLimits(parts, "duty", { fundId, limits: { repeated_execution_max: 1 } });
  if (prng.chance(0.2)) return changeLimits(parts, "duty", { fundId, limits: { repeated_execution_max: 1_000 } });
  const strategyId = prng.chance(0.9) ? one(prng, strategies) : "omega-one";
  return asOfficer(parts, "RiskEngine", "ReleaseThrottle", { strategy_id: strategyId, reason: someReason(parts) });
};

/** One of those in the journal, ended or not, and nobody's. */
export const acceptBlock: Act = (parts) => {
  const { prng, platform } = parts;
  const opened = platform.tables.risk.journal.filter(({ kind }) => kind === "block");
  const drawn = opened.length === 0 || prng.chance(0.1) ? undefined : one(prng, opened);
  const blockId =
    drawn === undefined ? "block-nobody" : riskBlock.parse(JSON.parse(decoder.decode(drawn.payload))).block_id;
  const request = { block_id: blockId, more_block_ids: [], gaps: [], reason: someReason(parts) };
  return asOfficer(parts, "RiskEngine", "AcceptBlock", request);
};

const beforeSending: ReadonlySet<string> = new Set(["PENDING_CHECK", "ACCEPTED"]);

/** Approvals of clients that never sent them, orders about to be sent, orders that were sent long ago, and nobody's. */
function someOrder({ prng, platform, crashed }: ActionParts): string {
  const orders = [...platform.tables.oms.orders.keys()];
  if (crashed.length > 0 && prng.chance(0.5)) return one(prng, crashed);
  const unsent = orders.filter((id) => beforeSending.has(platform.tables.oms.orders.get(id)?.state ?? ""));
  if (unsent.length > 0 && prng.chance(0.7)) return one(prng, unsent);
  return orders.length === 0 || prng.chance(0.1) ? "order-nobody" : one(prng, orders);
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
  const { prng } = parts;
  return asOfficer(parts, "Research", "SetStrategy", {
    strategy_id: prng.chance(0.92) ? one(prng, strategies) : "omega-one",
    ...(prng.chance(0.6) && { status: one(prng, ["live", "live", "shadow", "halted", "resting"]) }),
    ...(prng.chance(0.6) && { allocation_pct: prng.below(12) / 10 }),
    reason: someReason(parts),
  });
};

/** Each setting replaces the one before: half of them make it fair again. */
export const setPaperWeather: Act = (parts) => {
  const { prng, time } = parts;
  const until = format(plusMilliseconds(time.clock.now(), 50 + prng.below(1_500)));
  const symbol = prng.chance(0.95) ? one(prng, symbols) : "NOBODY";
  return asOfficer(parts, "Oms", "SetPaperWeather", {
    ...(prng.chance(0.15) && { broker_silent_until: until }),
    ...(prng.chance(0.2) && { report_loss_pct: prng.below(12) / 10, report_repeat_pct: prng.below(5) / 10 }),
    gaps: prng.chance(0.3) ? [{ symbol, pct: (prng.below(16) - 10) / 100 }] : [],
    halted_symbols: prng.chance(0.3) ? [symbol] : [],
    news: prng.chance(0.1) ? [{ symbol, count: 1 + prng.below(40) }] : [],
    informed: prng.chance(0.1) ? [{ symbol, side: one(prng, ["buy", "sell"]) }] : [],
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
  const { prng } = parts;
  const thrown = prng.below(100);
  const again = thrown < 25 ? earlier<Appended>(parts, "AppendAudit") : undefined;
  const fresh: Appended = {
    actor: "service:research",
    action: thrown < 35 ? "order.decided" : "model.trained",
    subject_id: one(prng, strategies),
    data: { number: prng.below(1_000), reason },
    ...(prng.chance(0.8) && { idempotency_key: freshKey(parts, "entry") }),
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
  const { prng, oldKeys } = parts;
  if (oldKeys.length === 0 && prng.chance(0.6)) await rotateAuditKey(parts);
  const keyId = oldKeys.at(-1) ?? (prng.chance(0.5) ? "00000000" : "no key");
  const request = { key_id: keyId, reason: someReason(parts), step_up_proof: "" };
  return asOfficer(parts, "AuditDesk", "RevokeAuditKey", request);
};

export const inspectAudit: Act = (parts) =>
  asOfficer(parts, "AuditDesk", "InspectAudit", { rebuild: parts.prng.chance(0.5) });

export const beginAuditInspection: Act = (parts) =>
  asOfficer(parts, "AuditDesk", "BeginAuditInspection", { rebuild: parts.prng.chance(0.5) });

/** No event is put aside here, which is an invariant: only of what is not there. */
const parked = ({ prng }: ActionParts) => ({
  subscription: one(prng, ["treasury.fills", "riskengine.orders"]),
  event_id: "event-nobody",
});

export const retryParked: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "RetryParked", { ...parked(parts), reason: someReason(parts) });

export const discardParked: Act = (parts) =>
  asOfficer(parts, "RiskWorkers", "DiscardParked", { ...parked(parts), reason: someReason(parts), step_up_proof: "" });
