// Every loss against its baseline and its limit, as the judge has them: by the same function, from the same state.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { ListLossesRequest, Loss, Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { LossState } from "../../../contracts/src/losses.ts";
import { drillFundId } from "../../../core/halts/halts.ts";
import { always, type LossFigure } from "../../../core/losses/loss-figures.ts";
import { type LimitStanding, lossStandings } from "../../../core/losses/loss-standing.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Envelopes } from "../envelopes.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import { type Drawdown, readAll } from "./drawdown.ts";
import { lossShare } from "./loss-halt.ts";

interface ListLossesOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore">;
  readonly envelopes: Pick<Envelopes, "current">;
  readonly reference: Pick<ReferenceWatch, "fund" | "funds">;
  readonly drawdown: Pick<Drawdown, "lookAt">;
}

export function createListLosses({ ports, envelopes, reference, drawdown }: ListLossesOptions) {
  return async ({ fund_id: fundId }: ListLossesRequest): Promise<Losses> => {
    if (fundId !== undefined && reference.fund(fundId) === undefined) {
      throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(line(fundId, 128))}.`, { retry: "never" });
    }
    const read = new Map((await readAll(ports, envelopes)).map((one) => [one.fundId, one]));
    // Read afterwards: a halt that was latched with a loss is there when the loss is.
    const { active } = await ports.riskStore.halts();
    const inForce = new Set(active.map(({ halt_id: id }) => id));
    const fundIds = new Set([...read.keys(), ...[...reference.funds()].map(({ fund_id: id }) => id)]);
    const asked = [...fundIds].filter((id) => isAsked(id, fundId)).sort();
    const losses = asked.flatMap((id) => {
      const { state, windows = {} } = read.get(id) ?? {};
      const look = drawdown.lookAt(id, { ...(state && { state }), windows }, inForce);
      return lossStandings(look).map((standing) => lossOf(id, state, standing));
    });
    return { losses };
  };
}

/** The fund for drills is nobody's: it is shown to whoever names it. */
function isAsked(fundId: string, asked: string | undefined): boolean {
  return asked === undefined ? fundId !== drillFundId : fundId === asked;
}

function lossOf(fundId: string, state: LossState | undefined, standing: LimitStanding): Loss {
  const { figure, haltsAgainAt } = standing;
  return {
    fund_id: fundId,
    strategy_id: standing.strategyId,
    limit: standing.limit,
    ...figuresOf(figure),
    state: standing.state,
    halts_again_at: haltsAgainAt && decimal.format(haltsAgainAt),
    reason: standing.why,
    as_of: state && format(state.newest.at),
  };
}

/** Of a limit that has nothing to be counted from there are none. */
function figuresOf(figure: LossFigure | undefined) {
  if (figure === undefined) {
    const none = undefined;
    return { period: "", baseline: none, value: none, loss: none, loss_pct: none, limit_pct: none, baseline_at: none };
  }
  const { baseline, base, value, loss, fraction, bound } = figure;
  return {
    period: baseline.period === always ? format(baseline.valuedAt) : baseline.period,
    baseline: decimal.format(base),
    value: decimal.format(value),
    loss: decimal.format(loss),
    loss_pct: decimal.toNumber(lossShare(figure)),
    limit_pct: fraction === undefined ? undefined : decimal.toNumber(fraction),
    limit_loss: bound === undefined ? undefined : decimal.format(bound),
    baseline_at: format(baseline.setAt),
    rebased_by: baseline.setBy === "riskengine" ? undefined : baseline.setBy,
  };
}
