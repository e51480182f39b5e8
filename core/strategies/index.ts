// Every strategy, one line each.
import { alphaMeanrev } from "./alpha-meanrev.ts";
import { alphaMomentum } from "./alpha-momentum.ts";
import { betaTrend } from "./beta-trend.ts";
import { gammaIncome } from "./gamma-income.ts";
import type { Strategy } from "./shape.ts";

export const strategies: readonly Strategy[] = [alphaMomentum, alphaMeanrev, betaTrend, gammaIncome];

/** Raised with every change of what a strategy would do, or of what is kept of it: backtests of an older one are made again. */
export const strategiesVersion = 3;

export function strategyByName(name: string): Strategy | undefined {
  return strategies.find((strategy) => strategy.name === name);
}
