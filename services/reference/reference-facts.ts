// Everything that needs reference data at this moment, from everybody's books: what is held, open, owed, not booked yet, or halted. The unit it is
// read with sees one moment. What the risk engine believes comes beside it: the orders of a foreign order management are known to it alone.
import * as decimal from "../../contracts/src/decimal.ts";
import type { BelievedLine } from "../../contracts/src/records/books.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import type { Standing } from "../../core/ledger/reference-standing.ts";
import type { UnitOfWork } from "../../ports/store.ts";

/** More trades than this need not be named to refuse a change. */
const unbookedMax = 1_000;

interface OutsideFacts {
  readonly lines: readonly BelievedLine[];
  readonly halts: readonly ActiveHalt[];
}

/** Takes no locks: whoever changes reference data holds it closed meanwhile. */
export async function readStanding(
  unit: UnitOfWork,
  { funds, instruments }: ReferenceContents,
  { lines, halts }: OutsideFacts,
): Promise<readonly Standing[]> {
  const symbols = new Set(instruments.map(({ symbol }) => symbol));
  return [
    ...(await openOrders(unit)),
    ...(await positions(unit)),
    ...(await holdings(unit, symbols)),
    ...(await owedStops(unit)),
    ...(await runningFlatten(unit)),
    ...(await unbookedFills(unit, funds)),
    ...lines.flatMap(believed),
    ...halts.flatMap((halt) => halted(halt, funds)),
  ];
}

async function openOrders(unit: UnitOfWork): Promise<readonly Standing[]> {
  const open = await unit.oms.openOrders();
  return open.map(({ order: { order_id: id, fund_id: fundId, strategy_id: strategyId, symbol } }) => ({
    what: `order ${id} of ${strategyId}`,
    fundId,
    strategyId,
    symbol,
  }));
}

async function positions(unit: UnitOfWork): Promise<readonly Standing[]> {
  const held = await unit.oms.positions();
  return held
    .filter(({ quantity }) => quantity !== decimal.zero)
    .map(({ fundId, strategyId, symbol, quantity }) => ({
      what: `${decimal.format(quantity)} ${symbol} of ${strategyId}`,
      fundId,
      strategyId,
      symbol,
    }));
}

/** What treasury has: of a symbol by strategy, of money by fund. */
async function holdings(unit: UnitOfWork, symbols: ReadonlySet<string>): Promise<readonly Standing[]> {
  const made = await unit.ledger.strategyHoldings();
  const held = await unit.treasury.holdings();
  const isSome = ({ quantity }: { readonly quantity: decimal.Decimal }): boolean => quantity !== decimal.zero;
  return [
    ...made
      .filter((one) => isSome(one) && symbols.has(one.symbol))
      .map(({ fundId, strategyId, symbol, quantity }) => ({
        what: `${decimal.format(quantity)} ${symbol} of ${strategyId} in the ledger`,
        fundId,
        strategyId,
        symbol,
      })),
    ...held.filter(isSome).map(({ fundId, symbol, quantity }): Standing => {
      const what = `${decimal.format(quantity)} ${symbol} of ${fundId} in the ledger`;
      return symbols.has(symbol) ? { what, fundId, symbol } : { what, fundId, cash: symbol };
    }),
  ];
}

async function owedStops(unit: UnitOfWork): Promise<readonly Standing[]> {
  const owed = await unit.stops.owed();
  return owed.map(({ stopId, fundId, strategyId, symbol }) => ({
    what: `stop ${stopId} that is owed`,
    fundId,
    strategyId,
    symbol,
  }));
}

async function runningFlatten(unit: UnitOfWork): Promise<readonly Standing[]> {
  const flatten = await unit.flattens.find();
  if (flatten === undefined || flatten.doneAt !== undefined) return [];
  const what = `flatten ${flatten.flattenId} that is not done`;
  const lines = await unit.flattens.lines(flatten.flattenId);
  return [
    ...flatten.fundIds.map((fundId) => ({ what, fundId })),
    ...[...lines.filter(({ ended }) => ended === undefined), ...(flatten.orders ?? [])].map(
      ({ fundId, strategyId, symbol }) => ({ what, fundId, strategyId, symbol }),
    ),
  ];
}

/** The ledger books paper funds alone. */
async function unbookedFills(unit: UnitOfWork, funds: ReferenceContents["funds"]): Promise<readonly Standing[]> {
  const paper = funds.filter(({ mode }) => mode === "PAPER").map(({ fund_id: id }) => id);
  const missing = await unit.oms.unbookedFills(paper, unbookedMax);
  return missing.map(({ fill_id: id, fund_id: fundId, strategy_id: strategyId, symbol }) => ({
    what: `fill ${id} that is not booked yet`,
    fundId,
    strategyId,
    symbol,
  }));
}

function believed({ fundId, symbol, quantity, pendingBuy, pendingSell }: BelievedLine): readonly Standing[] {
  const isSome = (text: string): boolean => decimal.parse(text) !== decimal.zero;
  const of = `${symbol} of ${fundId} in the risk engine`;
  return [
    ...(isSome(quantity) ? [{ what: `${quantity} ${of}`, fundId, symbol }] : []),
    ...(isSome(pendingBuy) || isSome(pendingSell) ? [{ what: `approvals for ${of}`, fundId, symbol }] : []),
  ];
}

/** A halt of everything needs nobody by name. */
function halted(halt: ActiveHalt, funds: ReferenceContents["funds"]): readonly Standing[] {
  const what = `halt ${halt.halt_id}`;
  if (halt.severity === "FUND_HALT") return [{ what, fundId: halt.fund_id }];
  if (halt.severity !== "STRATEGY_HALT" || halt.strategy_id === undefined) return [];
  const { strategy_id: strategyId } = halt;
  const fundId = funds.find(({ strategies }) => strategies.includes(strategyId))?.fund_id;
  return [{ what, strategyId, ...(fundId !== undefined && { fundId }) }];
}
