// What must be true of splits and changes of symbols: they change how something is counted, and nothing that it is worth.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { ActionLeg, CorporateActionChanged } from "../../contracts/src/records/corporate-action.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { StopTriggered } from "../../contracts/src/records/operations.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type AppliedAction, appliedOf, type MovedPosition, times } from "../action-history.ts";
import type { Evidence } from "../evidence.ts";
import { positionKey } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const actionsKeepValue: Invariant = {
  name: "actions_keep_worth",
  sentence:
    "A split or a change of symbol gives every holder exactly what its terms say, values what is held in the same terms as its price, fires no stop on a price of the other side of it, and nothing is approved while it is under way, because it changes nobody's wealth.",
  violated(evidence) {
    return (
      onMessage<CorporateActionChanged>(evidence, subjects.corporateActionChanged, ({ state }, reported) =>
        state === "APPLIED" ? wronglyMoved(appliedOf(evidence.past, reported)) : undefined,
      ) ??
      onMessage<NavUpdated>(evidence, subjects.navUpdated, (nav) => mixedValue(evidence, nav)) ??
      onMessage<StopTriggered>(evidence, subjects.stopTriggered, (stop) => mixedStop(evidence, stop)) ??
      onMessage<DecisionMade>(evidence, subjects.decisionMade, (made) => decidedMeanwhile(evidence, made))
    );
  },
};

/** Rounding at the eighteenth place, once for every strategy. */
const rounding = 10n;
/** Who lacks most of a lot gets one first. */
const inLieuMax = decimal.parse("2");

function wronglyMoved({ actionId, legs, positions }: AppliedAction): string | undefined {
  return first(positions, (one) => {
    const named = `${one.strategyId} held ${decimal.format(one.before)} ${one.symbol} before ${actionId}`;
    const wanted = wantedOf(one, legs, positions);
    const off = decimal.abs(decimal.subtract(decimal.subtract(one.after, one.inLieu), wanted));
    if (off > rounding) return `${named} and ${decimal.format(one.after)} after it: ${decimal.format(wanted)} is right`;
    const lost = legs.find((leg) => leg.symbol === one.symbol && !isHeldAs(leg.new_symbol, one, positions));
    if (lost !== undefined) return `${named} and nothing of ${lost.new_symbol} after it`;
    if (decimal.abs(one.inLieu) <= inLieuMax) return undefined;
    return `${named} and was paid for ${decimal.format(one.inLieu)} in lieu`;
  });
}

function isHeldAs(
  symbol: string,
  { fundId, strategyId, before }: MovedPosition,
  all: readonly MovedPosition[],
): boolean {
  if (before === decimal.zero) return true;
  return all.some((one) => one.fundId === fundId && one.strategyId === strategyId && one.symbol === symbol);
}

/** What its terms make of all that becomes this symbol; what becomes another symbol is gone. */
function wantedOf(
  { fundId, strategyId, symbol, before }: MovedPosition,
  legs: readonly ActionLeg[],
  positions: readonly MovedPosition[],
): Decimal {
  const kept = legs.some((leg) => leg.symbol === symbol) ? decimal.zero : before;
  return legs
    .filter((leg) => leg.new_symbol === symbol)
    .reduce<Decimal>((sum, leg) => {
      const from = positions.find(
        (one) => one.fundId === fundId && one.strategyId === strategyId && one.symbol === leg.symbol,
      );
      return decimal.add(sum, times(from?.before ?? decimal.zero, leg.quantity));
    }, kept);
}

/** Less than this lies between the two sides of a split in which prices can be told apart, whatever the market did in between. */
const distinctFrom = 3;
const sameWithin = 1e-9;

const distance = (one: number, other: number): number => Math.abs(Math.log(one / other));

/** The first value after an action has quantity and price both in the terms of before it, or both in those of after it. */
function mixedValue({ past }: Evidence, nav: NavUpdated): string | undefined {
  const before = past.navs.get(nav.fund_id)?.at(-1);
  if (before === undefined) return undefined;
  const fresh = past.applied.filter(({ position }) => position > before.position);
  const legs = fresh.flatMap((action) => action.legs.map((leg) => ({ action, leg })));
  return first(legs, ({ action, leg }) => {
    const isShared = legs.some(
      ({ leg: other }) =>
        other !== leg &&
        [other.symbol, other.new_symbol].some((name) => name === leg.symbol || name === leg.new_symbol),
    );
    const [was, is] = [before.nav.prices?.[leg.symbol], nav.prices?.[leg.new_symbol] ?? nav.prices?.[leg.symbol]];
    // A name that several of them use says nothing of one of them.
    if (isShared || was === undefined) return undefined;
    const after = action.positions
      .filter(({ fundId, symbol }) => fundId === nav.fund_id && symbol === leg.new_symbol)
      .reduce<Decimal>((sum, one) => decimal.add(sum, one.after), decimal.zero);
    // What was sold since then has no price.
    const now = past.positions.get(positionKey(nav.fund_id, leg.new_symbol)) ?? decimal.zero;
    if (is === undefined && (after === decimal.zero || after !== now)) return undefined;
    if (is === undefined) return `${nav.fund_id} was valued without what ${action.actionId} left of ${leg.symbol}`;
    if (decimal.parse(is.quantity) !== after || !isMixed(leg, was, is)) return undefined;
    return `${nav.fund_id} was valued with ${is.quantity} ${leg.new_symbol} at ${is.price} after ${action.actionId}, and at ${was.price} before it`;
  });
}

interface Priced {
  readonly price: string;
  readonly at: string;
}

function isMixed({ price: [to, from], ...leg }: ActionLeg, was: Priced, is: Priced): boolean {
  const turned = (Number(was.price) * to) / from;
  if (is.at === was.at) return distance(Number(is.price), turned) > sameWithin;
  return isNearer(is.price, Number(was.price), turned, { ...leg, price: [to, from] });
}

/** Whether a price is rather one of the wrong side than of the right one. */
function isNearer(price: string, wrong: number, right: number, { price: [to, from] }: ActionLeg): boolean {
  if (Math.max(to / from, from / to) < distinctFrom) return false;
  return distance(Number(price), wrong) < distance(Number(price), right);
}

function mixedStop({ past, platform }: Evidence, stop: StopTriggered): string | undefined {
  const action = past.applied.findLast(({ legs }) => legs.some((leg) => leg.new_symbol === stop.symbol));
  const leg = action?.legs.find((one) => one.new_symbol === stop.symbol);
  if (leg === undefined) return undefined;
  const { bid } = platform.outside.bidAsk(stop.symbol);
  const wrong = (bid * leg.price[1]) / leg.price[0];
  const price = [stop.observed_price, stop.fill_price].find((one) => isNearer(one, wrong, bid, leg));
  if (price === undefined) return undefined;
  return `${stop.stop_id} fired at ${price}, a price of before ${action?.actionId}: the market is at ${bid}`;
}

/** Before it is applied, what was decided in its symbols has ended, and the engine decides nothing new. */
function decidedMeanwhile({ past }: Evidence, { order: asked, decision }: DecisionMade): string | undefined {
  const order = asked as unknown as Order;
  if (!decision.approved) return undefined;
  const under = [...past.actions.values()].find(
    ({ reported: { state, legs } }) =>
      state === "APPLIED" && legs.some((leg) => leg.symbol === order.symbol || leg.new_symbol === order.symbol),
  );
  return under && `${order.order_id} was approved while ${under.reported.action_id} is applied and not done`;
}
