// How every loss limit of a fund stands now, and what that means for new risk. One pure function, which the judge tells the engine by, the alarms
// are raised by and the list of losses is made from, so that none of them can say what the others do not.
//
// Invariants (loss-standing.test.ts names them):
//  1. Every limit of the envelope has a standing. It is judged, or new risk is denied: nothing is off in silence.
//  2. BREACHED means that its halt is in force. A loss above its limit without one is PENDING, or RESUMED after people lifted the halt and kept
//     the baseline; then `haltsAgainAt` is the value with which it halts again.
//  3. A limit is judged in full from a baseline of its period, by a value that is neither too old nor dated ahead nor made from old prices of what is
//     in session, under the calendar that dated the baseline. What such a value breaches is PENDING or BREACHED all the same.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  earlier,
  format,
  fromMicroseconds,
  type Instant,
  plusMicroseconds,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import {
  type Baseline,
  type FundValuation,
  type LossLimit,
  type LossState,
  lossLimits,
} from "../../contracts/src/losses.ts";
import { ageMsOf, isAhead } from "../state/dated.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import {
  baselinesAt,
  type Counted,
  calendarLimits,
  figureOf,
  type LossFigure,
  type LossFractions,
  lossKey,
  type WindowSamples,
} from "./loss-figures.ts";
import type { LossDay, LossPeriods } from "./loss-periods.ts";
import type { PriceStanding } from "./loss-prices.ts";
import { hasGrown, lossThatHaltsAgain, tripAfter } from "./loss-trips.ts";

type LossStateName = "JUDGED" | "PENDING" | "BREACHED" | "RESUMED" | "NOT_JUDGED";

/** Everything that decides how the limits stand. */
export interface LossLook {
  readonly known: LossState | undefined;
  /** The limits of the envelope. */
  readonly fractions: LossFractions;
  /** The day of now by the fund's calendar; undefined while that is not known. */
  readonly day: LossDay | undefined;
  /** As of the newest valuation. */
  readonly windows: WindowSamples;
  readonly haltsInForce: ReadonlySet<string>;
  /** The oldest value that a loss is judged by: what was lost since then nobody knows, however fresh prices are. */
  readonly valueAgeMsMax: number;
  readonly at: Instant;
  /** Why the newest valuation that was heard could not be judged, and what ends that; absent when it was. */
  readonly trouble?: string | undefined;
  /** Of the newest valuation; absent while its prices are not known. */
  readonly prices?: PriceStanding | undefined;
}

export interface LimitStanding {
  readonly limit: LossLimit;
  readonly strategyId?: string | undefined;
  readonly state: LossStateName;
  /** Absent where there is nothing to count from. */
  readonly figure?: LossFigure | undefined;
  /** Of NOT_JUDGED: why, and what ends it. */
  readonly why?: string | undefined;
  /** Of RESUMED: the value, or the strategy's profit. */
  readonly haltsAgainAt?: Decimal | undefined;
}

/** What the standings mean for new risk. */
export interface LossBlock {
  readonly isPending: boolean;
  /** Until when every limit is judged by what is known; undefined while one is not. */
  readonly judgedUntil: Instant | undefined;
  /** Which limits are not judged and why; before `judgedUntil` it says what will be missing then. */
  readonly reason: string;
}

const forever = fromMicroseconds(Number.MAX_SAFE_INTEGER);
const namesMax = 6;

/** `limit` or `limit strategy`. */
export function limitName({ limit, strategyId }: Pick<LimitStanding, "limit" | "strategyId">): string {
  return strategyId === undefined ? limit : `${limit} ${strategyId}`;
}

export function lossStandings(look: LossLook): readonly LimitStanding[] {
  const { known, fractions, day, windows } = look;
  const common = whyNone(look);
  const isOn = (limit: LossLimit): boolean => fractions[limit] !== undefined;
  if (known === undefined) {
    return lossLimits.filter(isOn).map((limit) => ({ limit, state: "NOT_JUDGED", why: common }));
  }
  const current = baselinesAt(known, day ?? newestPeriods(known), windows);
  const keys = new Set(current.map(({ baseline }) => lossKey(baseline)));
  // A breach that waits may be counted from a period that is over.
  const older = known.pending.filter(({ baseline }) => !keys.has(lossKey(baseline)));
  // That a fund is worth something is said only where it is not.
  const standings = [...current, ...older]
    .flatMap((counted) => standingOf(counted, known, look, common))
    .filter(({ limit, figure }) => limit !== "equity" || figure?.isBreach === true);
  const missing = lossLimits.filter(
    (limit) => isOn(limit) && limit !== "strategy" && !current.some(({ baseline }) => baseline.limit === limit),
  );
  return [
    ...standings,
    ...missing.map((limit): LimitStanding => {
      return { limit, state: "NOT_JUDGED", why: common ?? whyMissing(limit, known, day) };
    }),
    ...(isOn("strategy") ? uncounted(known.newest, current, common) : []),
  ];
}

/** As the engine has it: of a loss that waits nothing else is said. */
export function lossConditions(fundId: string, { isPending, judgedUntil, reason }: LossBlock): StandingCondition[] {
  if (isPending) return [{ code: "LOSS_CONFIRMATION_PENDING", fundId, reason: "" }];
  return [{ code: "LOSS_NOT_JUDGED", fundId, reason, from: judgedUntil }];
}

export function lossBlock(standings: readonly LimitStanding[], look: LossLook): LossBlock {
  const isPending = standings.some(({ state }) => state === "PENDING");
  const unjudged = standings.filter(({ state }) => state === "NOT_JUDGED");
  if (unjudged.length > 0) return { isPending, judgedUntil: undefined, reason: reasonOf(unjudged) };
  const { known, day, fractions, valueAgeMsMax } = look;
  const isNone = lossLimits.every((limit) => fractions[limit] === undefined);
  if (isNone || known === undefined || day === undefined) return { isPending, judgedUntil: forever, reason: "" };
  const tooOldFrom = tooOldAt(known.newest, valueAgeMsMax);
  const pricedUntil = look.prices?.until ?? tooOldFrom;
  const until = earlier(earlier(day.until, tooOldFrom), pricedUntil);
  const why =
    until === day.until
      ? `the period that begins at ${format(until)} has no baseline yet`
      : until === tooOldFrom
        ? tooOld(known.newest, look)
        : "a price in the newest value has become too old; this ends with a fresh one";
  return { isPending, judgedUntil: until, reason: why };
}

/** Why the limits cannot be judged in full although everything else is known: the value, or a price in it, is old. Undefined where none is set. */
export function whyOld(look: LossLook): string | undefined {
  const { known, fractions, at, valueAgeMsMax } = look;
  if (known === undefined || lossLimits.every((limit) => fractions[limit] === undefined)) return undefined;
  return at >= tooOldAt(known.newest, valueAgeMsMax) ? tooOld(known.newest, look) : look.prices?.why;
}

/** What keeps every limit from being judged. */
function whyNone(look: LossLook): string | undefined {
  const { known, day, trouble, at, valueAgeMsMax } = look;
  if (day === undefined) {
    return "the fund's calendar is not known; this ends when the reference data has the fund and its calendar";
  }
  if (known === undefined) return trouble ?? "the fund has not been valued; this ends with its first valuation";
  if (known.datedBy !== undefined && known.datedBy !== day.by) {
    return `the calendar is ${day.by} now, and losses are counted by ${known.datedBy}; this ends when that is written`;
  }
  if (trouble !== undefined) return trouble;
  const { newest } = known;
  if (isAhead(newest.at, at)) {
    return `the newest value is dated ${format(newest.at)}, ahead of our clock; this ends with the next valuation`;
  }
  return at >= tooOldAt(newest, valueAgeMsMax) ? tooOld(newest, look) : look.prices?.why;
}

function tooOldAt(newest: FundValuation, valueAgeMsMax: number): Instant {
  return plusMicroseconds(plusMilliseconds(newest.at, valueAgeMsMax), 1);
}

/** With its age, once it is too old. */
function tooOld(newest: FundValuation, { valueAgeMsMax, at }: LossLook): string {
  const age = at >= tooOldAt(newest, valueAgeMsMax) ? ` (${Math.floor(ageMsOf(newest.at, at) / 1_000)} s)` : "";
  return `the newest value, of ${format(newest.at)}, is older than ${valueAgeMsMax / 1_000} s${age}; this ends with the next valuation`;
}

function standingOf(
  counted: Counted,
  known: LossState,
  look: LossLook,
  common: string | undefined,
): readonly LimitStanding[] {
  const { limit, strategyId } = counted.baseline;
  const named = { limit, strategyId };
  const isOn = limit === "equity" || look.fractions[limit] !== undefined;
  const figure = figureOrWhy(counted, known.newest, look.fractions);
  if (typeof figure === "string") return isOn ? [{ ...named, state: "NOT_JUDGED", why: common ?? figure }] : [];
  if (!isOn) return [{ ...named, state: "JUDGED", figure }];
  const key = lossKey(counted.baseline);
  const { haltsInForce } = look;
  const trip = known.trips.find((one) => lossKey(one) === key);
  if (trip !== undefined && haltsInForce.has(trip.haltId)) return [{ ...named, state: "BREACHED", figure }];
  const kept = trip && tripAfter(trip, figure, haltsInForce);
  const isNew = figure.isBreach && (kept === undefined || hasGrown(kept, figure, haltsInForce));
  const isWaiting = known.pending.some(({ baseline }) => lossKey(baseline) === key);
  if (isNew || isWaiting) return [{ ...named, state: "PENDING", figure }];
  if (common !== undefined) return [{ ...named, state: "NOT_JUDGED", figure, why: common }];
  if (kept === undefined) return [{ ...named, state: "JUDGED", figure }];
  const haltsAgainAt = decimal.subtract(figure.base, lossThatHaltsAgain(kept, figure));
  return [{ ...named, state: "RESUMED", figure, haltsAgainAt }];
}

function figureOrWhy(counted: Counted, newest: FundValuation, fractions: LossFractions): LossFigure | string {
  try {
    const figure = figureOf(counted, newest, fractions);
    return figure ?? "the newest valuation does not say what the strategy made; this ends when one does";
  } catch (thrown) {
    if (!(thrown instanceof decimal.DecimalError)) throw thrown;
    return `the newest value cannot be reckoned with (${thrown.message}); this ends with one that can be`;
  }
}

/** Of the strategies' own losses: where nobody says what they made, or one has no baseline. */
function uncounted(
  newest: FundValuation,
  current: readonly Counted[],
  common: string | undefined,
): readonly LimitStanding[] {
  if (newest.strategies === undefined) {
    if (current.some(({ baseline }) => baseline.limit === "strategy")) return [];
    const why = "valuations do not say what the strategies made (strategy_pnl); this ends when they do";
    return [{ limit: "strategy", state: "NOT_JUDGED", why: common ?? why }];
  }
  return newest.strategies.flatMap(({ strategyId }): LimitStanding[] => {
    const isCounted = current.some(
      ({ baseline }) => baseline.limit === "strategy" && baseline.strategyId === strategyId,
    );
    const why = common ?? "the strategy has no baseline of this day; this ends with the next valuation";
    return isCounted ? [] : [{ limit: "strategy", strategyId, state: "NOT_JUDGED", why }];
  });
}

function whyMissing(limit: LossLimit, known: LossState, day: LossDay | undefined): string {
  if (limit === "rolling_24h" || limit === "rolling_5d") {
    return "no value is known that the window could begin with; this ends when one has been read";
  }
  const period = day?.[limit as keyof LossPeriods] ?? "";
  const found = known.baselines.find((baseline) => baseline.limit === limit);
  if (found !== undefined && found.period > period) {
    return `its baseline is of ${found.period}, and the period is ${period}; this ends when the calendar is there`;
  }
  return `no baseline of ${period} is written yet; this ends with the next valuation`;
}

/** Where no calendar says which they are: those that were counted last. */
function newestPeriods({ baselines }: LossState): LossPeriods {
  const of = (limit: Baseline["limit"]): string => baselines.find((one) => one.limit === limit)?.period ?? "";
  const [daily = "", weekly = "", monthly = ""] = calendarLimits.map(of);
  return { daily, weekly, monthly };
}

function reasonOf(unjudged: readonly LimitStanding[]): string {
  const names = new Map<string, string[]>();
  for (const one of unjudged) names.set(one.why ?? "", [...(names.get(one.why ?? "") ?? []), limitName(one)]);
  return [...names]
    .map(([why, of]) => {
      const more = of.length > namesMax ? ` and ${of.length - namesMax} more` : "";
      return `${of.slice(0, namesMax).join(", ")}${more}: ${why}`;
    })
    .join("; ");
}
