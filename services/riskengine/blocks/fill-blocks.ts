// Fills that nobody can vouch for: beyond the collar of the mark, or more than their order covers. They are booked, because they are facts, and new risk in
// their symbol waits until an operator accepts them.
//
//  1. The block is open in the step in which the fill counts, and stands in the journal before it: no books have the fill without its block.
//  2. A fill without a fresh price to hold it against is blocked until the next one settles it: within the collar it ends by itself, beyond it waits for an
//     operator like any other. What a price settles is in the journal first.
//  3. Only a trade's price and size are judged: seeds, adjustments, crosses, settlements and corporate actions are no prices that somebody paid in the market.
//     Whether anybody vouches for what a fill says of itself is judged of all of them (core/engine/vouching/vouch-fill.ts).
//  4. A fill that is busted is none to accept: its block ends with it. What other fills blocked stays.
//  5. What an order covers is what was approved for it, less what it has traded: from the engine while the order is open, else from the journal.
//  6. One block for each fill, under its gravest cause, with all of them in its reason. The second leg of a cross ends the block of the first.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { BlockCause, BlockedFill, RiskBlock, RiskBlockEnded } from "../../../contracts/src/records/block.ts";
import { type Fill, type FillBusted, fill as fillRecord, fillReversal } from "../../../contracts/src/records/order.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { FillEffect } from "../../../core/orders/reservations.ts";
import { directionOf } from "../../../core/state/terms.ts";
import type { StoredAction } from "../../../ports/corporate-actions.ts";
import type { JournalEntry, JournalRow } from "../../../ports/risk-store.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Alarms } from "../alarms.ts";
import type { ApprovalEvents } from "../approvals/approval-events.ts";
import type { GroupCommit } from "../journal/group-commit.ts";

interface FillBlocksOptions {
  readonly ports: Pick<ServicePorts, "clock" | "random" | "riskStore" | "store" | "log" | "crash">;
  readonly engine: Engine;
  readonly commit: Pick<GroupCommit, "addAlone">;
  readonly alarms: Pick<Alarms, "raise">;
  readonly events: Pick<ApprovalEvents, "tellInTime">;
}

export interface FillBlocks {
  /** What the journal and the store know of it. */
  recordOf(fill: Fill, publisher: string | undefined): Promise<FillRecord>;
  /** Judges a fill that was just applied; what it opens goes to the journal before the fill, what it ends behind it. */
  judge(fill: Fill, effect: FillEffect, record: FillRecord): JudgedFill;
  /** Those entries are durable. */
  written(entries: readonly BlockEntry[]): void;
  /** Ends what a fill opened that was just taken back; the ends go to the journal behind the bust. */
  busted(bust: FillBusted): readonly EndEntry[];
  ended(entries: readonly EndEntry[]): void;
  /** There is a new price. */
  priced(symbol: string): void;
  stop(): Promise<void>;
}

export interface BlockEntry {
  readonly block: RiskBlock;
  readonly entry: JournalEntry;
}

export interface EndEntry {
  readonly ended: RiskBlockEnded;
  readonly entry: JournalEntry;
}

interface JudgedFill {
  readonly opened: readonly BlockEntry[];
  readonly ended: readonly EndEntry[];
}

interface FillRecord {
  readonly publisher: string | undefined;
  /** Of a trade whose order is not open. */
  readonly order: OrderRecord | undefined;
  /** Corporate actions of its symbol: when each was applied, NaN while it is under way. */
  readonly actionsAt: readonly number[];
}

/** An order as the journal has it. */
interface OrderRecord {
  /** Whether it was ever asked about. */
  readonly isKnown: boolean;
  /** When it was first; NaN when it never was. */
  readonly askedAt: number;
  /** The largest quantity that was approved; zero when none was. */
  readonly approved: decimal.Decimal;
  readonly filled: decimal.Decimal;
  readonly isExit: boolean;
  /** Whether its fund, symbol and direction are the fill's. */
  readonly isSame: boolean;
  /** Whether there are more entries than anybody adds up. */
  readonly isEndless: boolean;
}

/** Entries of one order that are added up. */
const entriesMax = 10_000;
/** A fill that is reported later than this may be of before a corporate action. */
const lateMs = 5_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const isTrade = ({ kind = "TRADE" }: Fill): boolean => kind === "TRADE";

export function createFillBlocks({ ports, engine, commit, alarms, events }: FillBlocksOptions): FillBlocks {
  const { clock, riskStore, log } = ports;
  const { acceptance } = engine;
  /** Symbols with a new price whose fills wait for one. */
  const waiting = new Set<string>();
  let settling: Promise<void> | undefined;
  let isEnding = false;

  async function recordOf(fill: Fill, publisher: string | undefined): Promise<FillRecord> {
    const isAsked = isTrade(fill) && engine.approval(fill.order_id) === undefined;
    const rows = isAsked ? await riskStore.entriesOfOrder(fill.order_id, entriesMax + 1) : [];
    const isLate = millisecondsBetween(parse(fill.filled_at), clock.now()) > lateMs;
    const isLooked = isLate || (publisher !== undefined && !isTrade(fill));
    const actionsAt = isLooked ? await actionsOf(fill) : [];
    return { publisher, order: isAsked ? orderRecord(fill, rows) : undefined, actionsAt };
  }

  async function actionsOf({ symbol, kind = "TRADE" }: Fill): Promise<readonly number[]> {
    const isNamed = ({ legs }: StoredAction): boolean =>
      legs.some((leg) => leg.symbol === symbol || leg.new_symbol === symbol);
    const read = (unit: UnitOfWork) => unit.corporateActions.applied();
    const applied = await ports.store.transact("riskengine.actions", read, { isOneStatement: true });
    const moments = applied.filter(isNamed).map(({ appliedAt }) => appliedAt ?? Number.NaN);
    if (kind === "TRADE") return moments;
    const readMore = (unit: UnitOfWork) => unit.corporateActions.underWay();
    const underWay = await ports.store.transact("riskengine.actions", readMore, { isOneStatement: true });
    return [...moments, ...underWay.filter(isNamed).map(() => Number.NaN)];
  }

  function judge(fill: Fill, effect: FillEffect, record: FillRecord): JudgedFill {
    const { publisher, order, actionsAt } = record;
    const other = publisher !== undefined && fill.kind === "CROSS" ? otherLegOf(fill, publisher) : undefined;
    const isAsked = effect.known || effect.contradicts ? true : order?.isKnown;
    const askedAt = effect.known ? effect.askedAt : (order?.askedAt ?? Number.NaN);
    const standing = { publisher, isAsked, askedAt, actionsAt, hasOtherLeg: other !== undefined };
    const unvouched = acceptance.unvouched(fill, standing, clock.now());
    const ended = other === undefined ? [] : [end(other, `The other leg is fill ${fill.fill_id}.`)];
    const isExit = effect.known ? effect.isExit : order?.isExit === true;
    if (isTrade(fill) && isAsked === false && unvouched.length === 0) withoutOrder(fill);
    const found = [...unvouched, ...(isTrade(fill) ? ofTrade(fill, effect, order, isExit) : [])];
    const [first] = found;
    if (first === undefined) return { opened: [], ended };
    const { fill_id, order_id, price, side, quantity, fee, kind, strategy_id } = fill;
    const moved = {
      side,
      quantity,
      ...(fee !== undefined && { fee }),
      ...(kind !== undefined && { kind }),
      strategy_id,
    };
    const by = publisher === undefined ? {} : { published_by: publisher };
    const about: BlockedFill = { fill_id, order_id, price, is_exit: isExit, ...moved, ...by };
    const why = found.map(({ reason }) => reason).join(", and ");
    const sentence = `Fill ${fill_id} of ${fill.symbol} for ${fill.fund_id}: ${why}.`;
    return { opened: open(fill, about, first.cause, sentence), ended };
  }

  /** Size and price. */
  function ofTrade(
    fill: Fill,
    effect: FillEffect,
    record: OrderRecord | undefined,
    isExit: boolean,
  ): readonly Trouble[] {
    const { fund_id: fundId, symbol, price } = fill;
    const size = sizeTrouble(fill, effect, record);
    const judged = acceptance.judge({ fundId, symbol, price, isExit }, clock.now());
    // Where something else is wrong already, a price that cannot be judged adds nothing.
    if (judged.kind === "within" || (judged.kind === "unknown" && size !== undefined)) return size ? [size] : [];
    return [...(size ? [size] : []), priceTrouble(judged.kind, judged.reason)];
  }

  /** The same quantity at the same price, the other way round, for another strategy, by the same program. */
  function otherLegOf(fill: Fill, publisher: string): RiskBlock | undefined {
    const isOther = ({ fund_id, symbol, fill: leg }: RiskBlock): boolean =>
      fund_id === fill.fund_id &&
      symbol === fill.symbol &&
      leg !== undefined &&
      leg.published_by === publisher &&
      leg.strategy_id !== fill.strategy_id &&
      leg.side !== undefined &&
      directionOf(leg.side) === -directionOf(fill.side) &&
      decimal.parse(leg.quantity ?? "0") === decimal.parse(fill.quantity) &&
      decimal.parse(leg.price) === decimal.parse(fill.price);
    return acceptance.ofCause("CROSS_ONE_LEG").find(isOther);
  }

  function end(block: RiskBlock, reason: string): EndEntry {
    const at = clock.now();
    const ended: RiskBlockEnded = { ...endOf(block), ended_by: "riskengine", reason, at: format(at) };
    acceptance.end(ended);
    const payload = encoder.encode(JSON.stringify(ended));
    const orderId = block.fill?.order_id ?? "";
    return { ended, entry: { kind: "unblock", at, fundId: block.fund_id, orderId, payload } };
  }

  function open(fill: Fill, about: BlockedFill, cause: BlockCause, reason: string): readonly BlockEntry[] {
    const { fund_id, symbol, order_id } = fill;
    // The journal had the block and not the fill: it was heard before a crash.
    if (acceptance.ofFill(fund_id, about.fill_id).length > 0) return [];
    const at = clock.now();
    const own = { block_id: ports.random.uuid(), fund_id, at: format(at) };
    const many = `So many fills of ${fund_id} wait to be accepted that it takes no new risk; first ${reason}`;
    const block: RiskBlock = acceptance.hasRoom(fund_id)
      ? { ...own, cause, symbol, fill: about, reason: line(reason, 2_000) }
      : { ...own, cause: "FILLS_UNCHECKED", reason: line(many, 2_000) };
    if (block.symbol === undefined && acceptance.isFundBlocked(fund_id)) return [];
    acceptance.open(block);
    log.warn("a fill waits for an operator to accept it", { block_id: block.block_id, cause: block.cause, reason });
    const payload = encoder.encode(JSON.stringify(block));
    return [{ block, entry: { kind: "block", at, fundId: fund_id, orderId: order_id, payload } }];
  }

  function withoutOrder({ fill_id, order_id, fund_id }: Fill): void {
    const sentence = `Fill ${fill_id} of ${fund_id} is of order ${order_id}, which the risk engine was never asked about; the position has it.`;
    alarms.raise("FILL_WITHOUT_ORDER", order_id, sentence);
  }

  /** Invariant 2, one after the other: each pauses deciding for a commit. */
  async function settleAll(): Promise<void> {
    for (const symbol of waiting) {
      waiting.delete(symbol);
      for (const block of acceptance.unjudged(symbol)) if (!isEnding) await settle(block);
    }
    settling = undefined;
  }

  async function settle(block: RiskBlock): Promise<void> {
    const { block_id, fund_id: fundId, symbol, fill } = block;
    if (symbol === undefined || fill === undefined) return;
    const at = clock.now();
    const judged = acceptance.judge({ fundId, symbol, price: fill.price, isExit: fill.is_exit }, at);
    if (judged.kind === "unknown") return;
    const entry = { at, fundId, orderId: fill.order_id };
    try {
      if (judged.kind === "within") {
        const reason = `The price of fill ${fill.fill_id} lies within the collar of the first mark that could judge it.`;
        const ended: RiskBlockEnded = { ...endOf(block), ended_by: "riskengine", reason, at: format(at) };
        const payload = encoder.encode(JSON.stringify(ended));
        await commit.addAlone({ ...entry, kind: "unblock", payload }, () => void acceptance.end(ended));
        events.tellInTime({ kind: "unblock", payload: ended });
        return;
      }
      const reason = `Fill ${fill.fill_id} of ${symbol} for ${fundId}: its price ${judged.reason}.`;
      const outside: RiskBlock = {
        ...block,
        cause: "FILL_OUTSIDE_COLLAR",
        reason: line(reason, 2_000),
        at: format(at),
      };
      const payload = encoder.encode(JSON.stringify(outside));
      await commit.addAlone({ ...entry, kind: "block", payload }, () => {
        // An operator may have been faster.
        if (acceptance.block(block_id) !== undefined) acceptance.open(outside);
      });
      events.tellInTime({ kind: "block", payload: outside });
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      log.warn("a fill could not be judged yet; the next price tries again", { block_id, error: messageOf(thrown) });
    }
  }

  /** Invariant 4. */
  function busted({ fill_id, fund_id, bust_id }: FillBusted): readonly EndEntry[] {
    const reason = `Fill ${fill_id} was taken back by bust ${bust_id}.`;
    return acceptance.ofFill(fund_id, fill_id).map((block) => end(block, reason));
  }

  return {
    recordOf,
    judge,
    busted,
    ended(entries) {
      for (const { ended } of entries) events.tellInTime({ kind: "unblock", payload: ended });
    },
    written(entries) {
      for (const { block } of entries) events.tellInTime({ kind: "block", payload: block });
    },
    priced(symbol) {
      if (isEnding || acceptance.unjudged(symbol).length === 0) return;
      waiting.add(symbol);
      settling ??= settleAll();
    },
    stop: async () => {
      isEnding = true;
      await settling;
    },
  };
}

/** What the end of a block says of it. */
export function endOf({ block_id, cause, fund_id, symbol }: RiskBlock) {
  return { block_id, cause, fund_id, ...(symbol !== undefined && { symbol }) };
}

interface Trouble {
  readonly cause: BlockCause;
  readonly reason: string;
}

function priceTrouble(kind: "outside" | "unknown", reason: string): Trouble {
  if (kind === "outside") return { cause: "FILL_OUTSIDE_COLLAR", reason: `its price ${reason}` };
  return { cause: "FILL_NOT_JUDGED", reason: `its price cannot be judged, because ${reason}` };
}

/** Invariant 5. */
function sizeTrouble(fill: Fill, effect: FillEffect, record: OrderRecord | undefined): Trouble | undefined {
  const { order_id: orderId, quantity } = fill;
  const over = (reason: string): Trouble => ({ cause: "ORDER_OVERFILLED", reason });
  if (effect.overfill > 0n)
    return over(`it brings order ${orderId} ${decimal.format(effect.overfill)} above its quantity`);
  if (effect.contradicts) return over(contradiction(orderId));
  if (effect.known || record === undefined || !record.isKnown) return undefined;
  if (!record.isSame) return over(contradiction(orderId));
  if (record.isEndless) return over(`order ${orderId} has more fills than can be added up`);
  const total = decimal.add(record.filled, decimal.parse(quantity));
  if (total <= record.approved) return undefined;
  const most = decimal.format(record.approved);
  return over(`it brings order ${orderId} to ${decimal.format(total)}, and ${most} is what was approved of it`);
}

const contradiction = (orderId: string): string =>
  `it names order ${orderId}, which is of another fund, symbol or side`;

/** What a fill in the journal adds to what its order has traded, and a bust takes away. */
function tradedBy(heard: unknown): decimal.Decimal {
  const reversal = fillReversal.safeParse(heard);
  if (reversal.success) return decimal.negate(decimal.parse(reversal.data.quantity));
  const before = fillRecord.parse(heard);
  return isTrade(before) ? decimal.parse(before.quantity) : decimal.zero;
}

function orderRecord(fill: Fill, rows: readonly JournalRow[]): OrderRecord {
  let [isKnown, isExit, isSame] = [false, false, true];
  let askedAt = Number.NaN;
  let [approved, filled] = [decimal.zero, decimal.zero];
  for (const { kind, payload, at } of rows.slice(0, entriesMax)) {
    if (kind === "fill") {
      filled = decimal.add(filled, tradedBy(parseJson(decoder.decode(payload))));
      continue;
    }
    isKnown = true;
    if (!(askedAt <= at)) askedAt = at;
    const { order, decision } = DecisionRecord.decode(payload);
    if (order === undefined || decision?.approved !== true) continue;
    approved = decimal.max(approved, decimal.parse(order.quantity));
    isExit = order.reduce_only === true;
    isSame &&= order.fund_id === fill.fund_id && order.symbol === fill.symbol;
    isSame &&= directionOf(order.side) === directionOf(fill.side);
  }
  return { isKnown, askedAt, approved, filled, isExit, isSame, isEndless: rows.length > entriesMax };
}
