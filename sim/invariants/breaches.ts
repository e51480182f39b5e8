// What must follow from a loss above its limit, and from money that leaves: reckoned again from the values and entries that were reported.
import * as decimal from "../../contracts/src/decimal.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { LedgerBooked } from "../../contracts/src/records/fund.ts";
import type { LossBaseline } from "../../contracts/src/records/halt.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { surely } from "../halt-history.ts";
import { envelopeKey, type History, positionKey } from "../history.ts";
import { isLowered } from "./decisions.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";
import { fieldOf, hasHalt, lostPerUnit, newestBaselines, newestLimits } from "./losses.ts";

const actedOnWithinUs = 5_000_000;

export const breachesAreActedOn: Invariant = {
  name: "breaches_are_acted_on",
  sentence:
    "A loss that every value of the last 5 s shows above its limit has its halt, or no new risk is approved, whatever money came meanwhile, because a breach that somebody can trade on through is no limit.",
  violated(evidence) {
    return onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }, { at }) => {
      const order = asked as unknown as Order;
      const { past } = evidence;
      if (!decision.approved || decision.classification === "REDUCE" || isLowered(past, order)) return undefined;
      const breached = breachedSince(past, order.fund_id, at - actedOnWithinUs);
      if (breached === undefined) return undefined;
      return `${decision.order_id} of ${order.fund_id} was approved, and it has lost more than ${breached.limit} allows for 5 s`;
    });
  },
};

/** What the last value before that moment and all since have lost, without a halt. */
function breachedSince(past: History, fundId: string, since: number): LossBaseline | undefined {
  const navs = past.navs.get(fundId) ?? [];
  const from = navs.findLastIndex(({ nav }) => parse(nav.as_of) <= since);
  const limits = newestLimits(past, fundId);
  const [oldest] = navs.slice(Math.max(from, 0));
  if (from < 0 || oldest === undefined || limits === undefined) return undefined;
  // Those before were judged by other limits.
  if ((past.envelopesAt.get(envelopeKey(fundId, limits.version))?.position ?? 0) > oldest.position) return undefined;
  return newestBaselines(past, fundId).find((baseline) => {
    const fraction = limits[fieldOf[baseline.limit] ?? "fund_id"];
    if (typeof fraction !== "number" || baseline.strategy_id !== undefined) return false;
    if (baseline.at > oldest.nav.as_of || hasHalt(past, baseline)) return false;
    return navs.slice(from).every((nav) => lostPerUnit(past, baseline, nav) >= fraction * surely);
  });
}

/** Prices move between a value and the marks that the engine decides by. */
const leeway = 1.02;

export const withdrawalsKeepLimits: Invariant = {
  name: "withdrawals_keep_limits",
  sentence:
    "Money leaves a fund only when no halt covers it, its value stays above zero and its positions stay within their limits, because a withdrawal makes every position a larger share of what is left.",
  violated(evidence) {
    return onMessage<LedgerBooked>(evidence, subjects.ledgerBooked, (booked) => {
      if (booked.kind !== "FLOW" || !booked.amount.startsWith("-")) return undefined;
      const named = `${booked.amount} of ${booked.fund_id} was withdrawn`;
      const halt = evidence.past.halts.find(
        ({ severity, fund_id: fundId, lift }) =>
          lift === undefined && (severity === "FIRM_HALT" || (severity === "FUND_HALT" && fundId === booked.fund_id)),
      );
      if (halt !== undefined) return `${named} under the halt ${halt.halt_id}`;
      const complaint = beyondLimits(evidence, booked);
      return complaint && `${named}, and ${complaint}`;
    });
  },
};

function beyondLimits({ past, platform }: Evidence, { fund_id: fundId, amount }: LedgerBooked): string | undefined {
  const nav = past.navs.get(fundId)?.at(-1)?.nav;
  const limits = newestLimits(past, fundId);
  if (nav === undefined || limits === undefined) return "nobody knows what it is worth or may hold";
  const flows = decimal.add(past.flows.get(fundId) ?? decimal.zero, decimal.parse(amount));
  const since = decimal.subtract(flows, decimal.parse(nav.net_flows ?? "0"));
  const left = decimal.toNumber(decimal.add(decimal.parse(nav.nav), since));
  if (left <= 0) return `${left} is left`;
  const held = Object.entries(nav.prices ?? {}).map(([symbol, { quantity, price }]) => {
    const now = decimal.toNumber(past.positions.get(positionKey(fundId, symbol)) ?? decimal.zero);
    const size = Math.min(Math.abs(Number(quantity)), Math.abs(now));
    const least = Math.min(Math.abs(Number(price)), platform.outside.bidAsk(symbol).bid);
    return { symbol, notional: size * least * decimal.toNumber(past.multipliers.get(symbol) ?? decimal.one) };
  });
  const large = first(held, ({ symbol, notional }) =>
    notional > limits.max_position_pct * left * leeway ? `${symbol} is ${notional / left} of what is left` : undefined,
  );
  const gross = held.reduce((sum, { notional }) => sum + notional, 0);
  const most = (limits.max_gross_exposure_pct ?? Number.POSITIVE_INFINITY) * left * leeway;
  return large ?? (gross > most ? `gross exposure is ${gross / left} of what is left` : undefined);
}
