// Limits and throttles on the whole shell: who may change them when, and what is left of every attempt.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../contracts/src/fault.ts";
import type { RiskEnvelope } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { Headroom } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { RiskEnvelope as EnvelopeRecord } from "../../contracts/src/records/envelope.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeHashText } from "../../core/envelope/envelope.ts";
import type { Identity } from "../../ports/identity.ts";
import { giveProof } from "../../testkit/memory/units/step-up.ts";
import {
  type EngineLife,
  machine,
  operator,
  type RiskEngineFixture,
  relief,
  riskEngineFixture,
} from "../../testkit/risk/service-fixture.ts";
import { envelopeAction } from "./envelope-proof.ts";

const seed = 13;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed });
  return [fixture, await fixture.start()];
}

const firm = { severity: "FIRM_HALT", fund_id: "", reason: "drill", requested_by: "", confirmation: "HALT" };
const current = (fixture: RiskEngineFixture, life: EngineLife): Promise<RiskEnvelope> =>
  fixture.finish(life.call("GetEnvelope", { fund_id: "alpha" }) as Promise<RiskEnvelope>);

async function update(fixture: RiskEngineFixture, life: EngineLife, change: Partial<RiskEnvelope>): Promise<unknown> {
  const before = await current(fixture, life);
  return proved(fixture, life, { reason: "review", ...before, version: before.version + 1, ...change });
}

/** With a proof of the second factor for exactly this, whether it is needed or not. */
function proved(fixture: RiskEngineFixture, life: EngineLife, asked: RiskEnvelope, identity: Identity = operator) {
  return fixture.finish(life.call("UpdateEnvelope", asked, identity, proofFor(fixture, asked, identity)));
}

function proofFor(fixture: RiskEngineFixture, asked: RiskEnvelope, identity: Identity = operator): string {
  return giveProof(fixture.tables.stepUps, { identity, named: envelopeAction(asked), at: fixture.time.clock.now() });
}

describe("GetEnvelope", () => {
  it("gives the newest version, and NOT_FOUND for a fund without one", async () => {
    const [fixture, life] = await begin();
    expect(await current(fixture, life)).toMatchObject({ fund_id: "alpha", version: 1, max_position_pct: 0.07 });
    const none = life.call("GetEnvelope", { fund_id: "delta" });
    expect(await fixture.finish(none.catch((thrown: Fault) => thrown.code))).toBe("NOT_FOUND");
  });
});

describe("UpdateEnvelope", () => {
  it("27.6: refuses a limit for a sector that no instrument has where it is added, and lets one that stands be", async () => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const known = Object.keys(before.sector_limits_pct);
    const sector_limits_pct = { ...before.sector_limits_pct, teck: 0.01 };
    const refused = await update(fixture, life, { sector_limits_pct });
    expect(refused).toMatchObject({
      denial: {
        code: "ENVELOPE_INVALID",
        reason: expect.stringContaining('No instrument is in the sector "teck"'),
      },
    });
    expect(refused).toMatchObject({ denial: { reason: expect.stringContaining(known[0] ?? "There are") } });
    expect((await current(fixture, life)).version).toBe(before.version);
  });

  it("writes who, when, why and the hash, publishes it, and the next check follows it", async () => {
    const [fixture, life] = await begin();
    const asked = { max_notional: 1_000, reason: "tighter", updated_by: "operator:somebody", hash: "f".repeat(64) };
    const answer = (await update(fixture, life, asked)) as EnvelopeRecord;
    expect(answer).toMatchObject({ version: 2, max_notional: 1_000, updated_by: "operator:duty", reason: "tighter" });
    const published = fixture.published(subjects.envelopeUpdated).at(-1) as EnvelopeRecord;
    expect(published).toMatchObject({ version: 2, updated_by: "operator:duty" });
    expect(published.hash).toBe(createHash("sha256").update(envelopeHashText(published)).digest("hex"));
    expect(await fixture.finish(life.check({}))).toMatchObject({ code: "NOTIONAL_ABOVE_MAX", envelope_version: 2 });
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([{ verb: "UpdateEnvelope", allowed: true }]);
  });

  it.each([
    ["a version that is not the next", { version: 5 }, "ENVELOPE_VERSION_CONFLICT", "is 2"],
    ["limits out of range", { max_position_pct: -1 }, "ENVELOPE_INVALID", "max_position_pct"],
    ["an unknown fund", { fund_id: "delta", version: 1 }, "ENVELOPE_INVALID", "delta"],
  ])("refuses %s, and the attempt is recorded", async (_name, change, code, words) => {
    const [fixture, life] = await begin();
    const answer = await update(fixture, life, change);
    expect(answer).toMatchObject({ denial: { code, reason: expect.stringContaining(words) } });
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([
      { verb: "UpdateEnvelope", allowed: false, code },
    ]);
    expect(fixture.published(subjects.envelopeUpdated).filter(({ version }) => version > 1)).toEqual([]);
    expect(await current(fixture, life)).toMatchObject({ version: 1 });
  });

  const scope = { fund: { severity: "FUND_HALT", fund_id: "alpha" }, strategy: { severity: "STRATEGY_HALT" } };
  const changes = {
    loosening: { max_position_pct: 0.08 },
    mixed: { max_position_pct: 0.08, max_notional: 1_000 },
    // Exits in a halt are something that a halt was to stop.
    "off and on again": { halt_allow_reduce_only: true },
    tightening: { max_notional: 1_000, halt_allow_reduce_only: false },
  };
  // Every kind of halt that has a say about the fund, and those that have none.
  it.each([
    ["the firm's", firm, "refuses"],
    ["the fund's", { ...firm, ...scope.fund }, "refuses"],
    ["one of its strategies'", { ...firm, ...scope.strategy, strategy_id: "alpha-meanrev" }, "refuses"],
    ["another fund's", { ...firm, ...scope.fund, fund_id: "beta" }, "lets"],
    ["a strategy's of another fund", { ...firm, ...scope.strategy, strategy_id: "beta-trend" }, "lets"],
  ])(
    "under a halt, %s: loosening and mixed are refused with the fields and the halt, tightening passes",
    async (...row) => {
      const [_name, halt, verdict] = row;
      const [fixture, life] = await begin();
      await update(fixture, life, { halt_allow_reduce_only: false });
      await fixture.finish(life.call("RequestHalt", { ...halt, halt_id: "h-1" }));
      let version = 2;
      for (const [kind, change] of Object.entries(changes)) {
        const answer = await update(fixture, life, change);
        if (verdict === "lets" || kind === "tightening") {
          version += 1;
          expect(answer, kind).toMatchObject({ version });
          continue;
        }
        const [field] = Object.keys(change);
        expect(answer, kind).toMatchObject({
          denial: {
            code: "LOOSENING_DURING_HALT",
            reason: expect.stringMatching(new RegExp(`${field}.*h-1`)),
            loosens: expect.arrayContaining([field]),
          },
        });
      }
      expect(await current(fixture, life)).toMatchObject({
        version,
        max_notional: 1_000,
        halt_allow_reduce_only: false,
      });
      const refusals = fixture.published(subjects.operatorAttempted).filter(({ allowed }) => !allowed);
      expect(refusals.map(({ code }) => code)).toEqual(
        verdict === "lets" ? [] : Array(3).fill("LOOSENING_DURING_HALT"),
      );
    },
  );

  it("a halt that is latched while the update is under way comes first or after, never in between", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 10;
    const before = await current(fixture, life);
    const next = { ...before, version: 2, max_position_pct: 0.08, reason: "more room" };
    const asked = life.call("UpdateEnvelope", next, operator, proofFor(fixture, next));
    const halt = life.call("RequestHalt", firm);
    const [answer] = await fixture.finish(Promise.all([asked, halt]));
    const isDenied = "denial" in (answer as object);
    const applied = (await current(fixture, life)).version === 2;
    expect(isDenied).toBe(!applied);
  });

  it("two at once: one wins, the other is told", async () => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const answers = await fixture.finish(
      Promise.all(
        [0.05, 0.06].map((max_position_pct) =>
          life.call("UpdateEnvelope", { ...before, version: 2, max_position_pct }),
        ),
      ),
    );
    const codes = answers.map((answer) => (answer as { denial?: { code: string } }).denial?.code ?? "written");
    expect(codes.sort()).toEqual(["ENVELOPE_VERSION_CONFLICT", "written"]);
  });

  it("a lost answer to its commit is written all the same", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.envelope", ["lost, committed"]);
    expect(await update(fixture, life, { max_notional: 5 })).toMatchObject({ version: 2 });
    expect(await current(fixture, life)).toMatchObject({ version: 2, max_notional: 5 });
  });
});

describe("22.6: loosening costs more than tightening", () => {
  const tightening = { max_notional: 1_000, max_position_pct: 0.01, shorting_enabled: false, reason: "" };
  const loosening = { max_position_pct: 0.08, allowed_brokers: ["paper", "alpaca"] };
  const bare = async (fixture: RiskEngineFixture, life: EngineLife, change: Partial<RiskEnvelope>, proof?: string) => {
    const before = await current(fixture, life);
    const { reason: _, ...asked } = { ...before, version: before.version + 1, ...change };
    const message = change.reason === undefined ? asked : { ...asked, reason: change.reason };
    return fixture.finish(life.call("UpdateEnvelope", message, operator, proof));
  };
  const redeemed = (fixture: RiskEngineFixture) => fixture.published(subjects.stepUpRedeemed);

  it("tightening needs neither a reason nor a factor", async () => {
    const [fixture, life] = await begin();
    expect(await bare(fixture, life, tightening)).toMatchObject({ version: 2, max_notional: 1_000 });
    expect(fixture.published(subjects.envelopeUpdated).at(-1)).not.toHaveProperty("loosening");
  });

  it.each([
    ["a limit that rises", { max_notional: 250_001 }, ["max_notional"]],
    ["several", loosening, ["max_position_pct", "allowed_brokers"]],
    ["one among much that tightens", { ...tightening, ...loosening }, ["max_position_pct", "allowed_brokers"]],
    ["sides that need not fit", { strict_sides: false }, ["strict_sides"]],
    ["a wider collar of exits", { exit_collar_pct: 0.5 }, ["exit_collar_pct"]],
    ["a narrower collar of exits", { exit_collar_pct: 0.1 }, []],
    ["no exits in a halt", { halt_allow_reduce_only: false }, []],
  ])("%s: refused without a proof, with what it loosens, and made with one", async (_name, change, loosens) => {
    const [fixture, life] = await begin();
    const code = "STEP_UP_REQUIRED";
    const named = new RegExp((loosens[0] ?? Object.keys(change)[0]) as string);
    for (const reason of ["", "why"]) {
      const refused = await bare(fixture, life, { ...change, reason });
      expect(refused).toMatchObject({ denial: { code, loosens, reason: expect.stringMatching(named) } });
    }
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject(Array(2).fill({ allowed: false, code }));
    expect(await current(fixture, life)).toMatchObject({ version: 1 });
    const loosening = { fields: loosens, second_factor: true };
    expect(await update(fixture, life, { ...change, reason: "why" })).toMatchObject({ version: 2, loosening });
    expect(fixture.published(subjects.envelopeUpdated).at(-1)).toMatchObject({ reason: "why", loosening });
    expect(redeemed(fixture)).toMatchObject([{ operator: "operator:duty", action: "UpdateEnvelope" }]);
  });

  it("a proof without a reason is refused and not used up", async () => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const asked: RiskEnvelope = { ...before, version: 2, ...loosening, reason: " " };
    const proof = proofFor(fixture, asked);
    const call = (message: RiskEnvelope) => fixture.finish(life.call("UpdateEnvelope", message, operator, proof));
    expect(await call(asked)).toMatchObject({ denial: { code: "REASON_MISSING" } });
    expect(redeemed(fixture)).toEqual([]);
    // It names its reason, so another one needs another proof.
    expect(await call({ ...asked, reason: "why" })).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
  });

  it.each([
    ["another limit", { max_position_pct: 0.09 }, operator],
    ["another version", { version: 3 }, operator],
    ["another fund", { fund_id: "beta" }, operator],
    ["another person", {}, relief],
  ])("a proof for one change opens no other: %s", async (_name, other, identity) => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const proof = proofFor(fixture, { ...asked, ...other });
    const answer = await fixture.finish(life.call("UpdateEnvelope", asked, identity, proof));
    expect(answer).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
    expect(fixture.published(subjects.stepUpRefused)).toMatchObject([{ code: "STEP_UP_WRONG" }]);
    expect(await current(fixture, life)).toMatchObject({ version: 1 });
  });

  it("a proof opens its change once, and not after two minutes", async () => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const [late, proof] = [proofFor(fixture, asked), proofFor(fixture, asked)];
    const call = (message: RiskEnvelope, shown: string) =>
      fixture.finish(life.call("UpdateEnvelope", message, operator, shown));
    expect(await call(asked, proof)).toMatchObject({ version: 2 });
    const conflict = await call(asked, late);
    expect(conflict).toMatchObject({
      denial: { code: "ENVELOPE_VERSION_CONFLICT", reason: expect.stringContaining("again") },
    });
    const next = { ...asked, version: 3, max_position_pct: 0.09 };
    expect(await call(next, proof)).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
    const old = proofFor(fixture, next);
    await fixture.pass(120_001);
    expect(await call(next, old)).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
  });

  it("under a halt nothing is asked for and no proof is used up", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.call("RequestHalt", { ...firm, halt_id: "h-1" }));
    expect(await bare(fixture, life, loosening)).toMatchObject({ denial: { code: "LOOSENING_DURING_HALT" } });
    expect(await update(fixture, life, loosening)).toMatchObject({ denial: { code: "LOOSENING_DURING_HALT" } });
    expect([...fixture.tables.stepUps.values()].map(({ isRedeemed }) => isRedeemed)).toEqual([false]);
    expect(await bare(fixture, life, tightening)).toMatchObject({ version: 2 });
  });

  it("a commit that failed gives the proof back", async () => {
    const [fixture, life] = await begin();
    const before = await current(fixture, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const proof = proofFor(fixture, asked);
    fixture.fates.set("risk.envelope", ["failed"]);
    const call = () => life.call("UpdateEnvelope", asked, operator, proof);
    expect(await fixture.finish(call().catch((thrown: Fault) => thrown.code))).toBe("STORE_UNAVAILABLE");
    expect(await fixture.finish(call())).toMatchObject({ version: 2 });
  });

  it("a machine cannot loosen, whatever it shows", async () => {
    const [fixture, life] = await begin();
    const asked: RiskEnvelope = {
      ...(await current(fixture, life)),
      version: 2,
      max_position_pct: 0.08,
      reason: "why",
    };
    const answer = await proved(fixture, life, asked, machine);
    expect(answer).toMatchObject({ denial: { code: "STEP_UP_REQUIRED", reason: expect.stringContaining("machine") } });
  });

  it("what a caller writes into the engine's own field is not believed", async () => {
    const [fixture, life] = await begin();
    const forged = { fields: [], second_factor: true };
    expect(await bare(fixture, life, { ...loosening, loosening: forged })).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    await bare(fixture, life, { ...tightening, loosening: forged });
    expect(await current(fixture, life)).not.toHaveProperty("loosening");
  });
});

describe("ReleaseThrottle", () => {
  const release = (life: EngineLife, change: object = {}): Promise<unknown> =>
    life.call("ReleaseThrottle", { strategy_id: "alpha-momentum", reason: "read it", ...change });

  async function tripped(): Promise<[RiskEngineFixture, EngineLife]> {
    const [fixture, life] = await begin();
    await update(fixture, life, { repeated_execution_max: 2 });
    for (let times = 0; times < 2; times += 1) await fixture.finish(life.check({ quantity: "3" }));
    expect(await fixture.finish(life.check({ quantity: "3" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
    expect(await fixture.finish(life.check({ quantity: "4" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
    return [fixture, life];
  }

  it("lets the strategy trade again, also after a restart, and tells it", async () => {
    const [fixture, life] = await tripped();
    const answer = await fixture.finish(release(life));
    expect(fixture.published(subjects.alarmRaised)).toMatchObject([{ code: "STRATEGY_THROTTLED", level: "critical" }]);
    expect(answer).toEqual({ strategy_id: "alpha-momentum", fund_id: "alpha", tripped: false });
    expect(fixture.published(subjects.throttleReleased)).toMatchObject([{ released_by: "operator:duty" }]);
    expect(await fixture.finish(life.check({ quantity: "4" }))).toMatchObject({ approved: true });
    life.process.kill();
    const next = await fixture.start();
    expect(await fixture.finish(next.check({ quantity: "5" }))).toMatchObject({ approved: true });
  });

  it("stays tripped after a restart without it", async () => {
    const [fixture, life] = await tripped();
    life.process.kill();
    const next = await fixture.start();
    expect(await fixture.finish(next.check({ quantity: "5" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
  });

  it("stays tripped when the release could not be written", async () => {
    const [fixture, life] = await tripped();
    fixture.fates.set("risk.append", ["failed"]);
    expect(await fixture.finish(release(life).catch((thrown: Fault) => thrown.code))).toBe("STORE_UNAVAILABLE");
    expect(await fixture.finish(life.check({ quantity: "5" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
  });

  it("checks that come while it is written are decided before or after, as the journal has it", async () => {
    const [fixture, life] = await tripped();
    fixture.delays.commitMs = 10;
    const checks: Promise<unknown>[] = [life.check({ quantity: "7" })];
    await fixture.pass(1);
    const released = release(life);
    for (let count = 0; count < 5; count += 1) checks.push(life.check({ quantity: String(10 + count) }));
    await fixture.finish(Promise.all([...checks, released]));
    const kinds = fixture.tables.risk.journal.map(({ kind, approved }) => (kind === "decision" ? approved : kind));
    const at = kinds.indexOf("release");
    expect(kinds.slice(at + 1)).toEqual([true, true, true, true, true]);
    expect(kinds[at - 1]).toBe(false);
  });

  it.each([
    ["without a reason", { reason: " " }, "REASON_MISSING"],
    ["of a strategy that has not tripped", { strategy_id: "beta-trend" }, "THROTTLE_NOT_TRIPPED"],
  ])("refuses one %s", async (_name, change, code) => {
    const [fixture, life] = await begin();
    expect(await fixture.finish(release(life, change))).toMatchObject({ denial: { code } });
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([
      { verb: "ReleaseThrottle", allowed: false, code },
    ]);
  });

  it("does not know a strategy that is not there", async () => {
    const [fixture, life] = await begin();
    const none = release(life, { strategy_id: "nothing" });
    expect(await fixture.finish(none.catch((thrown: Fault) => thrown.code))).toBe("NOT_FOUND");
  });
});

describe("GetHeadroom", () => {
  it("answers how much more may be bought, and exactly that passes", async () => {
    const [fixture, life] = await begin();
    const headroom = (await fixture.finish(life.call("GetHeadroom", { fund_id: "alpha", symbol: "AAPL" }))) as Headroom;
    expect(headroom).toMatchObject({ fund_id: "alpha", symbol: "AAPL", side: "BUY", envelope_version: 1 });
    expect(Number(headroom.quantity)).toBeGreaterThan(0);
    expect(await fixture.finish(life.check({ quantity: headroom.quantity }))).toMatchObject({ approved: true });
  });

  it("refuses a side that is none", async () => {
    const [fixture, life] = await begin();
    const wrong = life.call("GetHeadroom", { fund_id: "alpha", symbol: "AAPL", side: "HOLD" });
    expect(await fixture.finish(wrong.catch((thrown: Fault) => thrown.code))).toBe("INVALID_ARGUMENT");
  });
});
