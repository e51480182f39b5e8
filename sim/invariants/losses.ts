// What must be true of losses and of what they are counted from, reckoned again from the valuations that were reported.
import { type TradingCalendar, tradingCalendar, tradingDay } from "../../contracts/src/calendar.ts";
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds, parse } from "../../contracts/src/instant.ts";
import type { LossState } from "../../contracts/src/losses.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt, LossBaseline } from "../../contracts/src/records/halt.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import {
  type CalendarReference,
  calendarDefinition,
  type FundReference,
} from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { baselineKey, perUnitKey, type ReportedNav, surely } from "../halt-history.ts";
import { envelopeKey, type History } from "../history.ts";
import { isLowered } from "./decisions.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const fieldOf: Readonly<Record<string, keyof RiskEnvelope>> = {
  daily: "daily_loss_halt_pct",
  weekly: "weekly_loss_halt_pct",
  monthly: "monthly_loss_halt_pct",
  strategy: "strategy_loss_halt_pct",
};

/** What a valuation has lost since then; undefined when it does not say. */
function lossSince(baseline: LossBaseline, { nav, net_flows: flows = "0", strategy_pnl: profits }: NavUpdated) {
  const from = decimal.parse(baseline.value);
  if (baseline.strategy_id !== undefined) {
    const profit = profits?.[baseline.strategy_id];
    return profit === undefined ? undefined : decimal.subtract(from, decimal.parse(profit));
  }
  const flowed = decimal.subtract(decimal.parse(flows), decimal.parse(baseline.net_flows));
  return decimal.subtract(decimal.add(from, flowed), decimal.parse(nav));
}

export const lossesHalt: Invariant = {
  name: "losses_halt",
  sentence:
    "A loss that several valuations in a row show above its limit has its halt, and no halt claims a loss that was not there, because a limit that waits for somebody to look is none, and a false one is switched off by people.",
  violated(evidence) {
    if (evidence.reported !== undefined) {
      return onMessage<ActiveHalt>(evidence, subjects.riskHaltRequested, (halt) => falseClaim(evidence.past, halt));
    }
    return evidence.settled ? first(evidence.past.navs.keys(), (fundId) => unhalted(evidence, fundId)) : undefined;
  },
};

function falseClaim(past: History, halt: ActiveHalt): string | undefined {
  const { evidence = {}, halt_id: id } = halt;
  if (halt.requested_by !== "riskengine" || typeof evidence["limit"] !== "string") return undefined;
  const figure = (name: string): Decimal => decimal.parse(String(evidence[name] ?? "0"));
  const limit = evidence["limit"];
  const loss = figure("loss");
  if (loss !== decimal.subtract(figure("baseline"), figure("value"))) {
    return `${id} claims a loss of ${decimal.format(loss)}, which is not what its figures come to`;
  }
  const field = fieldOf[limit];
  if (field === undefined) return undefined;
  const fraction = Number(evidence["limit_pct"]);
  const isLimit = [...past.envelopes.values()].some((one) => one.fund_id === halt.fund_id && one[field] === fraction);
  if (!isLimit) return `${id} claims a limit of ${fraction}, which ${halt.fund_id} never had`;
  const named = { ...halt, limit, period: String(evidence["period"]), version: Number(evidence["baseline_version"]) };
  const baseline = past.baselines.get(baselineKey(named as unknown as LossBaseline));
  if (baseline === undefined) return `${id} counts from a baseline that nobody reported`;
  // The figures are exact and these numbers are not.
  const isAbove = decimal.toNumber(loss) >= fraction * Number(evidence["share_of"]) * (1 - 1e-9);
  return isAbove ? undefined : `${id} claims a loss that is below its limit`;
}

/** That many valuations in a row leave no doubt, however late they were heard. */
const inARow = 3;

function unhalted({ past, platform: { tables } }: Evidence, fundId: string): string | undefined {
  const heard = tables.risk.navs.get(fundId)?.as_of ?? "";
  const reported = (past.navs.get(fundId) ?? []).filter(({ nav }) => nav.as_of <= heard).slice(-inARow);
  const limits = newestLimits(past, fundId);
  const [oldest] = reported;
  if (oldest === undefined || reported.length < inARow || limits === undefined) return undefined;
  // Those before were judged by other limits.
  if ((past.envelopesAt.get(envelopeKey(fundId, limits.version))?.position ?? 0) > oldest.position) return undefined;
  const current = newestBaselines(past, fundId);
  return first(current, (baseline) => {
    const fraction = limits[fieldOf[baseline.limit] ?? "fund_id"];
    // Where people began anew after these valuations, they say nothing.
    if (typeof fraction !== "number" || baseline.at > oldest.nav.as_of) return undefined;
    const isLost = reported.every((one) => {
      // Money that came or went scales what was lost before it, so that the share stays: it is reckoned per unit from then on.
      if (hasFlowed(past, baseline, one)) return lostShare(past, current, baseline, one) >= fraction * surely;
      const whole = wholeOf(current, baseline, one.nav);
      const loss = lossSince(baseline, one.nav);
      return (
        loss !== undefined && loss > 0n && loss >= decimal.multiply(decimal.fromNumber(fraction), whole, "ceiling")
      );
    });
    if (!isLost || hasHalt(past, baseline)) return undefined;
    return `${fundId} has lost more than ${baseline.limit} allows for ${inARow} valuations, and no halt says so`;
  });
}

function hasFlowed(past: History, baseline: LossBaseline, to: ReportedNav): boolean {
  const since = (past.navs.get(baseline.fund_id) ?? []).filter(({ nav }) => nav.as_of >= baseline.valued_at);
  const flows = [...since, to].map(({ nav }) => decimal.parse(nav.net_flows ?? "0"));
  return flows.some((one) => one !== decimal.parse(baseline.net_flows));
}

/** What part of the fund was lost since then; NaN where it is not known what the fund was worth at the baseline, or what happened since. */
function lostShare(past: History, current: readonly LossBaseline[], baseline: LossBaseline, to: ReportedNav): number {
  return baseline.strategy_id === undefined
    ? lostPerUnit(past, baseline, to)
    : lostByStrategy(past, current, baseline, to);
}

export function lostPerUnit(
  past: History,
  { fund_id: fundId, valued_at: valuedAt }: LossBaseline,
  { perUnit }: ReportedNav,
): number {
  return 1 - perUnit / (past.perUnits.get(perUnitKey(fundId, valuedAt)) ?? Number.NaN);
}

/** From value to value: each loss as a share of the larger of the two funds around it, each gain of the smaller, which makes less of a loss. */
function lostByStrategy(
  past: History,
  current: readonly LossBaseline[],
  { fund_id: fundId, strategy_id: strategyId = "", valued_at: from }: LossBaseline,
  to: ReportedNav,
): number {
  const daily = current.find(({ limit }) => limit === "daily");
  const atDaily = past.perUnits.get(perUnitKey(fundId, daily?.valued_at ?? "")) ?? Number.NaN;
  const navs = (past.navs.get(fundId) ?? []).filter(({ nav }) => nav.as_of >= from && nav.as_of <= to.nav.as_of);
  if (navs[0]?.nav.as_of !== from) return Number.NaN;
  const wholeAt = ({ nav, perUnit }: ReportedNav): number => (Number(nav.nav) / perUnit) * atDaily;
  const profitAt = ({ nav }: ReportedNav): number => Number(nav.strategy_pnl?.[strategyId] ?? Number.NaN);
  return navs.slice(1).reduce((share, nav, index) => {
    const before = navs[index] ?? nav;
    const lost = profitAt(before) - profitAt(nav);
    const [one, other] = [wholeAt(before), wholeAt(nav)];
    return share + lost / (lost > 0 ? Math.max(one, other) : Math.min(one, other));
  }, 0);
}

export function newestLimits(past: History, fundId: string): RiskEnvelope | undefined {
  return [...past.envelopes.values()].filter((one) => one.fund_id === fundId).at(-1);
}

/** Of each limit the newest period, and of that the newest version. */
export function newestBaselines(past: History, fundId: string): readonly LossBaseline[] {
  const newest = new Map<string, LossBaseline>();
  for (const baseline of past.baselines.values()) {
    if (baseline.fund_id !== fundId) continue;
    const key = `${baseline.limit} ${baseline.strategy_id ?? ""}`;
    const before = newest.get(key);
    const isNewer =
      before === undefined ||
      baseline.period > before.period ||
      (baseline.period === before.period && baseline.version > before.version);
    if (isNewer) newest.set(key, baseline);
  }
  return [...newest.values()];
}

/** What the limit is a share of: a strategy's loss is a share of its fund. */
function wholeOf(current: readonly LossBaseline[], baseline: LossBaseline, nav: NavUpdated): Decimal {
  const of = baseline.limit === "strategy" ? current.find(({ limit }) => limit === "daily") : baseline;
  const flows = decimal.subtract(decimal.parse(nav.net_flows ?? "0"), decimal.parse(of?.net_flows ?? "0"));
  return decimal.add(decimal.parse(of?.value ?? "0"), flows);
}

export function hasHalt(
  past: History,
  { fund_id: fundId, strategy_id: strategyId, limit, period }: LossBaseline,
): boolean {
  return past.halts.some(
    ({ evidence, ...halt }) =>
      halt.fund_id === fundId &&
      halt.strategy_id === strategyId &&
      evidence?.["limit"] === limit &&
      evidence["period"] === period,
  );
}

const calendars = new WeakMap<CalendarReference, TradingCalendar>();

function calendarOf(reference: CalendarReference): TradingCalendar {
  const known = calendars.get(reference) ?? tradingCalendar(calendarDefinition(reference));
  calendars.set(reference, known);
  return known;
}

/** So long somebody may decide by reference data that has been replaced. */
const newReferenceUs = 2_000_000;

/** The trading days that it may be for a fund, by every version that somebody may still take for the newest. */
function daysOf({ platform: { tables } }: Evidence, fundId: string, at: number): readonly string[] {
  const inForce = <One>(kind: "funds" | "calendars"): readonly One[][] => {
    const versions = tables.risk.references.get(kind) ?? [];
    const isCurrent = (version: number): boolean =>
      versions.every((next) => next.version !== version + 1 || at - next.setAt < newReferenceUs);
    return versions.filter(({ version }) => isCurrent(version)).map(({ content }) => content as unknown as One[]);
  };
  const named = inForce<FundReference>("funds").flatMap((all) => all.filter((one) => one.fund_id === fundId));
  const found = inForce<CalendarReference>("calendars").flatMap((all) =>
    all.filter(({ name }) => named.some(({ calendar }) => calendar === name)),
  );
  return found.map((one) => tradingDay(calendarOf(one), fromMicroseconds(at)));
}

/**
 * Whether the day's baseline was in force at the decision. The state is read when the decision is published: by then a day that began in between may
 * have replaced its baseline, and one that came too late may be in force.
 */
function isCounted(
  past: History,
  { baselines }: LossState,
  { fundId, days, at }: { readonly fundId: string; readonly days: readonly string[]; readonly at: number },
): boolean {
  const isOfDay = (one: { readonly limit: string; readonly period: string }): boolean =>
    one.limit === "daily" && days.includes(one.period);
  const wasSet = [...past.baselines.values()].some(
    (one) => one.fund_id === fundId && isOfDay(one) && parse(one.at) <= at,
  );
  const isReplaced = baselines.some(({ limit, setAt }) => limit === "daily" && setAt > at);
  return wasSet && (isReplaced || baselines.some(isOfDay));
}

const judgedWithinUs = 5_000_000;

export const limitsAreJudged: Invariant = {
  name: "limits_are_judged",
  sentence:
    "A loss limit of the envelope is judged from a baseline of the fund's own trading day and within 5 s of the newest value, or no new risk is approved, because a limit that is off in silence is worse than none.",
  violated(evidence) {
    return onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }, { at }) => {
      const order = asked as unknown as Order;
      const { past, platform } = evidence;
      if (!decision.approved || decision.classification === "REDUCE" || isLowered(past, order)) return undefined;
      const fundId = order.fund_id;
      const limits = newestLimits(past, fundId);
      const days = daysOf(evidence, fundId, at);
      const state = platform.tables.losses.states.get(fundId)?.state;
      if (limits === undefined || days.length === 0) return undefined;
      const named = `${decision.order_id} of ${fundId} was approved`;
      if (state === undefined) return `${named}, and its losses were never judged`;
      if (!isCounted(past, state, { fundId, days, at })) {
        return `${named}, and its loss of ${days[0]} is not counted from anywhere`;
      }
      const unjudged = (past.navs.get(fundId) ?? []).find(({ nav }) => parse(nav.as_of) > state.newest.at);
      if (unjudged === undefined || at - parse(unjudged.nav.as_of) <= judgedWithinUs) return undefined;
      return `${named}, and its value of ${unjudged.nav.as_of} was not judged`;
    });
  },
};

export const baselinesWrittenOnce: Invariant = {
  name: "baselines_written_once",
  sentence:
    "From where on a loss is counted is written once for a period, and again only by an operator who lifts a halt, because a baseline that moves by itself forgives every loss.",
  violated(evidence) {
    const { reported, past, settled, platform } = evidence;
    if (reported !== undefined) {
      return onMessage<LossBaseline>(evidence, subjects.lossBaseline, (baseline) => rewritten(past, baseline));
    }
    const { baselines } = platform.tables.losses;
    if (baselines.size !== past.baselines.size) {
      return `there are ${baselines.size} baselines in the store, and ${past.baselines.size} were reported`;
    }
    if (!settled) return undefined;
    return first(baselines.values(), ({ fundId, baseline: { strategyId, value, ...kept } }) => {
      const named = { ...kept, fund_id: fundId, ...(strategyId !== undefined && { strategy_id: strategyId }) };
      const said = past.baselines.get(baselineKey(named));
      if (said !== undefined && decimal.parse(said.value) === value) return undefined;
      return `${baselineKey(named)} is ${decimal.format(value)} in the store and was reported as ${said?.value}`;
    });
  },
};

function rewritten(past: History, baseline: LossBaseline): string | undefined {
  const key = baselineKey(baseline);
  const { version, set_by: by } = baseline;
  if (past.baselines.has(key)) return `${key} was written twice`;
  if (version === 0) return by === "riskengine" ? undefined : `${key} was written first by ${by}`;
  return past.resumer === by ? undefined : `${key} was written by ${by}, who lifted nothing with it`;
}
