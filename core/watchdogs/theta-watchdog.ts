// theta_watchdog: how much a fund's options earn or lose by a calendar day alone, as a share of NAV. Past the threshold no option may be sold short,
// and positions on the side that is too large are reduced until it is inside again.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { sum } from "../stats/moments.ts";
import { type ConfigOf, common, number, word } from "./config.ts";
import {
  allFinite,
  type HedgeOrder,
  isTooOld,
  type Judged,
  type JudgedAt,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

/** What one strategy holds of one option. */
export interface OptionPosition {
  readonly strategyId: string;
  readonly symbol: string;
  /** Whole contracts, negative when short. */
  readonly contracts: number;
  /** Contracts by which orders that have not ended already reduce it. */
  readonly closing: number;
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
  hold_s: number(
    3_600,
    [0, 86_400],
    "s",
    "An episode that opens within this time of the end of the one before lasts at least as long: whoever sells again at once is not hedged again and again.",
  ),
  hedge: word("submit", ["submit", "propose"], "submit sends the reducing orders, propose only writes them down."),
};
type Keys = typeof keys;

export interface ThetaMemory {
  /** When the newest episode opened, and when the one before it had ended. */
  readonly openedAt: Instant | null;
  readonly endedAt: Instant | null;
  /** As it was when the newest one opened: people who have raised it since end the hold. */
  readonly threshold: number | null;
}

const thetaOf = ({ contracts, multiplier, thetaPerDay }: OptionPosition): number =>
  contracts * multiplier * (thetaPerDay ?? Number.NaN);

/** Contracts of one option that bring net theta inside its limit, rounded up. */
export const contractsNeeded = (net: number, limit: number, thetaPerContract: number): number =>
  Math.abs(net) > limit ? Math.ceil((Math.abs(net) - limit) / Math.abs(thetaPerContract)) : 0;

/**
 * Reductions of the positions that pull to the side that is too large, those with the most theta a contract first: the fewest contracts. What is being
 * closed already counts as closed, so that nothing is hedged twice.
 */
export function hedgeOrders(positions: readonly OptionPosition[], limit: number): readonly HedgeOrder[] {
  const left = positions.map((each) => ({
    ...each,
    contracts: Math.sign(each.contracts) * Math.max(0, Math.abs(each.contracts) - each.closing),
  }));
  let net = sum(left.map(thetaOf));
  const side = Math.sign(net);
  const pulling = left
    .filter((each) => Math.sign(thetaOf(each)) === side)
    .sort((one, other) => perContract(other) - perContract(one) || (nameOf(one) < nameOf(other) ? -1 : 1));
  const orders: HedgeOrder[] = [];
  for (const position of pulling) {
    const contracts = Math.min(contractsNeeded(net, limit, perContract(position)), Math.abs(position.contracts));
    if (contracts === 0) break;
    const { strategyId, symbol } = position;
    orders.push({ strategyId, symbol, side: position.contracts > 0 ? "SELL" : "BUY", contracts });
    net -= side * contracts * perContract(position);
  }
  return orders;
}

const nameOf = ({ symbol, strategyId }: OptionPosition): string => `${symbol}\n${strategyId}`;

const perContract = ({ multiplier, thetaPerDay }: OptionPosition): number => Math.abs(multiplier * (thetaPerDay ?? 0));

/** The end of an episode shows in the next judgement: there is none open any more. */
function remembered(before: ThetaMemory, { at, openedAt }: JudgedAt, threshold: number): ThetaMemory {
  if (openedAt === null) {
    return before.openedAt === null ? before : { openedAt: null, endedAt: at, threshold: null };
  }
  return before.openedAt === openedAt ? before : { ...before, openedAt, threshold };
}

/** Whether what is open followed so soon on the last one that it stays open for a while, whatever it reads. */
function isHeld(memory: ThetaMemory, at: Instant, config: ConfigOf<Keys>): boolean {
  const { openedAt, endedAt, threshold } = memory;
  if (openedAt === null || endedAt === null || config.threshold > (threshold ?? 0)) return false;
  const holdMs = config.hold_s * 1_000;
  return millisecondsBetween(endedAt, openedAt) < holdMs && millisecondsBetween(openedAt, at) < holdMs;
}

function judge(
  input: ThetaWatchdogInput,
  config: ConfigOf<Keys>,
  before: ThetaMemory,
  now: JudgedAt,
): Judged<ThetaMemory> {
  const memory = remembered(before, now, config.threshold);
  const judgement = reading(input, config, now.at);
  const held = isHeld(memory, now.at, config);
  const figures = { ...judgement.figures, held };
  return { memory, judgement: { ...judgement, clears: judgement.clears && !held, figures } };
}

function reading(input: ThetaWatchdogInput, config: ConfigOf<Keys>, at: Instant): Judgement {
  const { positions, asOf } = input;
  // Without options there is nothing that a value of the fund could make large.
  const nav = positions.length === 0 ? 1 : input.nav;
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
    again: orders.length === 0 ? [] : [{ kind: "hedge", orders }],
    figures: {
      net_theta_per_day: net,
      side: net === 0 ? "NONE" : net < 0 ? "PAYING_DECAY" : "SHORT_OPTIONALITY",
      net_gamma: sum(positions.map((each) => each.contracts * each.multiplier * (each.gamma ?? 0))),
      limit: config.threshold * nav,
      hedge_contracts: orders.reduce((total, { contracts }) => total + contracts, 0),
    },
  };
}

export const thetaWatchdog: Watchdog<ThetaWatchdogInput, Keys, ThetaMemory> = {
  name: "theta_watchdog",
  watches: "How much of NAV a fund's options earn or lose by one calendar day alone.",
  per: ["fund"],
  subject: subjects.watchdogTheta,
  alarm: "WATCHDOG_THETA",
  unit: "share of NAV per day",
  config: keys,
  // A limit on a position, not a test of chance: it alerts when somebody trades past it.
  expectedAlertsPerYear: () => null,
  emptyMemory: { openedAt: null, endedAt: null, threshold: null },
  judge,
};
