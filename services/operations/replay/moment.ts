// How a fund stood at a moment, of what had been recorded by then and of nothing else.
//
//  1. What is not known of then has a reason; no figure of now stands in for it.
//  2. Positions and open orders are counted from the journal, by when it recorded what moved them: a fill that reached us late is not in a moment before.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  GetMomentRequest,
  Moment,
  MomentNav,
  MomentOrder,
  MomentPosition,
} from "../../../contracts/src/generated/svc/v1/replay.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type { NavPoint } from "../../../ports/ledger-records.ts";
import type { Standing } from "../../../ports/replay-queries.ts";
import { mustKnowFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { restrictionMessage } from "../restrictions.ts";
import { fundId as askedFund } from "../risk-queries-arguments.ts";
import { type PastEngine, type PastEnginePorts, pastEngine } from "./past-engine.ts";
import type { PastPricesPorts } from "./past-prices.ts";
import { pastLimitUse } from "./past-use.ts";
import { askedMoment } from "./replay-arguments.ts";
import { createSlices, type Slices } from "./slices.ts";

export type MomentPorts = PastEnginePorts & PastPricesPorts & Pick<ServicePorts, "clock" | "timers" | "referenceData">;

/** A value that is older than this at the moment is one of which the newer ones are forgotten, or none was made. */
const navAgeMsMax = 3_600_000;
const navNotKept = "No value of that time is kept: those of seconds are for an hour, and of minutes for a week.";
const priceNotKept = "What it was valued at then is not kept.";

export async function getMoment(ports: MomentPorts, request: GetMomentRequest, signal: AbortSignal): Promise<Moment> {
  const fundId = askedFund(request.fund_id);
  const at = askedMoment("at", request.at, ports.clock.now());
  await mustKnowFund(ports, fundId);
  const slices = createSlices(ports, signal);
  const standing = await ports.replayQueries.standing(fundId, at);
  const nav = navAt(standing, at);
  const common = {
    fund_id: fundId,
    at: format(at),
    nav: navShown(nav),
    envelope_version: standing.envelope?.version,
    halts: haltsOf(standing, fundId),
    restrictions: standing.restrictions.map(restrictionMessage),
  };
  const past = await tryPastEngine(ports, { fundId, at, standing }, slices);
  if (typeof past === "string") return { ...common, positions: [], open_orders: [], limit_use: [], reason: past };
  const { positions, orders } = booksOf(past, fundId, nav);
  const limitUse = await pastLimitUse(ports, { fundId, at, standing, nav, engine: past.engine }, slices);
  return { ...common, positions, open_orders: orders, limit_use: [...limitUse], reason: undefined };
}

async function tryPastEngine(
  ports: MomentPorts,
  asked: { readonly fundId: string; readonly at: Instant; readonly standing: Standing },
  slices: Slices,
): Promise<PastEngine | string> {
  try {
    return await pastEngine(ports, asked, slices);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "RESOURCE_EXHAUSTED") return thrown.message;
    throw thrown;
  }
}

function navAt({ nav }: Standing, at: Instant): NavPoint | undefined {
  return nav !== undefined && millisecondsBetween(nav.at, at) <= navAgeMsMax ? nav : undefined;
}

function navShown(nav: NavPoint | undefined): MomentNav {
  if (nav === undefined) return { value: undefined, currency: undefined, as_of: undefined, reason: navNotKept };
  return { value: decimal.format(nav.nav), currency: nav.currency, as_of: format(nav.at), reason: undefined };
}

function booksOf(
  { engine, costs }: PastEngine,
  fundId: string,
  nav: NavPoint | undefined,
): { readonly positions: MomentPosition[]; readonly orders: MomentOrder[] } {
  const { strategy_positions: held = [], orders } = engine.snapshot();
  return {
    positions: held
      .filter(([fund]) => fund === fundId)
      .map(([, strategyId, symbol, quantity]) => {
        const average = costs.averageOf(fundId, strategyId, symbol);
        const priced = nav?.prices?.[symbol];
        return {
          strategy_id: strategyId,
          symbol,
          quantity,
          average_price: average === undefined ? undefined : decimal.format(average),
          price: priced?.price,
          priced_at: priced?.at,
          reason: priced === undefined ? priceNotKept : undefined,
        };
      }),
    orders: orders
      .filter((order) => order.fund_id === fundId && !order.ended)
      .map((order) => ({
        order_id: order.order_id,
        strategy_id: order.strategy_id,
        symbol: order.symbol,
        side: order.side,
        quantity: order.quantity,
        filled_quantity: order.filled,
      })),
  };
}

/** The fund's, those of its strategies, and the firm's. */
function haltsOf({ halts, reference }: Standing, fundId: string): Moment["halts"] {
  const strategies = new Set(reference.funds.find((fund) => fund.fund_id === fundId)?.strategies);
  const covers = ({ severity, fund_id: fund, strategy_id: strategy }: ActiveHalt): boolean =>
    severity === "FIRM_HALT" || fund === fundId || (severity === "STRATEGY_HALT" && strategies.has(strategy ?? ""));
  return halts.filter(covers);
}
