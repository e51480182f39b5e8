// theta_watchdog: how much a fund's options earn or lose by a calendar day alone, as a share of NAV. Past the threshold no option may be sold short,
// and positions on the side that is too large are reduced until it is inside again.
import type { Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { sum } from "../stats/moments.ts";
import { type ConfigOf, common, number, word } from "./config.ts";
import {
  allFinite,
  type HedgeOrder,
  isTooOld,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

export interface OptionPosition {
  readonly symbol: string;
  /** Whole contracts, negative when short. */
  readonly contracts: number;
  readonly multiplier: number;
  /** Of one share's worth of a long option per calendar day; null without a quote. */
  readonly thetaPerDay: number | null;
  readonly gamma: number | null;
}

export interface ThetaWatchdogInput {
  readonly positions: readonly OptionPosition[];
  /** In the fund's currency, above zero; null while unknown. */
  readonly nav: number | null;
  /** Of the oldest quote that is used. */
  readonly asOf: Instant;
}

const keys = {
  ...common(number(0.0005, [1e-9, 1], "share of NAV per day", "Above this, on either side, it acts.")),
  clear_share: number(0.8, [0.05, 1], "share", "Below this share of the threshold it clears."),
  hedge: word("submit", ["submit", "propose"], "submit sends the reducing orders, propose only writes them down."),
};
type Keys = typeof keys;

export const thetaOf = ({ contracts, multiplier, thetaPerDay }: OptionPosition): number =>
  contracts * multiplier * (thetaPerDay ?? Number.NaN);

/** Contracts of one option that bring net theta inside its limit, rounded up. */
export const contractsNeeded = (net: number, limit: number, thetaPerContract: number): number =>
  Math.abs(net) > limit ? Math.ceil((Math.abs(net) - limit) / Math.abs(thetaPerContract)) : 0;

/** Reductions of the positions that pull to the side that is too large, those with the most theta a contract first: the fewest contracts. */
export function hedgeOrders(positions: readonly OptionPosition[], limit: number): readonly HedgeOrder[] {
  let net = sum(positions.map(thetaOf));
  const side = Math.sign(net);
  const pulling = positions
    .filter((each) => Math.sign(thetaOf(each)) === side)
    .sort((left, right) => perContract(right) - perContract(left) || (left.symbol < right.symbol ? -1 : 1));
  const orders: HedgeOrder[] = [];
  for (const position of pulling) {
    const contracts = Math.min(contractsNeeded(net, limit, perContract(position)), Math.abs(position.contracts));
    if (contracts === 0) break;
    orders.push({ symbol: position.symbol, side: position.contracts > 0 ? "SELL" : "BUY", contracts });
    net -= side * contracts * perContract(position);
  }
  return orders;
}

const perContract = ({ multiplier, thetaPerDay }: OptionPosition): number => Math.abs(multiplier * (thetaPerDay ?? 0));

function judge(input: ThetaWatchdogInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const { nav, positions, asOf } = input;
  const unit = "share of NAV per day";
  const rest = { threshold: config.threshold, unit, sampleCount: positions.length, asOf };
  if (nav === null || !(nav > 0)) return withoutValue("STALE", "NO_INPUT", rest);
  const thetas = positions.map(thetaOf);
  if (positions.some(({ thetaPerDay }) => thetaPerDay === null)) return withoutValue("STALE", "MISSING_GREEKS", rest);
  if (!allFinite([...thetas, nav])) return withoutValue("STALE", "MALFORMED_INPUT", rest);
  if (isTooOld(asOf, at, config.stale_s)) return withoutValue("STALE", "INPUT_TOO_OLD", rest);
  const net = sum(thetas);
  const value = Math.abs(net) / nav;
  const rung = value > config.threshold ? 1 : 0;
  const orders = rung === 0 ? [] : hedgeOrders(positions, config.threshold * nav);
  const effects: readonly RungEffect[] = [
    { rung: 1, effect: { kind: "chat", severity: "warning" } },
    { rung: 1, effect: { kind: "restriction", restriction: "NO_SHORT_OPTIONS", factor: null } },
    { rung: 1, effect: { kind: "hedge", orders } },
  ];
  return {
    ...rest,
    state: stateOf(rung, effects),
    value,
    reason: null,
    observation: String(asOf),
    rung,
    clears: value < config.clear_share * config.threshold,
    effects,
    figures: {
      net_theta_per_day: net,
      side: net === 0 ? "NONE" : net < 0 ? "PAYING_DECAY" : "SHORT_OPTIONALITY",
      net_gamma: sum(positions.map((each) => each.contracts * each.multiplier * (each.gamma ?? 0))),
      limit: config.threshold * nav,
      hedge_contracts: orders.reduce((total, { contracts }) => total + contracts, 0),
    },
  };
}

export const thetaWatchdog: Watchdog<ThetaWatchdogInput, Keys, null> = {
  name: "theta_watchdog",
  watches: "How much of NAV a fund's options earn or lose by one calendar day alone.",
  per: ["fund"],
  subject: subjects.watchdogTheta,
  alarm: "WATCHDOG_THETA",
  unit: "share of NAV per day",
  config: keys,
  // A limit on a position, not a test of chance: it alerts when somebody trades past it.
  expectedAlertsPerYear: () => null,
  emptyMemory: null,
  judge: (input, config, memory, { at }) => ({ judgement: judge(input, config, at), memory }),
};
