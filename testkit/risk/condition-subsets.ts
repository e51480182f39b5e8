// Every set of the conditions that deny new risk, stood up in a small engine, and what it then answers: the code, the gate, the sentence, and every
// figure that a gate noted. The answers are committed (condition-answers.json.gz), so that a change of how conditions are kept changes none of them; where
// one is meant to change, `npx tsx testkit/risk/condition-subsets.ts` records them anew.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { decisionMessage } from "../../core/engine/decision.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import { lossConditions } from "../../core/losses/loss-standing.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import {
  engineFixture,
  envelopeRecord,
  hold,
  markOf,
  moment,
  orderOf,
  reference,
  startOfDay,
  transitionOf,
} from "./engine-fixture.ts";

/** A bit of a subset's number each; those that an engine cannot lose again come last, so that they are set up once. */
const conditionCodes = [
  "AUDIT_UNAVAILABLE",
  "DISK_LOW",
  "UNAUDITED_CHANGE",
  "LOSS_CONFIRMATION_PENDING",
  "LOSS_NOT_JUDGED",
  "SYMBOL_BLOCKED",
  "RESTRICTIONS_UNKNOWN",
  "STRATEGY_SHADOWED",
  "NEWS_COOLDOWN",
  "AGGRESSIVE_THROTTLED",
  "THROTTLE_TRIPPED",
  "CORPORATE_ACTION_UNDER_WAY",
  "FILL_NOT_ACCEPTED",
] as const;
type ConditionCode = (typeof conditionCodes)[number];
export const subsetCount = 2 ** conditionCodes.length;

const open = orderOf("open", { idempotency_key: "key-first", symbol: "AAPL", quantity: "50" });

/** What is asked: new risk of both kinds, a reduction unmarked and marked, one of a strategy that holds nothing, one order that is only lowered, one that crosses zero. */
export const askedOrders: Readonly<Record<string, Partial<Order>>> = {
  increase: { side: "BUY", quantity: "10" },
  passive: { side: "BUY", quantity: "10", order_type: "LIMIT", limit_price: "195" },
  reduce: { side: "SELL", quantity: "10" },
  exit: { side: "SELL", quantity: "10", reduce_only: true },
  "exit of another": { side: "SELL", quantity: "10", reduce_only: true, strategy_id: "value" },
  lowers: { ...open, idempotency_key: "key-lower", quantity: "20" },
  flip: { side: "SELL", quantity: "150" },
};

const halt = (severity: ActiveHalt["severity"], strategy_id?: string): ActiveHalt => ({
  halt_id: `h-${severity}`,
  severity,
  fund_id: "alpha",
  reason: "drill",
  epoch: 2,
  since: format(startOfDay),
  requested_by: "t",
  ...(strategy_id !== undefined && { strategy_id }),
});

/** What else may be the matter at the same time. */
export const circumstances: Readonly<Record<string, (engine: Engine) => void>> = {
  ordinary: () => undefined,
  "no exits in halts": (engine) =>
    engine.setEnvelope(
      compileEnvelope(envelopeRecord("alpha", { version: 2, strict_sides: false, halt_allow_reduce_only: false })),
    ),
  "halts unknown": (engine) => engine.setHalts({ known: false, epoch: 2, active: [] }),
  "fund halted": (engine) => engine.setHalts({ known: true, epoch: 2, active: [halt("FUND_HALT")] }),
  "strategy halted": (engine) => engine.setHalts({ known: true, epoch: 2, active: [halt("STRATEGY_HALT", "trend")] }),
  "no value": (engine) =>
    engine.setNav({ fund_id: "alpha", nav: "0", currency: "USD", as_of: format(plusMilliseconds(startOfDay, 1)) }),
  "symbol restricted": (engine) =>
    engine.setReference({ ...reference, restricted: [{ symbol: "AAPL", reason: "insider" }] }),
};

const restriction = (kind: Restriction["kind"], scope: Partial<Restriction>): Restriction => ({
  restrictionId: `r-${kind}`,
  kind,
  watchdog: "vpin",
  episodeId: `e-${kind}`,
  since: startOfDay,
  ...scope,
});

/** Sets up what a subset names, as the sources hand it in, where it differs from what stood before. The last two codes an engine is made with. */
function standUp(engine: Engine, subset: number, before: number): void {
  const stands = has(subset);
  const differs = has(subset ^ before);
  for (const [code, standing] of handedIn) {
    if (differs(code)) engine.setConditions(code, stands(code) ? [{ code, ...standing }] : []);
  }
  if (differs("LOSS_NOT_JUDGED") || differs("LOSS_CONFIRMATION_PENDING")) {
    const judgedUntil = stands("LOSS_NOT_JUDGED") ? undefined : moment(1_000_000);
    const losses = { judgedUntil, reason: "daily: no baseline", isPending: stands("LOSS_CONFIRMATION_PENDING") };
    engine.setConditions("losses of alpha", lossConditions("alpha", losses));
  }
  if (restrictions.some(([code]) => differs(code))) {
    engine.setRestrictions(restrictions.flatMap(([code, one]) => (stands(code) ? [one] : [])));
  }
  if (!differs("THROTTLE_TRIPPED")) return;
  if (stands("THROTTLE_TRIPPED")) trip(engine);
  else engine.releaseThrottle("trend");
}

const handedIn: readonly (readonly [ConditionCode, Omit<StandingCondition, "code">])[] = [
  ["AUDIT_UNAVAILABLE", { reason: "The audit log is behind the outbox", from: moment(-1) }],
  ["DISK_LOW", { reason: "The disk of /data has 900 MB free" }],
  ["UNAUDITED_CHANGE", { reason: "A change has no event: h-1 of halt was removed" }],
  ["SYMBOL_BLOCKED", { fundId: "alpha", symbol: "AAPL", reason: "We have 100, the broker has 90." }],
  ["RESTRICTIONS_UNKNOWN", { reason: "" }],
];

const restrictions: readonly (readonly [ConditionCode, Restriction])[] = [
  ["STRATEGY_SHADOWED", restriction("SHADOW", { fundId: "alpha", strategyId: "trend" })],
  ["NEWS_COOLDOWN", restriction("COOLDOWN", { fundId: "alpha", symbol: "AAPL" })],
  ["AGGRESSIVE_THROTTLED", restriction("THROTTLE", { symbol: "AAPL" })],
];

function trip(engine: Engine): void {
  const order = orderOf("tripping");
  const decision = decisionMessage(engine.check({ ...order, dry_run: true }, startOfDay), "d");
  const denied = { approved: false, rejecting_gate: "static", code: "THROTTLE_TRIPPED", checks: [] };
  engine.adoptDecision(order, { ...decision, ...denied }, startOfDay);
}

/** With a position, an open order, and what cannot be taken back. */
function engineWith(stands: (code: ConditionCode) => boolean): Engine {
  const engine = engineFixture({ strict_sides: false });
  hold(engine, "alpha", "AAPL", "100");
  engine.check(open, startOfDay);
  engine.applyTransition(transitionOf(open, "WORKING"));
  engine.setMark({ ...markOf("AAPL", "200", startOfDay), bid: "199", ask: "201" });
  if (stands("FILL_NOT_ACCEPTED")) {
    const block = { cause: "FILL_OUTSIDE_COLLAR", fund_id: "alpha", at: format(startOfDay) } as const;
    engine.acceptance.open({ ...block, block_id: "b-1", symbol: "AAPL", reason: "Fill f-1 is far off." });
    engine.acceptance.open({ ...block, block_id: "b-2", reason: "Fills are held." });
  }
  if (stands("CORPORATE_ACTION_UNDER_WAY")) {
    const reason = "corporate action split-1 (SPLIT) is under way";
    engine.setHeldSymbols([{ symbol: "AAPL", reason, since: startOfDay }]);
  }
  return engine;
}

/** All that the engine says of it. */
function answerOf(engine: Engine, asked: Partial<Order>): string {
  const checked = engine.check({ ...orderOf("asked", asked), dry_run: true }, startOfDay);
  const {
    rejecting_gate: gate,
    code,
    reason,
    checks,
    closing_quantity_allowed: closing,
  } = decisionMessage(checked, "d");
  const notes = checks.map((check) => [
    check.gate,
    check.result,
    ...check.figures.map(({ name, value, age_ms: age }) => `${name}=${value}${age === undefined ? "" : `@${age}`}`),
  ]);
  return JSON.stringify([gate, code, reason, closing ?? "", notes]);
}

/** Every subset's answer to one order under one circumstance, in the order of the subsets' numbers. */
function* answersTo(circumstance: string, asked: string): Generator<readonly [subset: number, answer: string]> {
  const order = askedOrders[asked];
  const change = circumstances[circumstance];
  if (order === undefined || change === undefined) throw new Error(`nobody asks ${asked} when ${circumstance}`);
  const firstLasting = conditionCodes.length - 2;
  for (let lasting = 0; lasting < 4; lasting += 1) {
    const offset = lasting << firstLasting;
    const engine = engineWith(has(offset));
    change(engine);
    let before = offset;
    for (let rest = 0; rest < 1 << firstLasting; rest += 1) {
      const subset = offset | rest;
      standUp(engine, subset, before);
      before = subset;
      yield [subset, answerOf(engine, order)];
    }
  }
}

const has =
  (subset: number) =>
  (code: ConditionCode): boolean =>
    (subset & (1 << conditionCodes.indexOf(code))) !== 0;

/** Each answer once, and by circumstance and order the number of every subset's answer, two bytes each. */
interface Recorded {
  readonly answers: readonly string[];
  readonly numbers: Readonly<Record<string, string>>;
}

const file = join(import.meta.dirname, "condition-answers.json.gz");
let recorded: Recorded | undefined;

/** Compares every subset's answer with the committed one; how many there were. */
export function expectAnswers(circumstance: string, asked: string): number {
  recorded ??= JSON.parse(gunzipSync(readFileSync(file)).toString());
  const { answers, numbers } = recorded as Recorded;
  const own = Buffer.from(numbers[`${circumstance}: ${asked}`] ?? "", "base64");
  let compared = 0;
  for (const [subset, answer] of answersTo(circumstance, asked)) {
    const before = answers[own.readUInt16LE(subset * 2)];
    if (answer !== before) {
      const standing = conditionCodes.filter((_code, bit) => (subset & (1 << bit)) !== 0);
      throw new Error(`${asked}, ${circumstance}, under ${standing.join(" ")}: ${answer} instead of ${before}`);
    }
    compared += 1;
  }
  return compared;
}

function recordAnswers(): Recorded {
  const places = new Map<string, number>();
  const placeOf = (answer: string): number => {
    const place = places.get(answer) ?? places.size;
    places.set(answer, place);
    return place;
  };
  const asked = Object.keys(circumstances).flatMap((circumstance) =>
    Object.keys(askedOrders).map((order) => [circumstance, order] as const),
  );
  const numbers = asked.map(([circumstance, order]) => {
    const own = Buffer.alloc(subsetCount * 2);
    for (const [subset, answer] of answersTo(circumstance, order)) own.writeUInt16LE(placeOf(answer), subset * 2);
    return [`${circumstance}: ${order}`, own.toString("base64")];
  });
  return { answers: [...places.keys()], numbers: Object.fromEntries(numbers) };
}

const isRun = pathToFileURL(process.argv[1] ?? "").href === import.meta.url;
if (isRun) writeFileSync(file, gzipSync(JSON.stringify(recordAnswers()), { level: 9 }));
