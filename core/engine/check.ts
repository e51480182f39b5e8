// One order through the gates: look, decide, reserve, without a pause in between. What a check changes it writes down, so that it can be
// taken back to the last bit when its record could not be stored.
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { GateName } from "../../contracts/src/records/values.ts";
import { gatesOf } from "../gates/index.ts";
import { isMisfit } from "../gates/short-side.ts";
import { type Amount, isNothing, nothing, plus, toDecimal } from "../money/amount.ts";
import { classify, ownClosing } from "../orders/classify.ts";
import { keepToOwner } from "../orders/keep-to-owner.ts";
import { countOrder, ordersInSecond, uncountOrder } from "../orders/order-rate.ts";
import { amend, amendRefusal, rememberTerms, reserve, unamend, unreserve } from "../orders/reservations.ts";
import { countApproval, uncountApproval } from "../orders/throttle.ts";
import { type Asker, putBack, stopWaiting } from "../orders/waiting-exits.ts";
import type { Gate } from "../state/gate.ts";
import { isNewRisk, obeysLimits } from "../state/new-risk.ts";
import { type NoteBook, type NoteColumns, noNotes } from "../state/notes.ts";
import type { FundBook, StrategyBook, SymbolBook } from "../state/records.ts";
import type { FundView, Verdict } from "../state/view.ts";
import type { Checked, CheckUndo } from "./decision.ts";
import { type Hash, namesOf } from "./fast/order-hash.ts";
import { type Found, fillView } from "./fill-view.ts";
import { noteEnds } from "./note-ends.ts";
import { isPlatformExit, readPlatformExit, withHolders } from "./platform-exit.ts";
import { type EngineState, noteClock, setTripped } from "./state.ts";

/** Up to and with the static gate, after which an order counts for its pace. */
const earlyGates: readonly Gate[] = gatesOf("key", "order");
/** What the risk officer's answer does not make the gates read again, and what it does. */
const keyGates: readonly Gate[] = gatesOf("key");
const orderGates: readonly Gate[] = gatesOf("order");
const lateGates: readonly Gate[] = gatesOf("risk");
const officerGates: readonly Gate[] = gatesOf("model");
/** Figures that the journal is read back by. */
export const amendsInput = "amends";
export const lowersWord = "an open order, to a lower quantity";
export const windowInput = "repeated_execution_window_ms";
const gatesOfProbe: readonly Gate[] = gatesOf("order", "risk");

export function check(state: EngineState, order: Order, askedAt: Instant, asker: Asker): Checked {
  const { view, notes, keys } = state;
  noteClock(state, askedAt);
  const at = askedAt > state.lastAt ? askedAt : state.lastAt;
  const { key: keyHash, body, names, textsFit } = state.hasher.read(order);
  const bodyHash = state.ofAsker(body, asker.actor);
  const dryRun = order.dry_run === true;
  const undo = emptyUndo(state);
  // From the first check on nothing comes from the journal any more.
  state.orders.ended = undefined;
  if (!dryRun) {
    state.sequence += 1;
    state.lastAt = at;
    undo.sequence = state.sequence;
  }
  notes.reset();
  state.gateEndedUs = Number.NaN;
  fillView(view, state, state.found, order, names, at);
  keepToOwner(view, state, order.order_id, asker);
  readPlatformExit(view, order, asker);
  view.textsFit = textsFit;
  const seenAt = order.idempotency_key === "" ? Number.NaN : keys.find(keyHash, bodyHash, at);
  view.keySeen = Number.isNaN(seenAt) ? "no" : keys.sameBody() ? "same order" : "another order";
  view.keyAgeMs = (at - seenAt) / 1_000;
  classify(view);

  let denial = runGates(state, earlyGates, order, at);
  if (denial === undefined && !dryRun && obeysLimits(order, view)) {
    countPace(state, undo, at);
    undo.repeatWindowMs = repeatWindowMs(view);
  }
  denial ??= runGates(state, lateGates, order, at);
  const asks = denial === undefined && asksOfficer(view);
  if (denial === undefined && !asks && view.envelope?.croVetoEnabled === true) {
    denial = runGates(state, officerGates, order, at);
  }
  if (!dryRun) {
    if (view.keySeen === "no" && order.idempotency_key !== "") {
      keys.remember(keyHash, bodyHash, at);
      undo.keyAt = at;
    }
    if (denial === undefined) {
      hold(state, order, undo, at, asker);
      if (asks && undo.reserved !== undefined) undo.reserved.awaitsVerdict = true;
    } else if (denial.code === "THROTTLE_TRIPPED") trip(state, undo, at);
  }
  if (denial !== undefined && isPlatformExit(order, asker)) denial = withHolders(state, order, denial, undo, at);
  const outcome = denial !== undefined ? "denied" : asks && !dryRun ? "ask" : "approved";
  return result(state, order, asker, at, outcome, denial, keyHash, bodyHash, dryRun, undo, undefined);
}

/** The second half, with the risk officer's answer. Its own reservation is put aside while all gates but the first look again. */
export function conclude(state: EngineState, asked: Checked, verdict: Verdict, concludedAt: Instant): Checked {
  if (asked.outcome !== "ask" || asked.kept === undefined) throw new Defect("only what was asked can be concluded");
  const { view, notes } = state;
  const { order, asker, undo: before } = asked;
  const at = concludedAt > state.lastAt ? concludedAt : state.lastAt;
  const undo: CheckUndo = { ...before, sequence: state.sequence + 1, sequenceBefore: state.sequence };
  undo.lastAtBefore = state.lastAt;
  state.sequence += 1;
  state.lastAt = at;
  const ended = before.amended !== undefined && state.orders.open.get(order.order_id) !== before.amended.order;
  letGo(state, order, undo);
  uncount(state, order, undo);
  notes.resume(asked.kept, keyGates.length);
  state.gateEndedUs = Number.NaN;
  fillView(view, state, state.found, order, namesOf(order), at);
  keepToOwner(view, state, order.order_id, asker);
  readPlatformExit(view, order, asker);
  view.keySeen = "no";
  view.keyAgeMs = Number.NaN;
  view.verdict = verdict;
  // Whoever was asked about new risk answered about new risk, even if the order it amends has grown meanwhile.
  view.lowers = false;
  classify(view);
  let denial = ended ? noLongerOpen(state, order) : runGates(state, orderGates, order, at);
  // The decision is made now, so it counts from now.
  if (denial === undefined && obeysLimits(order, view)) {
    countPace(state, undo, at);
    undo.repeatWindowMs = repeatWindowMs(view);
  }
  denial ??= runGates(state, lateGates, order, at);
  if (denial === undefined && view.envelope?.croVetoEnabled === true) {
    denial = runGates(state, officerGates, order, at);
  }
  if (denial === undefined) hold(state, order, undo, at, asker);
  const { dryRun, keyHash, bodyHash } = asked;
  const outcome = denial === undefined ? "approved" : "denied";
  return result(state, order, asker, at, outcome, denial, keyHash, bodyHash, dryRun, undo, asked);
}

/** The order ended while the risk officer thought about its amendment: there is nothing left to amend. */
function noLongerOpen({ notes, options }: EngineState, order: Order): Denial {
  const startedUs = options.stopwatch();
  notes.begin("schema");
  notes.word("amended_order", "no longer open");
  notes.end(false, options.stopwatch() - startedUs);
  return {
    code: "SCHEMA_AMENDMENT_MISMATCH",
    reason: `Order ${JSON.stringify(order.order_id.slice(0, 64))} ended before its amendment was decided.`,
  };
}

/** Takes a result back: its reservation, its key, its place in the counts. The newest goes first. */
export function withdraw(state: EngineState, checked: Checked): void {
  if (checked.dryRun) return;
  const { order, undo } = checked;
  letGo(state, order, undo);
  uncount(state, order, undo);
  const strategy = state.books.strategies.get(order.strategy_id);
  if (undo.tripped && strategy !== undefined) setTripped(state, strategy, undefined);
  undo.tripped = false;
  if (!Number.isNaN(undo.keyAt)) state.keys.forget(checked.keyHash, instant.fromMicroseconds(undo.keyAt));
  undo.keyAt = Number.NaN;
  if (state.sequence === undo.sequence) {
    state.sequence = undo.sequenceBefore;
    state.lastAt = undo.lastAtBefore;
  }
}

function emptyUndo(state: EngineState): CheckUndo {
  return {
    keyAt: Number.NaN,
    pace: undefined,
    repeatWindowMs: undefined,
    approval: undefined,
    tripped: false,
    reserved: undefined,
    replaced: undefined,
    amended: undefined,
    waiting: undefined,
    sequence: -1,
    sequenceBefore: state.sequence,
    lastAtBefore: state.lastAt,
  };
}

/** The first gate that says no decides; what each gate read is in the notes. */
function runGates(state: EngineState, asked: readonly Gate[], order: Order, at: Instant): Denial | undefined {
  const { view, notes, options } = state;
  // Where one gate ends the next begins, also across what is counted in between: a look at the clock costs as much as a small gate.
  let startedUs = Number.isNaN(state.gateEndedUs) ? options.stopwatch() : state.gateEndedUs;
  for (const gate of asked) {
    notes.begin(gate.name);
    const denial = gate.decide(order, view, at, notes);
    if (denial === undefined) noteConsequence(order, view, gate.name, notes);
    const endedUs = options.stopwatch();
    notes.end(denial === undefined, endedUs - startedUs);
    startedUs = endedUs;
    if (denial === undefined) continue;
    noteEnds(state, denial.code);
    return denial;
  }
  state.gateEndedUs = startedUs;
  return undefined;
}

/** What the books will make of an approval; the journal must tell it, because it is read back without the view. */
function noteConsequence(order: Order, view: FundView, gate: GateName, notes: NoteBook): void {
  if (gate === "schema" && view.amends) notes.word(amendsInput, view.lowers === true ? lowersWord : "an open order");
  if (gate !== "static" || !obeysLimits(order, view)) return;
  const windowMs = repeatWindowMs(view);
  if (windowMs !== undefined) notes.count(windowInput, windowMs);
}

/** How long an approval counts for the throttle; undefined when the envelope has none. */
function repeatWindowMs({ envelope }: FundView): number | undefined {
  return envelope?.repeatedExecutionMax === undefined ? undefined : envelope.repeatedExecutionWindowMs;
}

function asksOfficer(view: FundView): boolean {
  return view.envelope?.croVetoEnabled === true && isNewRisk(view);
}

/** What the order names; a marked exit may come from a strategy that nobody knows any more. */
interface Named {
  readonly fund: FundBook;
  readonly book: SymbolBook;
}

/** It passed the schema gate, so everything is there. */
function assertNamed(found: Pick<Found, keyof Named>): asserts found is Named {
  if (found.fund === undefined || found.book === undefined) {
    throw new Defect("an order passed that names nothing we know");
  }
}

/** Whoever answers for its pace is of a strategy that is known: only marked exits need not be, and they do not. */
function mustHaveStrategy({ strategy }: Found): StrategyBook {
  if (strategy === undefined) throw new Defect("an order passed of a strategy that nobody knows");
  return strategy;
}

function countPace(state: EngineState, undo: CheckUndo, at: Instant): void {
  const { found } = state;
  assertNamed(found);
  const { fund } = found;
  const strategy = mustHaveStrategy(found);
  // The view was filled at this moment, and nothing was counted since. It does not know of a strategy that has left its fund meanwhile.
  const { strategyKnown, fundOrdersInSecond, strategyOrdersInSecond } = state.view;
  const ofStrategy = strategyKnown ? strategyOrdersInSecond : ordersInSecond(strategy, at);
  undo.pace = countOrder(fund, strategy, at, fundOrdersInSecond, ofStrategy);
}

function trip(state: EngineState, undo: CheckUndo, at: Instant): void {
  const { strategy } = state.found;
  if (strategy === undefined) throw new Defect("a throttle tripped of a strategy that nobody knows");
  if (strategy.trippedAt !== undefined) return;
  setTripped(state, strategy, at);
  undo.tripped = true;
}

/** Reserves what was approved, and counts it for the throttle when it answers for its pace. */
function hold(state: EngineState, order: Order, undo: CheckUndo, at: Instant, asker: Asker): void {
  const { view, books, orders, found } = state;
  const { direction, quantity } = view.terms;
  if (direction === 0 || quantity === undefined) throw new Defect("an order passed without a side or a quantity");
  assertNamed(found);
  const { fund, book } = found;
  const unsentUntil = instant.plusMilliseconds(at, state.options.approvalValidMs);
  if (found.open === undefined) {
    undo.replaced = orders.expired.size === 0 ? undefined : orders.expired.get(order.order_id);
    undo.reserved = reserve(books, orders, fund, book, order, direction, quantity, unsentUntil);
    undo.reserved.terms = rememberTerms(orders, order);
    undo.reserved.askedBy = asker.actor;
    undo.reserved.approvedAt = at;
  } else {
    if (amendRefusal(found.open, order) !== undefined)
      throw new Defect("an order passed that contradicts the one it amends");
    const terms = rememberTerms(orders, order);
    const amended = { quantity, terms, key: order.idempotency_key, approvedAt: at, unsentUntil };
    undo.amended = amend(books, orders, found.open, amended);
  }
  if (state.waitingExits.size > 0 && isPlatformExit(order, asker)) {
    undo.waiting = stopWaiting(state.waitingExits, fund.id, book.symbol, direction);
  }
  const { repeatWindowMs: windowMs } = undo;
  if (windowMs === undefined || !obeysLimits(order, view)) return;
  undo.approval = countApproval(mustHaveStrategy(found), { book, side: order.side, quantity, at, windowMs });
}

/** Gives back what this check holds, and nothing that others did since. */
function letGo(state: EngineState, order: Order, undo: CheckUndo): void {
  const { reserved, amended, replaced, waiting } = undo;
  undo.reserved = undefined;
  undo.replaced = undefined;
  undo.amended = undefined;
  undo.waiting = undefined;
  if (waiting !== undefined) putBack(state.waitingExits, waiting);
  const open = state.orders.open.get(order.order_id);
  if (reserved !== undefined && open === reserved) {
    unreserve(state.books, state.orders, reserved);
    if (replaced !== undefined) state.orders.expired.set(replaced.id, replaced);
  }
  if (amended !== undefined && open === amended.order) unamend(state.books, state.orders, amended);
}

/** Takes back what was counted. Books that were counted in stay for ever, so what is not there was not counted in. */
function uncount({ books }: EngineState, order: Order, undo: CheckUndo): void {
  const { pace, approval } = undo;
  undo.pace = undefined;
  undo.approval = undefined;
  const fund = books.funds.get(order.fund_id);
  const strategy = books.strategies.get(order.strategy_id);
  if (fund === undefined || strategy === undefined) return;
  if (pace !== undefined) uncountOrder(fund, strategy, pace);
  if (approval !== undefined) uncountApproval(strategy, approval);
}

/** What came out; `asked` is the first half, of a concluded check. */
function result(
  state: EngineState,
  order: Order,
  asker: Asker,
  at: Instant,
  outcome: Checked["outcome"],
  denial: Denial | undefined,
  keyHash: Hash,
  bodyHash: Hash,
  dryRun: boolean,
  undo: CheckUndo,
  asked: Checked | undefined,
): Checked {
  const { view, notes, packer, options } = state;
  const { generation } = notes;
  const isUnmarked = view.classification === "REDUCE" && order.reduce_only !== true;
  const closesLess = denial !== undefined && (view.classification === "FLIP" || isUnmarked || isMisfit(denial.code));
  const closingQuantityAllowed = closesLess && view.keySeen === "no" ? closingAllowed(view, order, at) : undefined;
  // Those that wait before their message is made keep what the next check would write over.
  const waits = outcome === "ask" || view.keySeen !== "no";
  const kept: NoteColumns | undefined = waits ? notes.copy() : undefined;
  const packed = waits ? packer.pack(view, at) : undefined;
  return {
    order,
    asker,
    at,
    outcome,
    duplicate: view.keySeen,
    dryRun,
    keyHash,
    bodyHash,
    gate: denial === undefined ? "" : lastGate(state),
    code: denial?.code ?? "",
    reason: denial?.reason ?? "",
    classification: view.classification,
    closingQuantityAllowed,
    reducesStrategy: outcome === "approved" && order.reduce_only === true && view.reducesStrategy,
    envelope: view.envelope,
    haltEpoch: view.haltEpoch,
    validUntil: outcome === "approved" ? instant.plusMilliseconds(at, options.approvalValidMs) : undefined,
    notes,
    generation,
    kept,
    undo,
    source: state,
    packed,
    asked,
  };
}

function lastGate({ notes }: EngineState): GateName | "" {
  return notes.gates[notes.gateCount - 1]?.gate ?? "";
}

/**
 * What a denied flip, or an order whose side does not fit, could close: what its strategy itself holds of its closing part, if a marked order of just that
 * would pass, else nothing. What is long is closed by SELL, whatever the order was; an amendment cannot become one.
 */
function closingAllowed(view: FundView, order: Order, at: Instant): Amount {
  const { quantity, notional } = view.terms;
  const { classification, closingQuantity, openingQuantity } = view;
  const most = ownClosing(view);
  if (isNothing(most)) return nothing;
  const total = plus(view.ownFilled, most);
  const side = order.side === "SELL_SHORT" && !view.amends ? "SELL" : order.side;
  const closing = { side, quantity: decimal.format(toDecimal(total)), notional: undefined, reduce_only: true };
  const probe: Order = { ...order, ...closing };
  view.terms.quantity = total;
  view.terms.notional = undefined;
  classify(view);
  const passes = view.classification === "REDUCE" && firstDenial(view, probe, at) === undefined;
  view.terms.quantity = quantity;
  view.terms.notional = notional;
  view.classification = classification;
  view.closingQuantity = closingQuantity;
  view.openingQuantity = openingQuantity;
  return passes ? most : nothing;
}

/** What gates 2 to 6 would say, without a trace. */
export function firstDenial(view: FundView, order: Order, at: Instant): Denial | undefined {
  for (const gate of gatesOfProbe) {
    const denial = gate.decide(order, view, at, noNotes);
    if (denial !== undefined) return denial;
  }
  return undefined;
}
