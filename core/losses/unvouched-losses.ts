// Losses by a value that nobody vouches for: its worse end is judged like any other and halts, and nothing is counted from it.
//
// Invariants (unvouched-losses.test.ts holds them beside a twin that never heard it):
//  1. No baseline, sample, highest value or unit comes from it, and no value that is steady.
//  2. A rise that nobody vouches for undoes no loss that waits: it is judged by the lower of it and the last vouched value.
//  3. Flows that it claims are no flows until somebody vouches for them; whoever hands it in has left them out of its value.
import * as decimal from "../../contracts/src/decimal.ts";
import type { FundValuation, LossState, StrategyProfit } from "../../contracts/src/losses.ts";
import { isAhead } from "../state/dated.ts";
import { judgeAll, type LossOutcome, type LossRules } from "./drawdown.ts";
import { redate, roll } from "./loss-baselines.ts";
import { baselinesAt } from "./loss-figures.ts";
import { unitCount } from "./loss-units.ts";

/** What one more makes of it. Undefined when it changes nothing, or is in another currency. */
export function judgeUnvouched(known: LossState, heard: FundValuation, rules: LossRules): LossOutcome | undefined {
  if (heard.at <= known.newest.at && !isAhead(known.newest.at, rules.at)) return undefined;
  const vouched = known.vouched ?? known.newest;
  if (heard.currency !== vouched.currency) return undefined;
  const redated = redate(known, rules.dayAt(rules.at), rules.at);
  const periods = rules.dayAt(heard.at);
  const rolled = roll(redated.state, periods, undefined, rules.at);
  const strategies = heard.strategies?.map((made) => leastOf(made, vouched));
  const valuation: FundValuation = {
    ...heard,
    value: decimal.min(heard.value, vouched.value),
    netFlows: vouched.netFlows,
    ...unitCount(vouched),
    ...(strategies !== undefined && { strategies }),
  };
  const current = baselinesAt(rolled.state, periods, rules.windows);
  const judged = judgeAll(rolled.state, valuation, rules, current);
  // It neither confirms a height, or a jump, nor ends one.
  const state = { ...judged.state, newest: valuation, vouched };
  const baselines = [...redated.baselines, ...rolled.baselines];
  return { state, baselines, sample: undefined, breaches: judged.breaches };
}

/** A profit that nobody vouches for hides no loss. */
function leastOf(made: StrategyProfit, { strategies }: FundValuation): StrategyProfit {
  const known = strategies?.find(({ strategyId }) => strategyId === made.strategyId)?.profit ?? made.profit;
  return { ...made, profit: decimal.min(made.profit, known) };
}
