// Which standing conditions deny new risk now. The gates themselves are asked, with the smallest order that adds risk: what they deny it with is noted,
// that one input is mended, and they are asked again, until they let it pass. So whatever a gate denies for as long as it stands is listed, and
// what is listed a gate denies. Limits and pace are no standing conditions: how much more may be done is what headroom says.
import type { DenialCode } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { blocksOf, conditionOfBlock } from "../blocks/block-book.ts";
import { symbolsWithConditions } from "../blocks/condition-book.ts";
import { findCondition } from "../blocks/index.ts";
import { saidBy } from "../blocks/restriction-book.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { isPositive, nothing, oneUnit, toDecimal } from "../money/amount.ts";
import * as fundStates from "../state/fund-state.ts";
import type { FundView } from "../state/view.ts";
import { firstDenial } from "./check.ts";
import { namesOf } from "./fast/order-hash.ts";
import { fillView } from "./fill-view.ts";
import type { BlockScope, Probe, StandingBlock } from "./standing.ts";
import { imaginedName, mendPrice, standingOf, withoutLimits } from "./standing-conditions.ts";
import type { EngineState } from "./state.ts";

/** More conditions than there are codes cannot stand. */
const askedMax = 40;

function standingBlocks(state: EngineState, probe: Probe, askedAt: instant.Instant): StandingBlock[] {
  const now = askedAt > state.lastAt ? askedAt : state.lastAt;
  const { view } = state;
  const order = smallestOrder(state, probe, now);
  const found: StandingBlock[] = [];
  for (let asked = 0; asked < askedMax; asked += 1) {
    const denial = firstDenial(view, order, now);
    const condition = denial && standingOf(denial.code);
    if (denial === undefined || condition === undefined) return found;
    if (findCondition(denial.code)?.oneByOne !== true) {
      const scope = condition.scope(view);
      const since = condition.since(view, state, probe, now);
      found.push({ code: denial.code, scope, ...idsOf(scope, denial.code, probe), reason: denial.reason, since });
    }
    condition.mend(view, state, probe);
  }
  return found;
}

/** What the whole firm is about names nobody; a restriction and a price are every fund's. */
function idsOf(
  scope: BlockScope,
  code: DenialCode,
  { fundId, strategyId, symbol }: Probe,
): Pick<StandingBlock, "fundId" | "strategyId" | "symbol"> {
  if (scope === "firm") return {};
  if (scope === "fund") return { fundId };
  if (scope === "strategy") return { fundId, strategyId };
  return isOfFundAndSymbol(code) ? { fundId, symbol } : { symbol };
}

/** Fills the view for a purchase of one lot that adds risk, whatever the fund holds, and that no limit stands against. */
function smallestOrder(state: EngineState, { fundId, strategyId, symbol }: Probe, now: instant.Instant): Order {
  const { view, notes } = state;
  const order: Order = {
    idempotency_key: "blocks",
    // No order has an empty id, so this one amends nobody's; it gets one when it goes to the gates.
    order_id: "",
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    side: "BUY",
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker: imaginedName,
    asset_class: "EQUITY",
    actor: "blocks",
  };
  // The view belongs to this question now, whoever still holds a result.
  notes.reset();
  fillView(view, state, state.found, order, namesOf(order), now);
  order.order_id = imaginedName;
  if (fundId === "") order.fund_id = imaginedName;
  if (strategyId === "") order.strategy_id = imaginedName;
  view.keySeen = "no";
  view.strategyKnown = view.fundKnown;
  if (view.envelope !== undefined) view.envelope = withoutLimits(view.envelope);
  if (symbol === "") imagineInstrument(view, order);
  const { instrument } = view;
  const lot = instrument?.lotSize ?? oneUnit;
  order.asset_class = instrument?.assetClass ?? order.asset_class;
  order.quantity = decimal.format(toDecimal(lot));
  Object.assign(view.terms, { quantity: lot, notional: undefined, limitPrice: undefined, stopPrice: undefined });
  Object.assign(view, { classification: "INCREASE", closingQuantity: nothing, openingQuantity: lot });
  // What is held does not matter, only whether it can be valued.
  Object.assign(view, { position: nothing, pendingBuy: nothing, pendingSell: nothing });
  Object.assign(view, { heldHigh: undefined, heldLow: undefined, limits: undefined });
  view.exitWaits = undefined;
  Object.assign(view, { strategyOrdersInSecond: 0, fundOrdersInSecond: 0, repeatedExecutions: 0 });
  return order;
}

function imagineInstrument(view: FundView, order: Order): void {
  order.symbol = "BLOCKS";
  view.instrument = {
    symbol: order.symbol,
    assetClass: "EQUITY",
    currency: view.fundCurrency,
    sector: "",
    restriction: undefined,
    tickSize: oneUnit,
    lotSize: oneUnit,
    multiplier: oneUnit,
  };
  Object.assign(view, { fxRate: oneUnit, fxAgeMs: 0 });
  mendPrice(view);
}

/** What holds for everybody, also where no fund is known. */
export function firmBlocks(state: EngineState, askedAt: instant.Instant): readonly StandingBlock[] {
  const all = standingBlocks(state, { fundId: "", strategyId: "", symbol: "" }, askedAt);
  return all.filter(({ scope }) => scope === "firm");
}

/** What holds for a fund and for its strategies, and in the symbols that differ from its broker's or that a watchdog restricts. */
export function fundBlocks(state: EngineState, fundId: string, askedAt: instant.Instant): readonly StandingBlock[] {
  const own = [...state.books.strategies.values()].filter(({ fund }) => fund?.id === fundId).map(({ id }) => id);
  const found = (own.length === 0 ? [""] : own).flatMap((strategyId) =>
    standingBlocks(state, { fundId, strategyId, symbol: "" }, askedAt),
  );
  const inSymbols = symbolsWithConditions(state.conditions, fundId, isOfFundAndSymbol).flatMap((symbol) =>
    standingBlocks(state, { fundId, strategyId: own[0] ?? "", symbol }, askedAt).filter(({ code }) =>
      isOfFundAndSymbol(code),
    ),
  );
  const closed = [...shortOptionBlocks(state, fundId), ...closedBlocks(state, fundId)];
  return [
    ...found,
    ...closed,
    ...inSymbols,
    ...waitingExitBlocks(state, fundId, askedAt),
    ...openBlocks(state, fundId),
  ];
}

/** Whether it holds in a symbol, for the funds that it names. */
const isOfFundAndSymbol = (code: DenialCode): boolean => findCondition(code)?.ofFund === true;

/** The smallest purchase does not ask for it: it denies sales of options only. */
function shortOptionBlocks({ restrictions }: EngineState, fundId: string): readonly StandingBlock[] {
  const by = restrictions.noShortOptions.get(fundId);
  if (by === undefined) return [];
  const since = restrictions.since.get(by.restrictionId);
  const reason = `No option is sold short, by ${saidBy(by)}.`;
  return [{ code: "SHORT_OPTIONS_BLOCKED", scope: "fund", fundId, reason, since }];
}

/** Each of those that an operator accepts: by its id it is accepted, and not with another one that came since. */
function openBlocks({ blockBook }: EngineState, fundId: string): readonly StandingBlock[] {
  return blocksOf(blockBook, fundId).map((block) => {
    const { code, symbol, reason, since } = conditionOfBlock(block);
    const scope = symbol === undefined ? "fund" : "symbol";
    const { block_id: blockId, gap } = block;
    const about = { ...(symbol !== undefined && { symbol }), ...(gap !== undefined && { gap }) };
    return { code, scope, fundId, ...about, blockId, reason, since };
  });
}

type Closing = readonly [code: DenialCode, field: keyof RiskEnvelope, isClosed: (envelope: Envelope) => boolean];

/** Limits that let no new risk through at any size: those that the probe leaves out because they are about an order, unless they are shut. */
const closings: readonly Closing[] = [
  ["BROKER_NOT_ALLOWED", "allowed_brokers", ({ allowedBrokers }) => allowedBrokers.size === 0],
  ["ORDER_TYPE_NOT_ALLOWED", "allowed_order_types", ({ allowedOrderTypes }) => allowedOrderTypes.size === 0],
  ["ASSET_CLASS_NOT_ALLOWED", "allowed_asset_classes", ({ allowedAssetClasses }) => allowedAssetClasses.size === 0],
  ["NOTIONAL_ABOVE_MAX", "max_notional", ({ maxNotional }) => !isPositive(maxNotional)],
  ["POSITION_LIMIT_EXCEEDED", "max_position_pct", ({ maxPosition }) => !isPositive(maxPosition)],
  ["GROSS_EXPOSURE_EXCEEDED", "max_gross_exposure_pct", ({ maxGrossExposure }) => !isPositive(maxGrossExposure)],
  ["NET_EXPOSURE_EXCEEDED", "max_net_exposure_pct", ({ maxNetExposure }) => !isPositive(maxNetExposure)],
];

function closedBlocks({ books }: EngineState, fundId: string): readonly StandingBlock[] {
  const envelope = books.funds.get(fundId)?.envelope;
  if (envelope === undefined) return [];
  const since = instant.tryParse(envelope.record.updated_at ?? "");
  const isList = (value: unknown): boolean => Array.isArray(value);
  return closings.flatMap(([code, field, isClosed]): StandingBlock[] => {
    if (!isClosed(envelope)) return [];
    const shut = isList(envelope.record[field]) ? "is empty" : "is 0";
    const reason = `The envelope is closed: ${field} ${shut}, so no new risk passes, whatever its size.`;
    return [{ code, scope: "fund", fundId, reason, since }];
  });
}

/** Where an exit of the platform waits for room, which nobody else gets before it. */
function waitingExitBlocks({ waitingExits }: EngineState, fundId: string, at: instant.Instant): StandingBlock[] {
  return [...waitingExits.values()]
    .filter((exit) => exit.fundId === fundId && at <= exit.until)
    .map(({ orderId, symbol, direction, since }) => {
      const verb = direction === 1 ? "buy" : "sell";
      const reason = `The platform's exit ${orderId} waits for room to ${verb} ${symbol}, which approvals that were not sent hold.`;
      return { code: "EXIT_HAS_PRIORITY", scope: "symbol", fundId, symbol, reason, since };
    });
}

/** What holds in symbols by themselves, as an order of this fund would be told. */
export function symbolBlocks(
  state: EngineState,
  fundId: string,
  symbols: readonly string[],
  askedAt: instant.Instant,
): readonly StandingBlock[] {
  return symbols.flatMap((symbol) =>
    standingBlocks(state, { fundId, strategyId: "", symbol }, askedAt).filter(
      ({ scope, code }) => scope === "symbol" && !isOfFundAndSymbol(code),
    ),
  );
}

export interface BlockedFund {
  readonly fundId: string;
  readonly currency: string;
}

/** The funds that there are, and those that left something behind. */
export function fundsToAsk({ books }: EngineState): readonly BlockedFund[] {
  return [...books.funds.values()]
    .filter(({ known, count }) => known || count > 0)
    .map(({ id, currency }) => ({ fundId: id, currency }));
}

/** Instruments that the fund may trade, those that it holds or has orders in first; of any fund when none is named. */
export function symbolsToAsk({ books }: EngineState, fundId: string | undefined, countMax: number): readonly string[] {
  const fund = fundId === undefined ? undefined : books.funds.get(fundId);
  const isAllowed = (assetClass: string): boolean => fund?.envelope?.allowedAssetClasses.has(assetClass) ?? true;
  const held = new Set(fund === undefined ? [] : fundStates.slotsOf(fund));
  const known = [...books.symbols.values()].filter(({ facts }) => facts !== undefined && isAllowed(facts.assetClass));
  const first = known.filter(({ slot }) => held.has(slot));
  const rest = known.filter(({ slot }) => !held.has(slot));
  return [...first, ...rest].slice(0, countMax).map(({ symbol }) => symbol);
}
