// Limits and throttles on the whole shell: who may change them when, and what is left of every attempt.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { giveProof } from "../../adapters/memory/units/step-up.ts";
import type { Fault } from "../../contracts/src/fault.ts";
import type { RiskEnvelope } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { Headroom } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { RiskEnvelope as EnvelopeRecord } from "../../contracts/src/records/envelope.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeHashText } from "../../core/envelope/envelope.ts";
import type { Identity } from "../../ports/identity.ts";
import {
  type EngineLife,
  machine,
  operator,
  type RiskEngineRig,
  relief,
  riskEngineRig,
} from "../../testkit/riskengine-rig.ts";
import { envelopeAction } from "./envelope-proof.ts";

const seed = 13;

async function begin(): Promise<[RiskEngineRig, EngineLife]> {
  const rig = await riskEngineRig({ seed });
  return [rig, await rig.start()];
}

const firm = { severity: "FIRM_HALT", fund_id: "", reason: "drill", requested_by: "", confirmation: "HALT" };
const current = (rig: RiskEngineRig, life: EngineLife): Promise<RiskEnvelope> =>
  rig.finish(life.call("GetEnvelope", { fund_id: "alpha" }) as Promise<RiskEnvelope>);

async function update(rig: RiskEngineRig, life: EngineLife, change: Partial<RiskEnvelope>): Promise<unknown> {
  const before = await current(rig, life);
  return proved(rig, life, { reason: "review", ...before, version: before.version + 1, ...change });
}

/** With a proof of the second factor for exactly this, whether it is needed or not. */
function proved(rig: RiskEngineRig, life: EngineLife, asked: RiskEnvelope, identity: Identity = operator) {
  return rig.finish(life.call("UpdateEnvelope", asked, identity, proofFor(rig, asked, identity)));
}

function proofFor(rig: RiskEngineRig, asked: RiskEnvelope, identity: Identity = operator): string {
  return giveProof(rig.world.stepUps, { identity, named: envelopeAction(asked), at: rig.time.clock.now() });
}

describe("GetEnvelope", () => {
  it("gives the newest version, and NOT_FOUND for a fund without one", async () => {
    const [rig, life] = await begin();
    expect(await current(rig, life)).toMatchObject({ fund_id: "alpha", version: 1, max_position_pct: 0.07 });
    const none = life.call("GetEnvelope", { fund_id: "delta" });
    expect(await rig.finish(none.catch((thrown: Fault) => thrown.code))).toBe("NOT_FOUND");
  });
});

describe("UpdateEnvelope", () => {
  it("writes who, when, why and the hash, publishes it, and the next check follows it", async () => {
    const [rig, life] = await begin();
    const asked = { max_notional: 1_000, reason: "tighter", updated_by: "operator:somebody", hash: "f".repeat(64) };
    const answer = (await update(rig, life, asked)) as EnvelopeRecord;
    expect(answer).toMatchObject({ version: 2, max_notional: 1_000, updated_by: "operator:duty", reason: "tighter" });
    const published = rig.published(subjects.envelopeUpdated).at(-1) as EnvelopeRecord;
    expect(published).toMatchObject({ version: 2, updated_by: "operator:duty" });
    expect(published.hash).toBe(createHash("sha256").update(envelopeHashText(published)).digest("hex"));
    expect(await rig.finish(life.check({}))).toMatchObject({ code: "NOTIONAL_ABOVE_MAX", envelope_version: 2 });
    expect(rig.published(subjects.operatorAttempted)).toMatchObject([{ verb: "UpdateEnvelope", allowed: true }]);
  });

  it.each([
    ["a version that is not the next", { version: 5 }, "ENVELOPE_VERSION_CONFLICT", "is 2"],
    ["limits out of range", { max_position_pct: -1 }, "ENVELOPE_INVALID", "max_position_pct"],
    ["an unknown fund", { fund_id: "delta", version: 1 }, "ENVELOPE_INVALID", "delta"],
  ])("refuses %s, and the attempt is recorded", async (_name, change, code, words) => {
    const [rig, life] = await begin();
    const answer = await update(rig, life, change);
    expect(answer).toMatchObject({ denial: { code, reason: expect.stringContaining(words) } });
    expect(rig.published(subjects.operatorAttempted)).toMatchObject([{ verb: "UpdateEnvelope", allowed: false, code }]);
    expect(rig.published(subjects.envelopeUpdated).filter(({ version }) => version > 1)).toEqual([]);
    expect(await current(rig, life)).toMatchObject({ version: 1 });
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
      const [rig, life] = await begin();
      await update(rig, life, { halt_allow_reduce_only: false });
      await rig.finish(life.call("RequestHalt", { ...halt, halt_id: "h-1" }));
      let version = 2;
      for (const [kind, change] of Object.entries(changes)) {
        const answer = await update(rig, life, change);
        if (verdict === "lets" || kind === "tightening") {
          version += 1;
          expect(answer, kind).toMatchObject({ version });
          continue;
        }
        const [field] = Object.keys(change);
        expect(answer, kind).toMatchObject({
          denial: { code: "LOOSENING_DURING_HALT", reason: expect.stringMatching(new RegExp(`${field}.*h-1`)) },
        });
      }
      expect(await current(rig, life)).toMatchObject({ version, max_notional: 1_000, halt_allow_reduce_only: false });
      const refusals = rig.published(subjects.operatorAttempted).filter(({ allowed }) => !allowed);
      expect(refusals.map(({ code }) => code)).toEqual(
        verdict === "lets" ? [] : Array(3).fill("LOOSENING_DURING_HALT"),
      );
    },
  );

  it("a halt that is latched while the update is under way comes first or after, never in between", async () => {
    const [rig, life] = await begin();
    rig.delays.commitMs = 10;
    const before = await current(rig, life);
    const next = { ...before, version: 2, max_position_pct: 0.08, reason: "more room" };
    const asked = life.call("UpdateEnvelope", next, operator, proofFor(rig, next));
    const halt = life.call("RequestHalt", firm);
    const [answer] = await rig.finish(Promise.all([asked, halt]));
    const isDenied = "denial" in (answer as object);
    const applied = (await current(rig, life)).version === 2;
    expect(isDenied).toBe(!applied);
  });

  it("two at once: one wins, the other is told", async () => {
    const [rig, life] = await begin();
    const before = await current(rig, life);
    const answers = await rig.finish(
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
    const [rig, life] = await begin();
    rig.fates.set("risk.envelope", ["lost, committed"]);
    expect(await update(rig, life, { max_notional: 5 })).toMatchObject({ version: 2 });
    expect(await current(rig, life)).toMatchObject({ version: 2, max_notional: 5 });
  });
});

describe("22.6: loosening costs more than tightening", () => {
  const tightening = { max_notional: 1_000, max_position_pct: 0.01, shorting_enabled: false, reason: "" };
  const loosening = { max_position_pct: 0.08, allowed_brokers: ["paper", "alpaca"] };
  const bare = async (rig: RiskEngineRig, life: EngineLife, change: Partial<RiskEnvelope>, proof?: string) => {
    const before = await current(rig, life);
    const { reason: _, ...asked } = { ...before, version: before.version + 1, ...change };
    const message = change.reason === undefined ? asked : { ...asked, reason: change.reason };
    return rig.finish(life.call("UpdateEnvelope", message, operator, proof));
  };
  const redeemed = (rig: RiskEngineRig) => rig.published(subjects.stepUpRedeemed);

  it("tightening needs neither a reason nor a factor", async () => {
    const [rig, life] = await begin();
    expect(await bare(rig, life, tightening)).toMatchObject({ version: 2, max_notional: 1_000 });
    expect(rig.published(subjects.envelopeUpdated).at(-1)).not.toHaveProperty("loosening");
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
    const [rig, life] = await begin();
    const code = "STEP_UP_REQUIRED";
    const named = new RegExp((loosens[0] ?? Object.keys(change)[0]) as string);
    for (const reason of ["", "why"]) {
      const refused = await bare(rig, life, { ...change, reason });
      expect(refused).toMatchObject({ denial: { code, loosens, reason: expect.stringMatching(named) } });
    }
    expect(rig.published(subjects.operatorAttempted)).toMatchObject(Array(2).fill({ allowed: false, code }));
    expect(await current(rig, life)).toMatchObject({ version: 1 });
    const loosening = { fields: loosens, second_factor: true };
    expect(await update(rig, life, { ...change, reason: "why" })).toMatchObject({ version: 2, loosening });
    expect(rig.published(subjects.envelopeUpdated).at(-1)).toMatchObject({ reason: "why", loosening });
    expect(redeemed(rig)).toMatchObject([{ operator: "operator:duty", action: "UpdateEnvelope" }]);
  });

  it("a proof without a reason is refused and not used up", async () => {
    const [rig, life] = await begin();
    const before = await current(rig, life);
    const asked: RiskEnvelope = { ...before, version: 2, ...loosening, reason: " " };
    const proof = proofFor(rig, asked);
    const call = (message: RiskEnvelope) => rig.finish(life.call("UpdateEnvelope", message, operator, proof));
    expect(await call(asked)).toMatchObject({ denial: { code: "REASON_MISSING" } });
    expect(redeemed(rig)).toEqual([]);
    // It names its reason, so another one needs another proof.
    expect(await call({ ...asked, reason: "why" })).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
  });

  it.each([
    ["another limit", { max_position_pct: 0.09 }, operator],
    ["another version", { version: 3 }, operator],
    ["another fund", { fund_id: "beta" }, operator],
    ["another person", {}, relief],
  ])("a proof for one change opens no other: %s", async (_name, other, identity) => {
    const [rig, life] = await begin();
    const before = await current(rig, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const proof = proofFor(rig, { ...asked, ...other });
    const answer = await rig.finish(life.call("UpdateEnvelope", asked, identity, proof));
    expect(answer).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
    expect(rig.published(subjects.stepUpRefused)).toMatchObject([{ code: "STEP_UP_WRONG" }]);
    expect(await current(rig, life)).toMatchObject({ version: 1 });
  });

  it("a proof opens its change once, and not after two minutes", async () => {
    const [rig, life] = await begin();
    const before = await current(rig, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const [late, proof] = [proofFor(rig, asked), proofFor(rig, asked)];
    const call = (message: RiskEnvelope, shown: string) =>
      rig.finish(life.call("UpdateEnvelope", message, operator, shown));
    expect(await call(asked, proof)).toMatchObject({ version: 2 });
    const conflict = await call(asked, late);
    expect(conflict).toMatchObject({
      denial: { code: "ENVELOPE_VERSION_CONFLICT", reason: expect.stringContaining("again") },
    });
    const next = { ...asked, version: 3, max_position_pct: 0.09 };
    expect(await call(next, proof)).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
    const old = proofFor(rig, next);
    await rig.pass(120_001);
    expect(await call(next, old)).toMatchObject({ denial: { code: "STEP_UP_WRONG" } });
  });

  it("under a halt nothing is asked for and no proof is used up", async () => {
    const [rig, life] = await begin();
    await rig.finish(life.call("RequestHalt", { ...firm, halt_id: "h-1" }));
    expect(await bare(rig, life, loosening)).toMatchObject({ denial: { code: "LOOSENING_DURING_HALT" } });
    expect(await update(rig, life, loosening)).toMatchObject({ denial: { code: "LOOSENING_DURING_HALT" } });
    expect([...rig.world.stepUps.values()].map(({ isRedeemed }) => isRedeemed)).toEqual([false]);
    expect(await bare(rig, life, tightening)).toMatchObject({ version: 2 });
  });

  it("a commit that failed gives the proof back", async () => {
    const [rig, life] = await begin();
    const before = await current(rig, life);
    const asked: RiskEnvelope = { ...before, version: 2, max_position_pct: 0.08, reason: "why" };
    const proof = proofFor(rig, asked);
    rig.fates.set("risk.envelope", ["failed"]);
    const call = () => life.call("UpdateEnvelope", asked, operator, proof);
    expect(await rig.finish(call().catch((thrown: Fault) => thrown.code))).toBe("STORE_UNAVAILABLE");
    expect(await rig.finish(call())).toMatchObject({ version: 2 });
  });

  it("a machine cannot loosen, whatever it shows", async () => {
    const [rig, life] = await begin();
    const asked: RiskEnvelope = { ...(await current(rig, life)), version: 2, max_position_pct: 0.08, reason: "why" };
    const answer = await proved(rig, life, asked, machine);
    expect(answer).toMatchObject({ denial: { code: "STEP_UP_REQUIRED", reason: expect.stringContaining("machine") } });
  });

  it("what a caller writes into the engine's own field is not believed", async () => {
    const [rig, life] = await begin();
    const forged = { fields: [], second_factor: true };
    expect(await bare(rig, life, { ...loosening, loosening: forged })).toMatchObject({
      denial: { code: "STEP_UP_REQUIRED" },
    });
    await bare(rig, life, { ...tightening, loosening: forged });
    expect(await current(rig, life)).not.toHaveProperty("loosening");
  });
});

describe("ReleaseThrottle", () => {
  const release = (life: EngineLife, change: object = {}): Promise<unknown> =>
    life.call("ReleaseThrottle", { strategy_id: "alpha-momentum", reason: "looked at it", ...change });

  async function tripped(): Promise<[RiskEngineRig, EngineLife]> {
    const [rig, life] = await begin();
    await update(rig, life, { repeated_execution_max: 2 });
    for (let times = 0; times < 2; times += 1) await rig.finish(life.check({ quantity: "3" }));
    expect(await rig.finish(life.check({ quantity: "3" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
    expect(await rig.finish(life.check({ quantity: "4" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
    return [rig, life];
  }

  it("lets the strategy trade again, also after a restart, and tells it", async () => {
    const [rig, life] = await tripped();
    const answer = await rig.finish(release(life));
    expect(rig.published(subjects.alarmRaised)).toMatchObject([{ code: "STRATEGY_THROTTLED", level: "critical" }]);
    expect(answer).toEqual({ strategy_id: "alpha-momentum", fund_id: "alpha", tripped: false });
    expect(rig.published(subjects.throttleReleased)).toMatchObject([{ released_by: "operator:duty" }]);
    expect(await rig.finish(life.check({ quantity: "4" }))).toMatchObject({ approved: true });
    life.process.kill();
    const next = await rig.start();
    expect(await rig.finish(next.check({ quantity: "5" }))).toMatchObject({ approved: true });
  });

  it("stays tripped after a restart without it", async () => {
    const [rig, life] = await tripped();
    life.process.kill();
    const next = await rig.start();
    expect(await rig.finish(next.check({ quantity: "5" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
  });

  it("stays tripped when the release could not be written", async () => {
    const [rig, life] = await tripped();
    rig.fates.set("risk.append", ["failed"]);
    expect(await rig.finish(release(life).catch((thrown: Fault) => thrown.code))).toBe("STORE_UNAVAILABLE");
    expect(await rig.finish(life.check({ quantity: "5" }))).toMatchObject({ code: "THROTTLE_TRIPPED" });
  });

  it("checks that come while it is written are decided before or after, as the journal has it", async () => {
    const [rig, life] = await tripped();
    rig.delays.commitMs = 10;
    const checks: Promise<unknown>[] = [life.check({ quantity: "7" })];
    await rig.pass(1);
    const released = release(life);
    for (let count = 0; count < 5; count += 1) checks.push(life.check({ quantity: String(10 + count) }));
    await rig.finish(Promise.all([...checks, released]));
    const kinds = rig.world.risk.journal.map(({ kind, approved }) => (kind === "decision" ? approved : kind));
    const at = kinds.indexOf("release");
    expect(kinds.slice(at + 1)).toEqual([true, true, true, true, true]);
    expect(kinds[at - 1]).toBe(false);
  });

  it.each([
    ["without a reason", { reason: " " }, "REASON_MISSING"],
    ["of a strategy that has not tripped", { strategy_id: "beta-trend" }, "THROTTLE_NOT_TRIPPED"],
  ])("refuses one %s", async (_name, change, code) => {
    const [rig, life] = await begin();
    expect(await rig.finish(release(life, change))).toMatchObject({ denial: { code } });
    expect(rig.published(subjects.operatorAttempted)).toMatchObject([
      { verb: "ReleaseThrottle", allowed: false, code },
    ]);
  });

  it("does not know a strategy that is not there", async () => {
    const [rig, life] = await begin();
    const none = release(life, { strategy_id: "nothing" });
    expect(await rig.finish(none.catch((thrown: Fault) => thrown.code))).toBe("NOT_FOUND");
  });
});

describe("GetHeadroom", () => {
  it("answers how much more may be bought, and exactly that passes", async () => {
    const [rig, life] = await begin();
    const headroom = (await rig.finish(life.call("GetHeadroom", { fund_id: "alpha", symbol: "AAPL" }))) as Headroom;
    expect(headroom).toMatchObject({ fund_id: "alpha", symbol: "AAPL", side: "BUY", envelope_version: 1 });
    expect(Number(headroom.quantity)).toBeGreaterThan(0);
    expect(await rig.finish(life.check({ quantity: headroom.quantity }))).toMatchObject({ approved: true });
  });

  it("refuses a side that is none", async () => {
    const [rig, life] = await begin();
    const wrong = life.call("GetHeadroom", { fund_id: "alpha", symbol: "AAPL", side: "HOLD" });
    expect(await rig.finish(wrong.catch((thrown: Fault) => thrown.code))).toBe("INVALID_ARGUMENT");
  });
});
