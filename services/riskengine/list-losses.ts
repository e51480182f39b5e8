// Every loss against its baseline and its limit, as the newest valuation has them.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ListLossesRequest, Loss, Losses } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import type { LossState } from "../../contracts/src/losses.ts";
import { drillFundId } from "../../core/halts.ts";
import {
  always,
  baselinesAt,
  figureOf,
  type LossFigure,
  type LossFractions,
  lossFractions,
  lossKey,
  type WindowSamples,
} from "../../core/loss-figures.ts";
import { line } from "../line.ts";
import type { ServicePorts } from "../service.ts";
import { windowsOf } from "./drawdown.ts";
import type { Envelopes } from "./envelopes.ts";
import { lossShare } from "./loss-halt.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

export interface ListLossesOptions {
  readonly ports: Pick<ServicePorts, "store">;
  readonly envelopes: Pick<Envelopes, "current">;
  readonly reference: Pick<ReferenceWatch, "fund">;
}

export function createListLosses({ ports, envelopes, reference }: ListLossesOptions) {
  return async ({ fund_id: fundId }: ListLossesRequest): Promise<Losses> => {
    if (fundId !== undefined && reference.fund(fundId) === undefined) {
      throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(line(fundId, 128))}.`, { retry: "never" });
    }
    const losses = await ports.store.transact("risk.losses", async (unit) => {
      const all = (await unit.losses.all()).filter((one) => isAsked(one.fundId, fundId));
      const listed: Loss[] = [];
      for (const { fundId: of, state } of all) {
        const fractions = lossFractions(envelopes.current(of));
        listed.push(...lossesOf(of, state, fractions, await windowsOf(unit, of, state, state.newest.at, fractions)));
      }
      return listed;
    });
    return { losses };
  };
}

/** The fund for drills is nobody's: it is shown to whoever names it. */
function isAsked(fundId: string, asked: string | undefined): boolean {
  return asked === undefined ? fundId !== drillFundId : fundId === asked;
}

function lossesOf(fundId: string, state: LossState, fractions: LossFractions, windows: WindowSamples): Loss[] {
  const newest = (limit: "daily" | "weekly" | "monthly"): string =>
    state.baselines.find((baseline) => baseline.limit === limit)?.period ?? "";
  const periods = { daily: newest("daily"), weekly: newest("weekly"), monthly: newest("monthly") };
  const pending = new Set(state.pending.map(({ baseline }) => lossKey(baseline)));
  const current = baselinesAt(state, periods, windows);
  // A breach that waits may be counted from a period that is over.
  const older = state.pending.filter(
    ({ baseline }) => !current.some((one) => lossKey(one.baseline) === lossKey(baseline)),
  );
  return [...current, ...older].flatMap((counted) => {
    const figure = figureOf(counted, state.newest, fractions);
    return figure === undefined ? [] : [lossOf(fundId, state, figure, pending.has(lossKey(counted.baseline)))];
  });
}

function lossOf(fundId: string, state: LossState, figure: LossFigure, isPending: boolean): Loss {
  const { baseline, base, value, loss, fraction } = figure;
  return {
    fund_id: fundId,
    strategy_id: baseline.strategyId,
    limit: baseline.limit,
    period: baseline.period === always ? format(baseline.valuedAt) : baseline.period,
    baseline: decimal.format(base),
    value: decimal.format(value),
    loss: decimal.format(loss),
    loss_pct: decimal.toNumber(lossShare(figure)),
    limit_pct: fraction === undefined ? undefined : decimal.toNumber(fraction),
    state: isPending ? "PENDING" : figure.isBreach ? "BREACHED" : "JUDGED",
    baseline_at: format(baseline.setAt),
    rebased_by: baseline.setBy === "riskengine" ? undefined : baseline.setBy,
    as_of: format(state.newest.at),
  };
}
