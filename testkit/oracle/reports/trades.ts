// trade_lots, tca and settlement: what is made of fills, in exact money, under the files' names.
import { z } from "zod";
import * as decimal from "../../../contracts/src/decimal.ts";
import { type LotMethod, matchLots, netByYear, tradeStatistics } from "../../../reports/metrics/lots.ts";
import { cashLadder, netCash, type SettlementRules, settlementOf } from "../../../reports/metrics/settlement.ts";
import { costTotals, inBps, type OrderCost, orderCost, type TcaOrder } from "../../../reports/metrics/tca.ts";
import { date, type Solver, solver } from "./solver.ts";

const money = z.number().transform((value) => decimal.fromNumber(value));
const positive = z
  .number()
  .positive()
  .transform((value) => decimal.fromNumber(value));
const quantity = z
  .number()
  .nonnegative()
  .transform((value) => decimal.fromNumber(value));
const side = z
  .enum(["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"])
  .transform((name): 1 | -1 => (name.startsWith("BUY") ? 1 : -1));
const methods = ["FIFO", "LIFO", "HIFO"] as const satisfies readonly LotMethod[];
const plain = decimal.toNumber;
const plainOrNull = (value: decimal.Decimal | null): number | null => (value === null ? null : plain(value));

const lots = solver(
  {
    fills: z.array(z.object({ date, side, qty: quantity, price: money, fee: money })),
    method: z.enum(methods),
  },
  ({ fills, method }) => {
    const { closed, open } = matchLots(
      fills.map(({ date: at, side: direction, qty, price, fee }) => ({ at, direction, quantity: qty, price, fee })),
      method,
    );
    const found = tradeStatistics(closed);
    return {
      closed_lots: closed.map((lot) => ({
        open_date: lot.openedAt,
        close_date: lot.closedAt,
        qty: plain(lot.quantity),
        direction: lot.direction,
        open_price: plain(lot.openPrice),
        close_price: plain(lot.closePrice),
        gross_pnl: plain(lot.gross),
        fees: plain(lot.fees),
        net_pnl: plain(lot.net),
        holding_days: lot.holdingDays,
        term: lot.term,
      })),
      open_lots: open.map((lot) => ({
        open_date: lot.openedAt,
        qty: plain(lot.quantity),
        price: plain(lot.price),
      })),
      realized_net: plain(found.net),
      by_year: Object.fromEntries(
        [...netByYear(closed)].map(([year, net]) => [
          year,
          { SHORT_TERM: plain(net.SHORT_TERM), LONG_TERM: plain(net.LONG_TERM) },
        ]),
      ),
      n: found.n,
      win_rate: found.winRate,
      profit_factor: found.profitFactor,
      expectancy: found.expectancy,
      avg_win: found.averageWin,
      avg_loss: found.averageLoss,
      payoff: found.payoff,
      largest_win: plainOrNull(found.best),
      largest_loss: plainOrNull(found.worst),
    };
  },
);

const tcaOrder = z
  .object({
    side,
    order_qty: positive,
    decision_price: positive,
    arrival_price: positive,
    end_price: money,
    fills: z.array(
      z.object({
        t_s: z.number(),
        price: positive,
        qty: quantity,
        mid_at_fill: positive.nullish(),
        mid_after_300s: positive.nullish(),
        fee: money,
      }),
    ),
    market_trades: z.array(z.object({ t_s: z.number(), price: money, qty: quantity })).default([]),
    adv: z.number().positive().nullish(),
    daily_vol: z.number().nullish(),
  })
  .transform(
    (order): TcaOrder => ({
      direction: order.side,
      quantity: order.order_qty,
      decisionPrice: order.decision_price,
      arrivalPrice: order.arrival_price,
      endPrice: order.end_price,
      fills: order.fills.map((fill) => ({
        atSeconds: fill.t_s,
        price: fill.price,
        quantity: fill.qty,
        fee: fill.fee,
        midAtFill: fill.mid_at_fill ?? null,
        midAfter300s: fill.mid_after_300s ?? null,
      })),
      marketTrades: order.market_trades.map((trade) => ({
        atSeconds: trade.t_s,
        price: trade.price,
        quantity: trade.qty,
      })),
      averageDailyVolume: order.adv ?? null,
      dailyVolatility: order.daily_vol ?? null,
    }),
  );

const tca = solver({ orders: z.array(tcaOrder) }, ({ orders }) => {
  const costs = orders.map(orderCost);
  const totals = costTotals(costs);
  return {
    orders: costs.map(asOrder),
    total_is: plain(totals.shortfall),
    total_is_bps: totals.shortfallBps,
    notional_weighted_arrival_slippage_bps: totals.arrivalSlippageBps,
  };
});

function asOrder(cost: OrderCost) {
  const bps = (amount: decimal.Decimal): number | null => inBps(amount, cost.paperNotional);
  return {
    filled_qty: plain(cost.filled),
    fill_rate: cost.fillRate,
    avg_price: cost.averagePrice,
    arrival_slippage_bps: cost.arrivalSlippageBps,
    interval_vwap: cost.intervalVwap,
    vwap_slippage_bps: cost.vwapSlippageBps,
    interval_twap: cost.intervalTwap,
    twap_slippage_bps: cost.twapSlippageBps,
    delay_cost: plain(cost.delay),
    execution_cost: plain(cost.execution),
    opportunity_cost: plain(cost.opportunity),
    fees: plain(cost.fees),
    implementation_shortfall: plain(cost.shortfall),
    is_bps_of_paper_notional: bps(cost.shortfall),
    components_bps: {
      delay: bps(cost.delay),
      execution: bps(cost.execution),
      opportunity: bps(cost.opportunity),
      fees: bps(cost.fees),
    },
    paper_pnl: plain(cost.paperProfit),
    actual_pnl: plain(cost.actualProfit),
    identity_paper_minus_actual: plain(decimal.subtract(cost.paperProfit, cost.actualProfit)),
    participation_rate: cost.participation,
    effective_spread_bps: cost.effectiveSpreadBps,
    realized_spread_300s_bps: cost.realisedSpreadBps,
    markout_300s_bps: cost.markoutBps,
    pretrade_sqrt_impact_bps_Y1: cost.expectedImpactBps,
  };
}

const dates = z.array(date);

const settlement = solver(
  {
    trades: z.array(
      z.object({
        id: z.string(),
        market: z.enum(["US_EQ", "EU_EQ", "CRYPTO"]),
        trade_date: date,
        side,
        qty: quantity,
        price: money,
        fee: money,
        currency: z.string(),
      }),
    ),
    us_exchange_holidays: dates,
    us_bank_only_holidays: dates,
    eu_holidays: dates,
    us_t1_first_trade_date: date,
  },
  ({ trades, us_exchange_holidays, us_bank_only_holidays, eu_holidays, us_t1_first_trade_date }) => {
    const rules: Readonly<Record<"US_EQ" | "EU_EQ" | "CRYPTO", SettlementRules>> = {
      US_EQ: {
        cycles: [
          { from: "", days: 2 },
          { from: us_t1_first_trade_date, days: 1 },
        ],
        closed: new Set([...us_exchange_holidays, ...us_bank_only_holidays]),
      },
      EU_EQ: {
        cycles: [
          { from: "", days: 2 },
          { from: "2027-10-11", days: 1 },
        ],
        closed: new Set(eu_holidays),
      },
      CRYPTO: { cycles: [{ from: "", days: 0 }], closed: "never closed" },
    };
    const settled = trades.map((trade) => ({
      ...settlementOf(rules[trade.market], trade.trade_date),
      id: trade.id,
      currency: trade.currency,
      cash: netCash({ direction: trade.side, quantity: trade.qty, price: trade.price, fee: trade.fee }),
    }));
    return {
      trades: settled.map(({ id, date: settledOn, cycle, cash }) => ({
        id,
        settle_date: settledOn,
        cycle,
        net_cash: plain(cash),
      })),
      cash_ladder: Object.fromEntries(
        [...cashLadder(settled)].map(([settledOn, day]) => [
          settledOn,
          Object.fromEntries([...day].map(([currency, cash]) => [currency, plain(cash)])),
        ]),
      ),
    };
  },
);

export const lotSolvers: readonly Solver[] = [lots];
export const tcaSolvers: readonly Solver[] = [tca];
export const settlementSolvers: readonly Solver[] = [settlement];
