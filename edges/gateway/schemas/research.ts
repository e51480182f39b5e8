// Strategies, their backtests and their signals over HTTP.
import { z } from "zod";
import { dateText, decimalText, idText, symbolText } from "../../../contracts/src/records/fields.ts";
import { strategyStatus } from "../../../contracts/src/records/values.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { timeText } from "./fields.ts";
import { anyFund, reasonBody } from "./orders.ts";

export const strategiesQuery = z.strictObject({ fund_id: anyFund });

export const strategyAnswer = z.object({
  strategy_id: idText,
  fund_id: idText,
  status: strategyStatus.meta({
    description: "live trades, shadow only computes what it would do, halted does nothing.",
  }),
  allocation_pct: z.number().meta({ description: "Fraction of the fund's NAV that it may work with." }),
  sentence: z.string(),
  pnl: decimalText.optional().meta({ description: "Since the fund began; absent before the first trade." }),
  last_signal_at: timeText.optional(),
  backtest_ic_mean: z
    .number()
    .optional()
    .meta({ description: "Mean daily rank correlation of signal and later return, in the backtest." }),
  live_ic_mean: z.number().optional().meta({ description: "The same of what is live." }),
});

export const strategiesAnswer = z.array(strategyAnswer);

export const setStrategyBody = z
  .strictObject({
    status: strategyStatus.optional().meta({ description: "Stays as it is when absent." }),
    allocation_pct: z.number().min(0).max(1).optional().meta({ description: "Stays as it is when absent." }),
    reason: reasonBody,
  })
  .refine((body) => body.status !== undefined || body.allocation_pct !== undefined, {
    message: "expected at least one of status and allocation_pct",
  });

export const backtestAnswer = z.object({
  strategy_id: idText,
  from: z.string(),
  to: z.string(),
  days: z.array(
    z.object({
      day: dateText,
      return: z.number().optional().meta({ description: "A fraction." }),
      information_coefficient: z.number().optional().meta({ description: "Absent on days with too few symbols." }),
    }),
  ),
  annual_return: z.number().optional(),
  annual_volatility: z.number().optional(),
  sharpe: z.number().optional().meta({ description: "Absent where volatility is zero." }),
  max_drawdown: z.number().optional(),
});

export const signalsQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000).optional().meta({ description: "At most this many; 100 when absent." }),
});

export const signalsAnswer = z
  .array(
    z.object({
      strategy_id: idText,
      symbol: symbolText,
      value: z.number().optional().meta({ description: "Larger wants more of it." }),
      at: timeText,
      realised_return: z
        .number()
        .optional()
        .meta({ description: "What the symbol returned over the horizon; absent while that runs." }),
      horizon_s: z.number(),
    }),
  )
  .meta({ description: "Newest first." });
