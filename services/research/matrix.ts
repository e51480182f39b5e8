// Where a fund's risk lies, as GetMatrix answers it: what each strategy holds of each symbol at the newest price that the fund may see, in the fund's
// currency, with exact sums, what the strategy said of it last, and how alike the symbols moved.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  Matrix,
  MatrixCell,
  MatrixCorrelations,
  MatrixRequest,
} from "../../contracts/src/generated/svc/v1/matrix.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { concentrationOf, type HeldCell, type HeldSum, sumOf, sumsBy } from "../../core/exposure/held-sums.ts";
import { pricesAfter } from "../../core/ledger/corporate-actions.ts";
import { valued } from "../../core/ledger/position.ts";
import { ageMsOf } from "../../core/state/dated.ts";
import { pairCorrelations } from "../../core/stats/return-correlations.ts";
import { strategyByName } from "../../core/strategies/index.ts";
import type { StoredPosition } from "../../ports/oms-records.ts";
import type { StoredSignal } from "../../ports/research-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type ReferenceReader, type ReferenceView, rateBetween } from "../reference/reference-view.ts";
import { noSuchFund } from "../shared/must-know-fund.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { DailyClosesReader } from "./daily-closes.ts";
import type { MarketView, SeenPrice } from "./market-view.ts";

export interface MatrixParts {
  readonly ports: Pick<ServicePorts, "clock" | "store" | "riskStore" | "settings">;
  readonly references: ReferenceReader;
  readonly market: Pick<MarketView, "marks">;
  readonly closes: DailyClosesReader;
}

const daysUsual = 60;
const [daysMin, daysMax] = [2, 365];
/** The largest positions: more would be thousands of pairs. */
const correlatedMax = 100;
/** What is looked through for the newest signal of each symbol. */
const signalsMin = 200;

export async function getMatrix(request: MatrixRequest, parts: MatrixParts): Promise<Matrix> {
  const { ports, references, market } = parts;
  const days = request.days === 0 ? daysUsual : request.days;
  if (days < daysMin || days > daysMax) {
    const sentence = `days is ${days}: give a number from ${daysMin} to ${daysMax}.`;
    throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
  }
  const view = await references.refresh();
  const fund = view.funds.get(request.fund_id);
  if (fund === undefined) throw new Fault("NOT_FOUND", noSuchFund(request.fund_id), { retry: "never" });
  const books = await ports.store.transact("research.look", (unit) => readBooks(unit, fund.fund_id));
  const value = (await ports.riskStore.navs()).find(({ fund_id }) => fund_id === fund.fund_id);
  const nav = value === undefined ? undefined : decimal.parse(value.nav);
  const prices = pricesAfter(market.marks(fund.mode), books.actions);
  const now = ports.clock.now();
  const held = books.positions.map((position) => {
    const mark = prices.get(position.symbol);
    const isFresh = mark !== undefined && ageMsOf(mark.at, now) <= ports.settings.risk.markAgeMsMax;
    return heldCell(position, isFresh ? mark : undefined, {
      fund,
      view,
      now,
      ageMsMax: ports.settings.risk.fxAgeMsMax,
    });
  });
  const total = sumOf(held);
  const bySymbol = sumsBy(held, ({ symbol }) => symbol);
  const gross = total.worth?.gross;
  const concentration = concentrationOf(bySymbol.map(([, sum]) => sum));
  return {
    fund_id: fund.fund_id,
    mode: fund.mode,
    currency: fund.currency,
    ...(value !== undefined && { nav: value.nav, as_of: value.as_of }),
    cells: held.map((cell) => cellMessage(cell, nav, books.signals.get(cell.strategyId)?.get(cell.symbol))),
    by_strategy: sumsBy(held, ({ strategyId }) => strategyId).map(([strategyId, sum]) => ({
      strategy_id: strategyId,
      ...sumMessage(sum, nav, gross),
    })),
    by_symbol: bySymbol.map(([symbol, sum]) => ({
      symbol,
      quantity: decimal.format(sum.quantity),
      ...sumMessage(sum, nav, gross),
    })),
    total: { ...sumMessage(total, nav, gross), ...(concentration !== undefined && { concentration }) },
    correlations: await correlationsOf(days, bySymbol, fund, view, parts),
  };
}

async function readBooks(unit: UnitOfWork, fundId: string) {
  const positions = (await unit.oms.positions(fundId)).filter(({ quantity }) => quantity !== decimal.zero);
  const signals = new Map<string, ReadonlyMap<string, StoredSignal>>();
  for (const strategyId of new Set(positions.map((one) => one.strategyId))) {
    const countMax = Math.max(signalsMin, 2 * (strategyByName(strategyId)?.signalled.length ?? 0));
    const newest = await unit.research.signals(strategyId, countMax);
    // Newest first: of each symbol the first one counts.
    signals.set(strategyId, new Map([...newest].reverse().map((signal) => [signal.symbol, signal])));
  }
  return {
    positions: [...positions].sort(
      (one, other) => compareText(one.strategyId, other.strategyId) || compareText(one.symbol, other.symbol),
    ),
    signals,
    actions: await unit.corporateActions.applied(),
  };
}

interface PricedCell extends HeldCell {
  readonly mark?: SeenPrice;
}

interface Conversion {
  readonly fund: FundReference;
  readonly view: ReferenceView;
  readonly now: Instant;
  readonly ageMsMax: number;
}

function heldCell(position: StoredPosition, mark: SeenPrice | undefined, conversion: Conversion): PricedCell {
  const { strategyId, symbol, quantity, averagePrice } = position;
  const cell = { strategyId, symbol, quantity };
  if (mark === undefined) return cell;
  const instrument = conversion.view.instruments.get(symbol);
  const rate = instrument === undefined ? undefined : freshRate(instrument, conversion);
  if (instrument === undefined || rate === undefined) return { ...cell, mark };
  const cost = position.cost ?? decimal.multiply(quantity, averagePrice, "half-even");
  const worth = valued({ quantity, cost }, mark.price, decimal.parse(instrument.multiplier));
  return {
    ...cell,
    mark,
    worth: {
      value: decimal.multiply(worth.value, rate, "half-even"),
      unrealisedPnl: decimal.multiply(worth.unrealisedPnl, rate, "half-even"),
    },
  };
}

function freshRate({ currency }: Instrument, { fund, view, now, ageMsMax }: Conversion): decimal.Decimal | undefined {
  if (currency === fund.currency) return decimal.one;
  const found = rateBetween(view, currency, fund.currency);
  return found === undefined || ageMsOf(found.asOf, now) > ageMsMax ? undefined : found.rate;
}

function cellMessage(cell: PricedCell, nav: decimal.Decimal | undefined, signal: StoredSignal | undefined): MatrixCell {
  const { mark, worth } = cell;
  return {
    strategy_id: cell.strategyId,
    symbol: cell.symbol,
    quantity: decimal.format(cell.quantity),
    ...(mark !== undefined && { price: decimal.format(mark.price), priced_at: format(mark.at) }),
    ...(worth !== undefined && {
      market_value: decimal.format(worth.value),
      share: shareOf(worth.value, nav),
      unrealised_pnl: decimal.format(worth.unrealisedPnl),
    }),
    ...(signal !== undefined && { signal: signal.value, signal_at: format(signal.at) }),
  };
}

function sumMessage({ worth, without }: HeldSum, nav: decimal.Decimal | undefined, gross: decimal.Decimal | undefined) {
  return {
    ...(worth !== undefined && {
      market_value: decimal.format(worth.value),
      gross: decimal.format(worth.gross),
      share: shareOf(worth.value, nav),
      gross_share: shareOf(decimal.abs(worth.value), gross),
      unrealised_pnl: decimal.format(worth.unrealisedPnl),
    }),
    without: [...without],
  };
}

/** Of what is not above zero there is no share. */
function shareOf(value: decimal.Decimal, of: decimal.Decimal | undefined): number | undefined {
  if (of === undefined || decimal.sign(of) <= 0) return undefined;
  return decimal.toNumber(decimal.divide(value, of, "half-even"));
}

async function correlationsOf(
  days: number,
  bySymbol: readonly (readonly [string, HeldSum])[],
  fund: FundReference,
  view: ReferenceView,
  { closes }: MatrixParts,
): Promise<MatrixCorrelations> {
  // The daily bars are the simulated market's, which says nothing to a LIVE fund.
  const comparable = ([symbol]: readonly [string, HeldSum]): boolean =>
    fund.mode === "PAPER" && view.instruments.get(symbol)?.asset_class !== "OPTION";
  const largest = bySymbol.filter(comparable).sort(([, one], [, other]) => byGross(other, one));
  const symbols = largest
    .slice(0, correlatedMax)
    .map(([symbol]) => symbol)
    .sort();
  const read: (readonly [string, Awaited<ReturnType<DailyClosesReader["last"]>>])[] = [];
  for (const symbol of symbols) read.push([symbol, await closes.last(symbol, days + 1)]);
  return {
    days,
    symbols,
    left_out: bySymbol.map(([symbol]) => symbol).filter((symbol) => !symbols.includes(symbol)),
    pairs: pairCorrelations(new Map(read)).map(({ r, ...pair }) => ({ ...pair, ...(r !== null && { r }) })),
  };
}

function byGross(one: HeldSum, other: HeldSum): number {
  return decimal.compare(one.worth?.gross ?? decimal.zero, other.worth?.gross ?? decimal.zero);
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
