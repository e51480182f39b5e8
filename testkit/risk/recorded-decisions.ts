// Decisions as they were recorded, in every form that is still read, committed (recorded-decisions.json.gz): forms 9 to 12 by the engines of then, the
// newest by today's. `npx tsx testkit/risk/recorded-decisions.ts` records 500 more by today's rules, after they were raised.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import * as decimal from "../../contracts/src/decimal.ts";
import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { lossConditions } from "../../core/losses/loss-standing.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { engineOptions } from "./engine-fixture.ts";
import { type Life, randomLife } from "./random-life.ts";

export interface RecordedDecision {
  readonly order: Order;
  readonly decision: Pick<RiskDecision, "approved" | "rejecting_gate" | "code" | "reason">;
  readonly inputs: Uint8Array;
  readonly envelope: RiskEnvelope;
}

const file = join(import.meta.dirname, "recorded-decisions.json.gz");
const livesMax = 60;
const stepsOfLife = 220;
/** Of those that no envelope decides there are many, and they say little. */
const unjudgedMax = 3;
const sameMax = 40;

export function readRecordedDecisions(): readonly RecordedDecision[] {
  const records: (Omit<RecordedDecision, "inputs"> & { readonly inputs: string })[] = JSON.parse(
    gunzipSync(readFileSync(file)).toString(),
  );
  return records.map((record) => ({ ...record, inputs: new Uint8Array(Buffer.from(record.inputs, "base64")) }));
}

function writeRecordedDecisions(records: readonly RecordedDecision[]): void {
  const plain = records.map((record) => ({ ...record, inputs: Buffer.from(record.inputs).toString("base64") }));
  writeFileSync(file, gzipSync(JSON.stringify(plain), { level: 9 }));
}

/** Decisions of random lives in which conditions come and go; as many kinds as there are, before more of one kind. */
function recordDecisions(count: number): readonly RecordedDecision[] {
  const byKind = new Map<string, RecordedDecision[]>();
  for (let seed = 1; seed <= livesMax; seed += 1) recordLife(prng(seed * 1_000 + 13), byKind);
  const chosen: RecordedDecision[] = [];
  for (let n = 0; n < sameMax && chosen.length < count; n += 1) {
    chosen.push(...[...byKind.values()].flatMap((kind) => kind[n] ?? []).slice(0, count - chosen.length));
  }
  return chosen;
}

function recordLife(rolls: Prng, byKind: Map<string, RecordedDecision[]>): void {
  const life = randomLife(rolls.fork("life"));
  const own = rolls.fork("conditions");
  const engine = createEngine(engineOptions);
  life.introduce(engine);
  for (let step = 0; step < stepsOfLife; step += 1) {
    if (own.chance(0.25)) changeConditions(engine, life, own);
    const before = life.decided.length;
    life.step([engine]);
    for (const { order, checked, decision, inputs, envelope } of life.decided.slice(before)) {
      // Judged under two envelopes, it is decided again by neither alone.
      const isOfTwo = checked.asked !== undefined && checked.asked.envelope !== checked.envelope;
      if (envelope === undefined || isOfTwo) continue;
      const stored = RiskDecision.decode(RiskDecision.encode(decision).finish());
      const { approved, rejecting_gate, code, reason, classification } = stored;
      const isUnjudged = rejecting_gate === "idempotency" || rejecting_gate === "schema";
      const kind = isUnjudged ? rejecting_gate : [code, classification, order.symbol, order.reduce_only].join(" ");
      const same = byKind.get(kind) ?? [];
      byKind.set(kind, same);
      if (same.length >= (isUnjudged ? unjudgedMax : sameMax)) continue;
      const asked = Order.decode(Order.encode(order).finish());
      same.push({ order: asked, decision: { approved, rejecting_gate, code, reason }, inputs, envelope });
    }
  }
}

function changeConditions(engine: Engine, { at }: Life, rolls: Prng): void {
  const pick = <Value>(values: readonly Value[]): Value => values[rolls.below(values.length)] as Value;
  const fundId = pick(["alpha", "beta", "gamma"]);
  const changes: readonly StandingCondition[] = [
    { code: "AUDIT_UNAVAILABLE", reason: "The audit log is behind the outbox since 13:29", from: at },
    { code: "DISK_LOW", reason: "The disk of /data has 900 MB free, and disk.new_risk_mb asks for 1000 MB" },
    { code: "UNAUDITED_CHANGE", reason: "A change has no event: h-1 of halt was removed" },
    { code: "RESTRICTIONS_UNKNOWN", reason: "" },
    { code: "SYMBOL_BLOCKED", fundId, symbol: pick(["AAPL", "SPY"]), reason: "We have 10, the broker has 12." },
    { code: "FILL_NOT_ACCEPTED", fundId, symbol: pick(["AAPL", "XOM", undefined]), reason: "Fill f is far off." },
  ];
  const standing = pick(changes);
  const choice = rolls.below(9);
  if (choice < 6) engine.setConditions(standing.code, rolls.chance(0.4) ? [standing] : []);
  else if (choice === 6) {
    const judgedUntil = rolls.chance(0.3) ? undefined : plusMilliseconds(at, rolls.below(9_000_000));
    const losses = { judgedUntil, reason: "daily: no baseline", isPending: rolls.chance(0.3) };
    engine.setConditions(`losses of ${fundId}`, lossConditions(fundId, losses));
  } else if (choice === 7) {
    const reason = "corporate action split-1 (SPLIT) is under way";
    engine.setHeldSymbols(rolls.chance(0.3) ? [{ symbol: pick(["XOM", "MSFT"]), reason, since: at }] : []);
  } else engine.setRestrictions(someRestrictions(fundId, at, rolls, pick));
}

function someRestrictions(
  fundId: string,
  since: Restriction["since"],
  rolls: Prng,
  pick: <Value>(values: readonly Value[]) => Value,
): readonly Restriction[] {
  const named = (kind: Restriction["kind"], scope: Partial<Restriction>): Restriction => ({
    restrictionId: `r-${kind}`,
    kind,
    watchdog: pick(["vpin", "news_spike"]),
    episodeId: "e-1",
    since,
    ...scope,
  });
  const [factor, base] = [decimal.parse("0.5"), decimal.parse("400000")];
  return [
    named("THROTTLE", { symbol: pick(["AAPL", "BTC-USD", "SPY", "MSFT"]) }),
    named("COOLDOWN", { fundId, symbol: pick(["AAPL", "XOM", "SPY"]) }),
    named(
      "SHADOW",
      pick([
        { fundId: "alpha", strategyId: "value" },
        { fundId: "beta", strategyId: "coins" },
      ]),
    ),
    named("GROSS", { fundId, factor, base }),
    named("NO_SHORT_OPTIONS", { fundId }),
  ].filter(() => rolls.chance(0.35));
}

const isRun = pathToFileURL(process.argv[1] ?? "").href === import.meta.url;
if (isRun) writeRecordedDecisions([...(existsSync(file) ? readRecordedDecisions() : []), ...recordDecisions(500)]);
