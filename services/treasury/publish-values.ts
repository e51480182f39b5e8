// Values every paper fund once a second, keeps the value in its history and publishes it with every price in it and its age. What is remembered of a
// fund is written in the same transaction:
//  1. The numbering of a fund's values has no gaps and no repetitions, also over restarts and lost answers. Where treasury remembers nothing it goes on
//     from the newest one that the risk engine kept.
//  2. A value is reported at most once a second, however often the service is started.
//  3. Where a trading day began is written once, with the day's first value, and is the last value before it.
//  4. A price of before a corporate action counts in the terms of after it from the moment on in which the quantities do (core/ledger/corporate-actions.ts),
//     and it is turned once: a price that is remembered is remembered with the terms that it is in.
//  5. A symbol without a fresh price is valued at the last one that is known, also over restarts, and that is an alarm.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import { pricesMax } from "../../contracts/src/records/fund.ts";
import { ownValuer, valuerOf } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { pricesAfter } from "../../core/ledger/corporate-actions.ts";
import { isAhead } from "../../core/state/dated.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { DayBegan, NavPoint, RememberedFund } from "../../ports/ledger-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import { rememberedPrices } from "../shared/remembered-prices.ts";
import type { ServicePorts } from "../shared/service.ts";
import { dueOf } from "./pay-dividends.ts";
import { type Holding, navRecord, type Price, reportedPrices, type Valuation, valueFund } from "./valuation.ts";
import { createValueAlarms, priceAgeMsMax } from "./value-alarms.ts";

/** Less than the second between two values, because timers ring early by a little. */
const apartMsMin = 900;
/** An older value than this says nothing about where a day began. */
const closeAgeMsMax = 7 * 86_400_000;

type ValuePorts = Pick<ServicePorts, "clock" | "log" | "store" | "riskStore" | "settings">;

/** A value, and the day's profit or loss when it is known where the day began. */
interface FundValue extends Valuation {
  readonly dayPnl: decimal.Decimal | undefined;
}

export interface Valuer {
  /** Values and publishes once. */
  publish(view: ReferenceView, prices: ReadonlyMap<string, Price>): Promise<void>;
  /** The newest value of a fund that was published from here. */
  newest(fundId: string): FundValue | undefined;
}

/** What a unit of work read for all funds at once. */
interface Books {
  readonly holdings: ReadonlyMap<string, readonly Holding[]>;
  readonly strategies: ReadonlyMap<string, ReadonlyMap<string, readonly Holding[]>>;
  /** By fund and currency. */
  readonly netFlows: ReadonlyMap<string, decimal.Decimal>;
}

export async function createValuer(ports: ValuePorts): Promise<Valuer> {
  const kept = new Map((await ports.riskStore.navs()).map(({ fund_id, sequence }) => [fund_id, sequence ?? 0]));
  const newest = new Map<string, FundValue>();
  const alarms = createValueAlarms(ports);

  /** Undefined when it is too soon. */
  async function valueOne(
    unit: UnitOfWork,
    books: Books,
    fundId: string,
    view: ReferenceView,
    prices: ReadonlyMap<string, Price>,
    actions: readonly StoredAction[],
  ): Promise<FundValue | string | undefined> {
    const fund = view.funds.get(fundId);
    // A fund of which nothing is held here is somebody else's to value, and so is one that names another source.
    if (fund === undefined || fund.mode !== "PAPER" || valuerOf(fund) !== ownValuer) return undefined;
    const remembered = await unit.ledger.lockFund(fundId);
    const at = ports.clock.now();
    if (isTooSoon(remembered, at)) return undefined;
    const value = valueFund({
      fund,
      holdings: books.holdings.get(fundId) ?? [],
      strategies: books.strategies.get(fundId) ?? new Map(),
      netFlows: books.netFlows.get(`${fundId} ${fund.currency}`) ?? decimal.zero,
      view,
      prices: pricesAfter(withRemembered(prices, remembered), actions),
      priceAgeMsMax,
      fxAgeMsMax: ports.settings.risk.fxAgeMsMax,
      at,
    });
    if (typeof value === "string") return value;
    const sequence = Math.max(remembered.newest?.sequence ?? 0, kept.get(fundId) ?? 0) + 1;
    const record = navRecord(value, sequence);
    const dayBegan = dayBeganOf(remembered, value);
    const reported = { newest: record, pricesTurned: turnedOf(value) };
    await unit.ledger.putFund(fundId, { ...remembered, ...reported, ...(dayBegan !== undefined && { dayBegan }) });
    await unit.ledger.putNav(pointOf(value));
    await unit.events.publish(subjects.navUpdated, record);
    return { ...value, dayPnl: dayPnlOf(dayBegan, value) };
  }

  return {
    newest: (fundId) => newest.get(fundId),
    async publish(view, prices) {
      const values = await ports.store.transact("treasury.value", async (unit) => {
        const applied = await unit.corporateActions.applied();
        const dividends = await unit.corporateActions.dividends();
        const actions = [...applied, ...dividends.filter(({ state }) => state === "DECLARED")];
        const books = await readBooks(unit, dueOf(dividends));
        const valued: (readonly [string, FundValue | string])[] = [];
        // What is held and what it is multiplied with are of one moment, or there is no value this time.
        if ((await unit.corporateActions.applied()).length !== applied.length) return valued;
        for (const fundId of books.holdings.keys()) {
          const value = await valueOne(unit, books, fundId, view, prices, actions);
          if (value !== undefined) valued.push([fundId, value]);
        }
        return valued;
      });
      for (const [fundId, value] of values) if (typeof value !== "string") newest.set(fundId, value);
      for (const [fundId, value] of values) await alarms.saw(fundId, value);
    },
  };
}

/** With dividends that are due, which count as cash. */
async function readBooks(unit: UnitOfWork, due: ReturnType<typeof dueOf>): Promise<Books> {
  const holdings = new Map<string, Holding[]>();
  for (const { fundId, ...holding } of await unit.treasury.holdings()) addTo(holdings, fundId, holding);
  for (const { fundId, strategyId: _its, ...holding } of due) addTo(holdings, fundId, holding);
  const strategies = new Map<string, Map<string, Holding[]>>();
  for (const { fundId, strategyId, ...holding } of [...(await unit.ledger.strategyHoldings()), ...due]) {
    const of = strategies.get(fundId) ?? new Map<string, Holding[]>();
    addTo(of, strategyId, holding);
    strategies.set(fundId, of);
  }
  const flows = (await unit.ledger.balances()).filter(({ account }) => account === "flows");
  // What came in is a credit, which is negative.
  const netFlows = new Map(
    flows.map(({ fundId, currency, amount }) => [`${fundId} ${currency}`, decimal.negate(amount)]),
  );
  return { holdings, strategies, netFlows };
}

function addTo(map: Map<string, Holding[]>, key: string, holding: Holding): void {
  const of = map.get(key);
  if (of === undefined) map.set(key, [holding]);
  else of.push(holding);
}

/** What was not quoted since this process began is valued as it was the last time. */
export function withRemembered(prices: ReadonlyMap<string, Price>, fund: RememberedFund): ReadonlyMap<string, Price> {
  return new Map([...rememberedPrices(fund), ...prices]);
}

function turnedOf({ prices }: Valuation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...prices].flatMap(([symbol, { turnedAt }]) => (turnedAt === undefined ? [] : [[symbol, format(turnedAt)]])),
  );
}

function isTooSoon({ newest }: RememberedFund, at: Instant): boolean {
  if (newest === undefined) return false;
  const reportedAt = parse(newest.as_of);
  // Nobody waits for a value from the future: our clock was set back since.
  return millisecondsBetween(reportedAt, at) < apartMsMin && !isAhead(reportedAt, at);
}

/** The last value before the day, as long as it is not from another time altogether; the first of the day where there is none. */
function dayBeganOf({ dayBegan, newest }: RememberedFund, value: Valuation): DayBegan | undefined {
  const { tradingDay: day } = value;
  if (day === undefined || (dayBegan !== undefined && dayBegan.day >= day)) return dayBegan;
  if (newest !== undefined && millisecondsBetween(parse(newest.as_of), value.at) <= closeAgeMsMax) {
    return { day, nav: newest.nav, netFlows: newest.net_flows ?? "0" };
  }
  return { day, nav: decimal.format(value.nav), netFlows: decimal.format(value.netFlows) };
}

/** Money that came in or went out since the day began is neither profit nor loss. */
function dayPnlOf(began: DayBegan | undefined, value: Valuation): decimal.Decimal | undefined {
  if (began === undefined || began.day !== value.tradingDay) return undefined;
  const flows = decimal.subtract(value.netFlows, decimal.parse(began.netFlows));
  return decimal.subtract(decimal.subtract(value.nav, decimal.parse(began.nav)), flows);
}

function pointOf(value: Valuation): NavPoint {
  const { fundId, at, nav, cash, positionsValue, netFlows, currency, oldestPriceAgeMs, tradingDay } = value;
  return {
    fundId,
    at,
    nav,
    cash,
    positionsValue,
    netFlows,
    currency,
    oldestPriceAgeMs,
    ...(value.prices.size <= pricesMax && { prices: reportedPrices(value.prices) }),
    ...(tradingDay !== undefined && { tradingDay }),
  };
}
