// Writes down what became of a fund's losses: new baselines with the event that tells of each, the sample for the windows, the state.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { format, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { Baseline } from "../../contracts/src/losses.ts";
import type { LossBaseline } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { LossOutcome } from "../../core/losses/drawdown.ts";
import { windowMs } from "../../core/losses/loss-figures.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "./one-line.ts";

/** In the unit of work that locked the fund's losses. */
export async function writeLosses(unit: UnitOfWork, fundId: string, outcome: LossOutcome): Promise<void> {
  for (const baseline of outcome.baselines) {
    // What was written stays; whoever tries again tells nobody.
    if (await unit.losses.putBaseline(fundId, baseline)) {
      await unit.events.publish(subjects.lossBaseline, recordOf(fundId, baseline));
    }
  }
  const { sample } = outcome;
  if (sample !== undefined) {
    await unit.losses.putSample(fundId, sample, minusMilliseconds(sample.at, windowMs.rolling_5d));
  }
  await unit.losses.put(fundId, outcome.state);
}

function recordOf(fundId: string, baseline: Baseline): LossBaseline {
  const { limit, strategyId, period, version, value, netFlows, valuedAt, setBy, reason, setAt } = baseline;
  if (limit === "equity")
    throw new Defect("that a fund is worth something is counted from nothing, and has no baseline");
  return {
    fund_id: fundId,
    ...(strategyId !== undefined && { strategy_id: strategyId }),
    limit,
    period,
    version,
    value: decimal.format(value),
    net_flows: decimal.format(netFlows),
    valued_at: format(valuedAt),
    set_by: setBy,
    reason: line(reason, 2_000),
    at: format(setAt),
  };
}
