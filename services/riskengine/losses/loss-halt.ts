// The halt that follows from a confirmed loss, with the figures that tripped it.
import { currencyPlaces } from "../../../contracts/src/currency-places.ts";
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { LossLimit } from "../../../contracts/src/losses.ts";
import type { LossBreach } from "../../../core/losses/drawdown.ts";
import type { LossFigure } from "../../../core/losses/loss-figures.ts";
import type { AskedHalt } from "../../halts/halt-request.ts";

const words: Readonly<Record<LossLimit, string>> = {
  daily: "The loss of the day",
  weekly: "The loss of the week",
  monthly: "The loss of the month",
  rolling_24h: "The loss of the last 24 hours",
  rolling_5d: "The loss of the last 5 days",
  high_water: "The distance from the highest value",
  strategy: "The strategy's loss of the day",
  equity: "The fund's equity",
};

/** The loss as a fraction of what its limit is a fraction of. */
export function lossShare({ loss, whole }: Pick<LossFigure, "loss" | "whole">): Decimal {
  if (whole <= 0n) return loss > 0n ? decimal.one : decimal.zero;
  return decimal.divide(loss, whole, "half-even");
}

export function haltOf(fundId: string, { figure, haltId, valuation }: LossBreach, at: Instant): AskedHalt {
  const { baseline, base, value, loss, whole, fraction } = figure;
  const { limit, strategyId, period, version } = baseline;
  const percent = (share: Decimal): string =>
    `${decimal.format(decimal.round((share * 100n) as Decimal, 4, "half-even"))} %`;
  const limitText = fraction === undefined ? "none" : percent(fraction);
  // For people: the evidence has every digit.
  const { currency } = valuation;
  const money = (amount: Decimal): string =>
    `${decimal.format(decimal.round(amount, currencyPlaces(currency), "half-even"))} ${currency}`;
  return {
    severity: strategyId === undefined ? "FUND_HALT" : "STRATEGY_HALT",
    fund_id: fundId,
    ...(strategyId !== undefined && { strategy_id: strategyId }),
    reason:
      limit === "equity"
        ? `${words[limit]} is ${money(value)}, and it holds positions.`
        : `${words[limit]} is ${money(loss)}, ${percent(lossShare(figure))} of ${money(whole)}; the limit is ${limitText}.`,
    requested_by: "riskengine",
    evidence: {
      limit,
      period,
      baseline_version: version,
      baseline: decimal.format(base),
      baseline_at: format(baseline.valuedAt),
      value: decimal.format(value),
      loss: decimal.format(loss),
      share_of: decimal.format(whole),
      loss_pct: decimal.toNumber(lossShare(figure)),
      limit_pct: decimal.toNumber(fraction ?? decimal.zero),
      currency: valuation.currency,
      net_flows: decimal.format(valuation.netFlows),
      valued_at: format(valuation.at),
    },
    halt_id: haltId,
    since: format(at),
  };
}
