// How much of its limits a fund used at a moment of the past: counted by the functions that GetLimitUse is made of, from the books, limits, value, prices and
// loss baselines of then. What is not kept has a reason: nothing of now stands in for it.
import { tradingCalendar } from "../../../contracts/src/calendar.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { LimitUse, Loss } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { Baseline, FundValuation } from "../../../contracts/src/losses.ts";
import { calendarDefinition } from "../../../contracts/src/records/reference.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { exposureUse, inOrder, lossUse, unusedLimits } from "../../../core/engine/limit-use.ts";
import { figureOf, lossFractions } from "../../../core/losses/loss-figures.ts";
import { type LossPeriods, lossDayAt } from "../../../core/losses/loss-periods.ts";
import type { NavPoint } from "../../../ports/ledger-records.ts";
import type { Standing } from "../../../ports/replay-queries.ts";
import { type PastPricesPorts, pastMarks } from "./past-prices.ts";
import type { Slices } from "./slices.ts";

interface PastUse {
  readonly fundId: string;
  readonly at: Instant;
  readonly standing: Standing;
  /** Of the value that counted then; undefined where it is not kept. */
  readonly nav: NavPoint | undefined;
  readonly engine: Engine;
}

/** Symbols that are valued before others have their turn. */
const symbolsPerTurn = 20;
/** Of symbols in one sentence. */
const namesMax = 5;
const navNotKept =
  "What the fund was worth then is not kept: values of seconds are for an hour, and of minutes for a week.";
const calendarLimits = ["daily", "weekly", "monthly"] as const;

export async function pastLimitUse(
  ports: PastPricesPorts,
  past: PastUse,
  slices: Slices,
): Promise<readonly LimitUse[]> {
  const { fundId, at, engine, nav, standing } = past;
  const symbols = engine.lines().flatMap((line) => (line.fund_id === fundId ? [line.symbol] : []));
  const marks = await pastMarks(ports, { fundId, at, standing, nav, symbols });
  for (const mark of marks.values()) engine.setMark(mark);
  hearValue(past);
  const rows: LimitUse[] = [...engine.read((state) => unusedLimits(state, fundId, at))];
  for (let from = 0; from < symbols.length; from += symbolsPerTurn) {
    await slices.next();
    const some = symbols.slice(from, from + symbolsPerTurn);
    rows.push(...engine.read((state) => exposureUse(state, fundId, some, at)));
  }
  const unpriced = symbols.filter((symbol) => !marks.has(symbol));
  const counted = nav === undefined || unpriced.length === 0 ? rows : rows.map((row) => withoutPrice(row, unpriced));
  return inOrder([...lossRows(past), ...counted].map((row) => asOf(row, at, nav)));
}

/** Where a price of then is not kept every sum would be too small, and so would be what a symbol's options add to it. */
function withoutPrice(row: LimitUse, unpriced: readonly string[]): LimitUse {
  const { fund_id, limit, scope, as_of } = row;
  if (limit === "max_notional") return row;
  const named = unpriced.slice(0, namesMax).join(", ");
  return { fund_id, limit, scope, as_of, band: 100, reason: `A price of then is not kept: ${named}.` };
}

/** Of the moment, whatever the engine's newest decision is; a value that is not kept is another thing than one that was missing. */
function asOf(row: LimitUse, at: Instant, nav: NavPoint | undefined): LimitUse {
  const isMissing = nav === undefined && row.reason === "NAV_MISSING";
  return { ...row, as_of: format(at), ...(isMissing && { reason: navNotKept }) };
}

function hearValue({ fundId, nav, engine }: PastUse): void {
  if (nav === undefined) return;
  engine.values.remember({
    fund_id: fundId,
    nav: decimal.format(nav.nav),
    currency: nav.currency,
    net_flows: decimal.format(nav.netFlows),
    oldest_price_age_ms: nav.oldestPriceAgeMs,
    as_of: format(nav.at),
    ...(nav.prices !== undefined && { prices: nav.prices }),
  });
}

/** Every loss limit that was on: those of the calendar are counted, of the others it is not kept what they were counted from. */
function lossRows(past: PastUse): readonly LimitUse[] {
  const { fundId, at, standing, nav } = past;
  if (standing.envelope === undefined) return [];
  const fractions = lossFractions(standing.envelope);
  const periods = periodsOf(past);
  return Object.keys(fractions).flatMap((limit) => {
    const calendar = calendarLimits.find((name) => name === limit);
    const row = { fund_id: fundId, limit, state: "NOT_JUDGED", period: "", loss_pct: undefined } as unknown as Loss;
    const why = "What this loss was counted from at that moment is not kept.";
    if (limit === "strategy")
      return strategiesOf(past).flatMap((name) => lossUse({ ...row, strategy_id: name, reason: why }, at));
    if (nav === undefined) return lossUse({ ...row, reason: navNotKept }, at);
    if (calendar === undefined || periods === undefined) return lossUse({ ...row, reason: why }, at);
    const baseline = baselineOf(standing.baselines, calendar, periods[calendar]);
    if (baseline === undefined)
      return lossUse({ ...row, reason: "No baseline of that period was written by then." }, at);
    if (baseline.netFlows !== nav.netFlows) {
      return lossUse(
        { ...row, reason: "Money moved since the baseline; how it was counted at that moment is not kept." },
        at,
      );
    }
    const figure = figureOf({ baseline }, valuationOf(nav, baseline), fractions);
    if (figure?.bound === undefined) return [];
    const [loss, limitLoss] = [decimal.format(figure.loss), decimal.format(figure.bound)];
    return lossUse({ ...row, state: "JUDGED", loss, limit_loss: limitLoss, as_of: format(nav.at) }, at);
  });
}

function strategiesOf({ fundId, standing }: PastUse): readonly string[] {
  return standing.reference.funds.find((fund) => fund.fund_id === fundId)?.strategies ?? [];
}

/** The newest version of the period. */
function baselineOf(kept: readonly Baseline[], limit: string, period: string): Baseline | undefined {
  return kept
    .filter((one) => one.limit === limit && one.strategyId === undefined && one.period === period)
    .sort((one, other) => other.version - one.version)[0];
}

/** Without a flow since the baseline its units are those of then. */
function valuationOf(nav: NavPoint, { units, shift }: Baseline): FundValuation {
  return {
    at: nav.at,
    currency: nav.currency,
    value: nav.nav,
    netFlows: nav.netFlows,
    ...(units !== undefined && { units }),
    ...(shift !== undefined && { shift }),
  };
}

/** By the fund's calendar of then; undefined where it had none. */
function periodsOf({ fundId, at, standing }: PastUse): LossPeriods | undefined {
  const { funds, calendars } = standing.reference;
  const name = funds.find((fund) => fund.fund_id === fundId)?.calendar;
  const definition = calendars.find((calendar) => calendar.name === name);
  if (definition === undefined) return undefined;
  try {
    return lossDayAt(tradingCalendar(calendarDefinition(definition)), at);
  } catch (thrown) {
    // A calendar without trading days dates nothing.
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}
