// Inputs of the two watchdogs of a fund's value: predictive_health and portfolio_vol_dd.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import type { FundReference } from "../../../../contracts/src/records/reference.ts";
import { standardDeviation } from "../../../../core/stats/moments.ts";
import type { PortfolioVolDdInput } from "../../../../core/watchdogs/portfolio-vol-dd.ts";
import type { PredictiveHealthInput } from "../../../../core/watchdogs/predictive-health.ts";
import type { Reader, ReadRequest, Watched } from "../assigned.ts";
import { type Facts, fundBacktest, periodsPerYear, returnsOf, sinceGoLive, unitLevels } from "./facts.ts";

/** More than a year of days, the running one included. */
const daysMax = 400;

export function predictiveHealthReader<Config>(facts: Facts): Reader<PredictiveHealthInput, Config> {
  return {
    read: (request) =>
      eachFund(facts, request, async (fund) => {
        const returns = await fundBacktest(facts, fund);
        const points = sinceGoLive(await facts.navDays(fund.fund_id, 4 * daysMax));
        const backtest = returns === null ? null : returns.map((one) => Math.log1p(one));
        const input = { backtest, unitNav: unitLevels(points), asOf: points.at(-1)?.at ?? request.at };
        return { scope: { fundId: fund.fund_id }, input };
      }),
  };
}

export function portfolioVolReader<Config>(facts: Facts): Reader<PortfolioVolDdInput, Config> {
  return {
    read: (request) =>
      eachFund(facts, request, async (fund) => {
        const returns = await fundBacktest(facts, fund);
        const years = periodsPerYear(fund);
        const points = await facts.navDays(fund.fund_id, daysMax);
        // Of the days on which something was held: a strategy that is out of the market half of the time is built for what it does in it.
        const deviation = returns === null ? null : standardDeviation(returns.filter((one) => one !== 0));
        const input = {
          returns: returnsOf(unitLevels(points)),
          backtestVolatility: deviation === null ? null : deviation * Math.sqrt(years),
          periodsPerYear: years,
          asOf: points.at(-1)?.at ?? request.at,
        };
        return { scope: { fundId: fund.fund_id }, input, grossNow: () => grossOf(facts, fund) };
      }),
  };
}

async function eachFund<Input, Config>(
  facts: Facts,
  request: ReadRequest<Config>,
  read: (fund: FundReference) => Promise<Watched<Input>>,
): Promise<readonly Watched<Input>[]> {
  const watched: Watched<Input>[] = [];
  for (const fund of await facts.funds()) {
    if (request.isDue(fund.fund_id)) watched.push(await read(fund));
  }
  return watched;
}

/**
 * Gross exposure now, as the gate counts it that will hold orders against it: options by what they stand for. While the engine cannot say, the value of
 * what is held, which is no more than that: nothing waits with being restricted.
 */
async function grossOf(facts: Facts, fund: FundReference): Promise<decimal.Decimal> {
  try {
    const counted = await facts.ports.riskBooks.grossExposure(fund.fund_id);
    if (counted !== undefined) return counted;
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    facts.ports.log.warn("the risk engine does not say a fund's gross exposure", {
      fund: fund.fund_id,
      reason: messageOf(thrown),
    });
  }
  return heldValue(facts, fund);
}

/** Of every position its quantity at the price of the newest value, times what one of it is worth. */
async function heldValue(facts: Facts, { fund_id: fundId }: FundReference): Promise<decimal.Decimal> {
  const { instruments } = await facts.reference();
  const nav = (await facts.ports.riskStore.navs()).find((one) => one.fund_id === fundId);
  return Object.entries(nav?.prices ?? {}).reduce((gross, [symbol, { quantity, price }]) => {
    const multiplier = decimal.parse(instruments.get(symbol)?.multiplier ?? "1");
    const value = decimal.multiply(
      decimal.multiply(decimal.parse(quantity), decimal.parse(price), "up"),
      multiplier,
      "up",
    );
    return decimal.add(gross, decimal.abs(value));
  }, decimal.zero);
}
