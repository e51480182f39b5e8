// What must hold for every life of an engine, checked after every step of a random one. The short suite runs a few lives, the long one
// thousands; a seed that fails can be run alone.
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { Order as OrderMessage, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { replayDecision } from "../../core/engine/replay.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import { prng } from "../virtual/prng.ts";
import { engineOptions } from "./engine-fixture.ts";
import { brokenLimits, type NaiveBooks, naiveExposure, naiveRules, sectorOf } from "./naive-model.ts";
import { type Decided, type Life, randomLife, text } from "./random-life.ts";

const pendingMaxForTrying = 9;
const fundIds = ["alpha", "beta", "gamma"] as const;

/** How often each thing was seen, so that a test can tell that it saw anything at all. */
export interface Seen {
  approvals: number;
  denials: number;
  asked: number;
  tried: number;
  replayed: number;
  withdrawn: number;
  restored: number;
  lowered: number;
  readonly codes: Set<string>;
}

export function nothingSeen(): Seen {
  const decided = { approvals: 0, denials: 0, asked: 0, lowered: 0 };
  return { ...decided, tried: 0, replayed: 0, withdrawn: 0, restored: 0, codes: new Set() };
}

/** Compares first and explains only what differs: explaining costs a hundred times more, and a life has thousands of comparisons. */
function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what).toStrictEqual(expected);
}

function introduced(life: Life): Engine {
  const engine = createEngine(engineOptions);
  life.introduce(engine);
  return engine;
}

/** One life: the engine equals the model after every step, and every property below holds. */
export function liveOnce(seed: number, steps: number, seen: Seen): void {
  const rolls = prng(seed);
  const life = randomLife(rolls.fork("life"));
  const engines = [introduced(life)];
  const [engine] = engines as [Engine];
  const own = rolls.fork("properties");
  const restoreAt = own.below(steps);
  for (let step = 0; step < steps; step += 1) {
    if (step >= restoreAt && engines.length === 1 && life.asked.length === 0) {
      engines.push(restored(engine, life));
      seen.restored += 1;
    }
    if (own.chance(0.2)) withdrawsExactly(engine, life, own.below(4) + 1, seen);
    const decidedBefore = life.decided.length;
    life.step(engines);
    const books = life.books();
    for (const one of engines) equalsModel(one, life, books);
    for (const decided of life.decided.slice(decidedBefore)) judge(decided, life, books, seen);
    // A second engine that began from a snapshot says the same, to the last byte.
    if (engines[1] !== undefined) same(engines[1].snapshot(), engine.snapshot(), "the restored engine");
  }
  seen.asked += life.decided.filter(({ checked }) => checked.undo.sequence > 0 && checked.gate === "cro_veto").length;
  equalsJournal(engine, life);
}

function restored(engine: Engine, life: Life): Engine {
  const snapshot = JSON.parse(JSON.stringify(engine.snapshot()));
  const twin = createEngine(engineOptions);
  twin.restore(snapshot);
  life.introduce(twin);
  expect(JSON.stringify(twin.snapshot())).toBe(JSON.stringify(engine.snapshot()));
  return twin;
}

function equalsModel(engine: Engine, life: Life, books: NaiveBooks): void {
  for (const fundId of fundIds) {
    same(engine.exposure(fundId), naiveExposure(books, life.tables, fundId), `the exposure of ${fundId}`);
  }
  const snapshot = engine.snapshot();
  const positions = snapshot.funds.flatMap(({ fund_id, positions: held }) =>
    held.map(([symbol, quantity]) => `${fund_id} ${symbol} ${quantity}`),
  );
  const expected = [...books.positions].flatMap(([fund, held]) =>
    [...held].map(([symbol, quantity]) => `${fund} ${symbol} ${text(quantity)}`),
  );
  same(positions, expected.sort(), "positions");
  const open = [...books.open.values()].map((order) => ({
    order_id: order.order.order_id,
    quantity: text(order.quantity),
    amendments: order.waiting.map(({ quantity }) => text(quantity)),
    filled: text(order.filled),
    ended: order.ended,
    filled_told: text(order.reported),
  }));
  const shown = snapshot.orders.map(({ order_id, quantity, amendments, filled, ended, filled_told }) => {
    return { order_id, quantity, amendments, filled, ended, filled_told };
  });
  same(
    shown,
    open.sort((left, right) => (left.order_id < right.order_id ? -1 : 1)),
    "open orders",
  );
}

/**
 * No approval of new risk in a halt; no approval that some set of fills would turn into a broken limit; nothing keeps an order from being
 * lowered; every decision replays.
 */
function judge(decided: Decided, life: Life, books: NaiveBooks, seen: Seen): void {
  const { order, checked, decision, inputs, envelope, halted } = decided;
  for (const twin of decided.twins) same(twin, decision, "the restored engine's decision");
  if (decision.approved) seen.approvals += 1;
  else seen.denials += 1;
  seen.codes.add(decision.code);
  if (decided.lowers) {
    // What is no order, or was asked before, is still refused; nothing else is.
    expect(["", "idempotency", "schema"], `${order.order_id} could not be lowered`).toContain(decision.rejecting_gate);
    if (decision.approved) seen.lowered += 1;
  } else if (decision.approved) {
    // Judged at the moment of the decision: the books here are those after it, and a dry run leaves them as they were.
    if (!checked.dryRun) expect(brokenRules(decided, life, books), `${order.order_id} was approved`).toEqual([]);
  }
  if (!decided.lowers && decision.approved && decision.classification !== "REDUCE") {
    expect(halted, `${order.order_id} was approved in a halt`).toBe(false);
    if (!checked.dryRun) staysWithin(order, life, books, seen);
  }
  if (envelope === undefined) return;
  const record = {
    order: OrderMessage.decode(OrderMessage.encode(order).finish()),
    decision: RiskDecision.decode(RiskDecision.encode(decision).finish()),
    inputs,
  };
  const again = replayDecision(record, compileEnvelope(envelope));
  if (decision.rejecting_gate === "idempotency" || decision.rejecting_gate === "schema") {
    expect(again).toBe("NO_LIMIT_DECIDES");
    return;
  }
  // Its pace was judged under the limits of then and the rest under those of the officer's answer: no single version replays it.
  const asked = checked.asked?.envelope?.version;
  if (typeof again === "string") throw new Error(`${order.order_id} is not decided again: ${again}`);
  const isOfTwo = asked !== undefined && asked !== decision.envelope_version;
  if (isOfTwo && paceCodes.has(again.code)) return;
  seen.replayed += 1;
  const { approved, rejecting_gate: gate, code, reason } = decision;
  same(again, { approved, gate, code, reason }, "the replayed decision");
}

const paceCodes: ReadonlySet<string> = new Set(["ORDER_RATE_EXCEEDED", "OPEN_ORDERS_EXCEEDED", "THROTTLE_TRIPPED"]);

/** The rules of sides, sizes and prices that an approved order breaks, as anybody would say them. */
function brokenRules(
  { order, envelope, checked, decision }: Decided,
  life: Life,
  books: NaiveBooks,
): readonly string[] {
  if (envelope === undefined) return ["no envelope"];
  const broken = naiveRules(books, life.tables, envelope, order);
  // The officer's answer came later: size and price were judged when it was asked.
  if (checked.asked !== undefined) return broken.filter((rule) => rule === "side" || rule === "own");
  const isUncollared = decision.checks.some(({ figures }) => figures.some(({ name }) => name === "exit_collar"));
  return broken.filter((rule) => rule !== "price" || !isUncollared);
}

function staysWithin(order: Decided["order"], life: Life, books: NaiveBooks, seen: Seen): void {
  const pending = [...books.open.values()].filter((open) => open.order.fund_id === order.fund_id);
  if (pending.length > pendingMaxForTrying) return;
  seen.tried += 1;
  const sector = sectorOf(life.tables, order.symbol);
  const listed = life.tables.reference.instruments.find(({ symbol }) => symbol === order.symbol);
  const group = `underlying ${listed?.underlying ?? order.symbol}`;
  const own = [`position ${order.symbol}`, group, "gross", "net", `sector ${sector}`];
  const broken = brokenLimits(books, life.tables, order.fund_id).filter((limit) => own.includes(limit));
  expect(broken, `${order.order_id} could break`).toEqual([]);
}

/** Several decisions, taken back newest first, leave nothing behind; asked again they are decided the same. */
function withdrawsExactly(engine: Engine, life: Life, count: number, seen: Seen): void {
  const before = JSON.stringify(engine.snapshot());
  const keysBefore = engine.facts().keys;
  const exposureBefore = fundIds.map((fundId) => engine.exposure(fundId));
  const orders = Array.from({ length: count }, () => life.order());
  const decide = () => orders.map((order) => engine.check(order, life.at));
  const first = decide();
  for (const checked of first.toReversed()) engine.withdraw(checked);
  expect(JSON.stringify(engine.snapshot())).toBe(before);
  expect(engine.facts().keys).toBe(keysBefore);
  same(
    fundIds.map((fundId) => engine.exposure(fundId)),
    exposureBefore,
    "exposure after withdrawing",
  );
  const second = decide();
  for (const checked of second.toReversed()) engine.withdraw(checked);
  const answered = ({ outcome, code, reason, at }: Decided["checked"]) => ({ outcome, code, reason, at });
  same(second.map(answered), first.map(answered), "what was asked again");
  expect(JSON.stringify(engine.snapshot())).toBe(before);
  seen.withdrawn += count;
}

/** The books rebuilt from the journal alone. */
function equalsJournal(engine: Engine, life: Life): void {
  if (life.asked.length > 0) return;
  const fresh = introduced(life);
  for (const entry of life.entries) {
    if (entry.kind === "decision") fresh.adoptDecision(entry.order, entry.decision, entry.at);
    else if (entry.kind === "fill") fresh.applyFill(entry.fill);
    else if (entry.kind === "transition") fresh.applyTransition(entry.transition);
    else fresh.releaseThrottle(entry.strategyId);
  }
  same(fresh.snapshot(), engine.snapshot(), "the books rebuilt from the journal");
}
