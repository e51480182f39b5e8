// Halts on the whole shell: blocked before they are latched, acknowledged only when every decision made before has been answered.
import { describe, expect, it } from "vitest";
import type { Fault } from "../../contracts/src/fault.ts";
import type { HaltResponse, HaltStatus } from "../../contracts/src/generated/svc/v1/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { memoryCode } from "../../testkit/memory/one-time-codes.ts";
import {
  type EngineLife,
  machine,
  operator,
  type RiskEngineFixture,
  relief,
  riskEngineFixture,
} from "../../testkit/risk/service-fixture.ts";

const seed = 12;

async function begin(
  options: Partial<Parameters<typeof riskEngineFixture>[0]> = {},
): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed, ...options });
  return [fixture, await fixture.start()];
}

const firm = { severity: "FIRM_HALT", fund_id: "", reason: "drill", requested_by: "", confirmation: "HALT" };
const endOf = (life: EngineLife, order: object = {}): Promise<string> =>
  life.check(order).then(
    ({ approved, code }) => (approved ? "approved" : code),
    (thrown: Fault) => thrown.code,
  );

describe("GetHaltStatus at the engine", () => {
  it("32.9: says what it enforces, with the epoch that approvals carry, and that it does not know when the store is silent", async () => {
    const [fixture, life] = await begin();
    const status = (question: object) =>
      fixture.finish(life.call("GetHaltStatus", { fund_id: "", ...question }, machine)) as Promise<HaltStatus>;
    const { halt_epoch: epoch } = await fixture.finish(life.check({}));
    expect(await status({ fund_id: "alpha" })).toMatchObject({ halted: false, known: true, epoch, halts: [] });
    const asked = { ...firm, severity: "STRATEGY_HALT", strategy_id: "alpha-momentum" };
    const halt = (await fixture.finish(life.call("RequestHalt", asked))) as HaltResponse;
    expect(await status({ strategy_id: "alpha-momentum" })).toMatchObject({
      fund_id: "alpha",
      halted: true,
      severity: "STRATEGY_HALT",
      epoch: halt.epoch,
      halts: [{ halt_id: halt.halt_id }],
    });
    expect(await status({ strategy_id: "alpha-meanrev" })).toMatchObject({ halted: false });
    expect(await status({})).toMatchObject({ halted: true });
    await expect(status({ fund_id: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    life.process.setReachable(false);
    await fixture.pass(5_000);
    expect(await status({ strategy_id: "alpha-meanrev" })).toMatchObject({ halted: true, known: false });
  });
});

describe("RequestHalt", () => {
  it("latches, blocks, publishes and records who asked", async () => {
    const [fixture, life] = await begin();
    const before = await fixture.finish(life.check({}));
    const halt = (await fixture.finish(life.call("RequestHalt", firm, operator))) as HaltResponse;
    expect(halt).toMatchObject({ epoch: before.halt_epoch + 1, acknowledged: true });
    expect(fixture.tables.risk.halts).toMatchObject([{ halt_id: halt.halt_id, requested_by: "operator:duty" }]);
    expect(fixture.published(subjects.riskHaltRequested)).toMatchObject([{ halt_id: halt.halt_id, epoch: halt.epoch }]);
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([{ verb: "RequestHalt", allowed: true }]);
    const after = await fixture.finish(life.check({}));
    expect(after).toMatchObject({ approved: false, code: "FIRM_HALTED", halt_epoch: halt.epoch });
  });

  it("each level covers its own and nothing else", async () => {
    const [fixture, life] = await begin();
    const strategy = { ...firm, severity: "STRATEGY_HALT", strategy_id: "alpha-momentum" };
    await fixture.finish(life.call("RequestHalt", strategy));
    expect(await fixture.finish(endOf(life))).toBe("STRATEGY_HALTED");
    expect(await fixture.finish(endOf(life, { strategy_id: "alpha-meanrev" }))).toBe("approved");
    await fixture.finish(life.call("RequestHalt", { ...firm, severity: "FUND_HALT", fund_id: "alpha" }));
    expect(await fixture.finish(endOf(life, { strategy_id: "alpha-meanrev" }))).toBe("FUND_HALTED");
    const beta = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", quantity: "0.1" };
    const coins = { ...beta, asset_class: "CRYPTO", limit_price: "91000" };
    expect(await fixture.finish(endOf(life, coins))).toBe("approved");
  });

  it("the same halt_id twice is one halt with one event; for another scope it is refused", async () => {
    const [fixture, life] = await begin();
    const asked = { ...firm, halt_id: "h-1" };
    const first = await fixture.finish(life.call("RequestHalt", asked));
    expect(await fixture.finish(life.call("RequestHalt", asked))).toEqual(first);
    expect(fixture.published(subjects.riskHaltRequested)).toHaveLength(1);
    const other = { ...asked, severity: "FUND_HALT", fund_id: "alpha" };
    expect(await fixture.finish(life.call("RequestHalt", other))).toMatchObject({
      denial: { code: "HALT_SCOPE_INVALID" },
    });
  });

  it("an unknown fund is refused by name, and the attempt is recorded", async () => {
    const [fixture, life] = await begin();
    const answer = await fixture.finish(life.call("RequestHalt", { ...firm, severity: "FUND_HALT", fund_id: "delta" }));
    expect(answer).toMatchObject({
      denial: { code: "HALT_SCOPE_INVALID", reason: expect.stringContaining("delta") },
    });
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([
      { operator: "operator:duty", verb: "RequestHalt", target: "delta", allowed: false, code: "HALT_SCOPE_INVALID" },
    ]);
    expect(fixture.tables.risk.halts).toEqual([]);
  });

  it("is acknowledged only after the answers of every decision made before it have left", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 30;
    const order: string[] = [];
    const noted = (name: string) => (end: unknown) => void order.push(`${name} ${String(end)}`);
    const before = [1, 2].map((name) => endOf(life).then(noted(`check ${name}`)));
    await fixture.pass(10);
    // It waits behind the first batch, and was decided before the halt.
    const queued = endOf(life).then(noted("check 3"));
    await fixture.pass(1);
    const halt = life.call("RequestHalt", firm).then(() => order.push("halt acknowledged"));
    const after = endOf(life).then(noted("check 4"));
    await fixture.finish(Promise.all([...before, queued, halt, after]));
    expect(order.slice(0, 2)).toEqual(["check 1 approved", "check 2 approved"]);
    expect(order.indexOf("halt acknowledged")).toBeGreaterThan(order.indexOf("check 3 approved"));
    expect(order).toContain("check 4 FIRM_HALTED");
    const epochs = fixture.decisions().map(({ approved, code }) => (approved ? "approved" : code));
    expect(epochs).toEqual(["approved", "approved", "approved", "FIRM_HALTED"]);
  });

  it("blocks from the moment it is asked for, and is latched when the store is back", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.halt", ["failed", "failed"]);
    const asked = life.call("RequestHalt", { ...firm, halt_id: "h-2" });
    expect(await fixture.finish(asked.catch((thrown: Fault) => thrown.code))).toBe("STORE_UNAVAILABLE");
    expect(await fixture.finish(endOf(life))).toBe("FIRM_HALTED");
    await fixture.pass(1_000);
    expect(fixture.tables.risk.halts).toMatchObject([{ halt_id: "h-2" }]);
    expect(await fixture.finish(endOf(life))).toBe("FIRM_HALTED");
  });

  it("a lost answer to its commit is one halt all the same", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.halt", ["lost, committed"]);
    expect(await fixture.finish(life.call("RequestHalt", firm, machine))).toMatchObject({ acknowledged: true });
    expect(fixture.published(subjects.riskHaltRequested)).toHaveLength(1);
    expect(fixture.tables.risk.halts).toMatchObject([{ requested_by: "service:oms" }]);
  });
});

describe("what the engine knows of halts", () => {
  it("a halt that somebody else latched blocks within a moment", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(
      fixture.outside.store.transact("elsewhere", (unit) =>
        unit.risk.latchHalt({
          severity: "FUND_HALT",
          fund_id: "alpha",
          reason: "elsewhere",
          requested_by: "operations",
          halt_id: "h-9",
          since: "2026-01-02T00:00:00.000000Z",
        }),
      ),
    );
    await fixture.pass(300);
    expect(await fixture.finish(endOf(life))).toBe("FUND_HALTED");
  });

  it("one that was latched here does not hide one that was latched elsewhere a moment before", async () => {
    const [fixture, life] = await begin();
    const elsewhere = fixture.outside.store.transact("elsewhere", (unit) =>
      unit.risk.latchHalt({
        severity: "FUND_HALT",
        fund_id: "beta",
        reason: "elsewhere",
        requested_by: "operations",
        halt_id: "h-8",
        since: "2026-01-02T00:00:00.000000Z",
      }),
    );
    const here = life.call("RequestHalt", { ...firm, severity: "FUND_HALT", fund_id: "alpha" });
    await fixture.finish(Promise.all([elsewhere, here]));
    await fixture.pass(400);
    const coins = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD", quantity: "0.1" };
    const order = { ...coins, asset_class: "CRYPTO", limit_price: "91000" };
    expect(await fixture.finish(endOf(life, order))).toBe("FUND_HALTED");
    expect(await fixture.finish(endOf(life))).toBe("FUND_HALTED");
  });

  it("is unknown after two seconds without an answer, and unknown is halted", async () => {
    const [fixture, life] = await begin();
    life.process.setReachable(false);
    await fixture.pass(1_500);
    expect(life.service.health()).toEqual({ status: "ok" });
    await fixture.pass(1_000);
    expect(life.service.health()).toMatchObject({ status: "failing" });
    expect(await fixture.finish(endOf(life, { dry_run: true }))).toBe("HALT_STATE_UNKNOWN");
    life.process.setReachable(true);
    await fixture.pass(500);
    expect(life.service.health()).toEqual({ status: "ok" });
    expect(await fixture.finish(endOf(life))).toBe("approved");
  });

  it("is still there after a restart, before the first check", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.call("RequestHalt", firm));
    life.process.kill();
    const next = await fixture.start();
    expect(await fixture.finish(endOf(next))).toBe("FIRM_HALTED");
  });

  it("a list from before a lift does not bring the halt back", async () => {
    const [fixture, life] = await begin();
    const fund = { ...firm, severity: "FUND_HALT", fund_id: "alpha" };
    await fixture.finish(life.call("RequestHalt", fund));
    expect(await fixture.finish(endOf(life))).toBe("FUND_HALTED");
    const resume = { fund_id: "alpha", reason: "over", confirmation: "RESUME", halt_ids: [] };
    expect(await fixture.finish(life.call("ResumeHalt", resume))).toMatchObject({ halted: false, baseline: "kept" });
    expect(await fixture.finish(endOf(life))).toBe("approved");
    await fixture.pass(1_000);
    expect(await fixture.finish(endOf(life))).toBe("approved");
  });
});

describe("AnnounceHalt", () => {
  const announced = { ...firm, requested_by: "operations", halt_id: "h-7", since: "2026-01-02T00:00:00.000000Z" };

  it("blocks at once, and answers after every decision before it and the first that it denied", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 30;
    const order: string[] = [];
    const noted = (name: string) => (end: unknown) => void order.push(`${name} ${String(end)}`);
    const before = endOf(life).then(noted("before"));
    await fixture.pass(5);
    const announcing = life.call("AnnounceHalt", announced, machine).then(() => order.push("answered"));
    const denied = endOf(life).then(noted("first"));
    await fixture.finish(Promise.all([before, announcing, denied]));
    expect(order).toEqual(["before approved", "first FIRM_HALTED", "answered"]);
  });

  it("answers at once when nothing is under way", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 1_000;
    let isAnswered = false;
    const announcing = life.call("AnnounceHalt", announced, machine).then(() => {
      isAnswered = true;
    });
    await fixture.pass(10);
    expect(isAnswered).toBe(true);
    await announcing;
  });
});

describe("ConfirmHalts", () => {
  it("knows what somebody else latched a moment ago, and answers after every decision before it", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 30;
    const order: string[] = [];
    const before = endOf(life).then((end) => order.push(`check ${end}`));
    await fixture.pass(5);
    const latched = await fixture.finish(
      fixture.outside.store.transact("elsewhere", (unit) =>
        unit.risk.latchHalt({
          severity: "FIRM_HALT",
          fund_id: "",
          reason: "elsewhere",
          requested_by: "operations",
          halt_id: "h-7",
          since: "2026-01-02T00:00:00.000000Z",
        }),
      ),
    );
    const confirmed = life.call("ConfirmHalts", { epoch: latched.epoch }, machine).then((answer) => {
      order.push("confirmed");
      return answer;
    });
    expect(await fixture.finish(confirmed)).toMatchObject({ epoch: latched.epoch });
    await fixture.finish(before);
    expect(order).toEqual(["check approved", "confirmed"]);
    expect(await fixture.finish(endOf(life))).toBe("FIRM_HALTED");
  });

  it("does not confirm an epoch that the store does not have", async () => {
    const [fixture, life] = await begin();
    const asked = life.call("ConfirmHalts", { epoch: 9 }, machine).catch((thrown: Fault) => thrown.code);
    expect(await fixture.finish(asked)).toBe("SERVICE_UNAVAILABLE");
  });
});

describe("what people may do here", () => {
  it("a person's halt needs its word, a machine's does not, and a reason is made up for whoever gave none", async () => {
    const [fixture, life] = await begin();
    const { confirmation: _word, ...unconfirmed } = firm;
    for (const request of [unconfirmed, { ...firm, confirmation: "halt" }]) {
      const answer = await fixture.finish(life.call("RequestHalt", request));
      expect(answer).toMatchObject({ denial: { code: "CONFIRMATION_WRONG" } });
    }
    expect(fixture.tables.risk.halts).toEqual([]);
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([
      { verb: "RequestHalt", allowed: false, code: "CONFIRMATION_WRONG" },
      { verb: "RequestHalt", allowed: false, code: "CONFIRMATION_WRONG" },
    ]);
    const answer = await fixture.finish(life.call("RequestHalt", { ...unconfirmed, reason: " " }, machine));
    expect(answer).toMatchObject({ acknowledged: true, audit_id: expect.stringMatching(/./) });
    expect(fixture.tables.risk.halts).toMatchObject([{ reason: "manual" }]);
  });

  it("lifts by the same workflow as the halt manager: a machine never does, a person alone not the firm's", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.call("RequestHalt", firm));
    const resume = { reason: "please", confirmation: "RESUME", halt_ids: [] };
    const end = async (message: object, identity = operator): Promise<unknown> => {
      const answer = await fixture.finish(life.call("ResumeHalt", message, identity));
      return (answer as { readonly denial?: { readonly code: string } }).denial?.code ?? answer;
    };
    expect(await end(resume, machine)).toBe("RESUME_NOT_OPERATOR");
    expect(await end({ ...resume, fund_id: "alpha" })).toBe("HALT_NOT_ACTIVE");
    expect(await end(resume)).toBe("RESUME_SECOND_FACTOR_MISSING");
    expect(fixture.published(subjects.operatorAttempted).at(-1)).toMatchObject({
      verb: "ResumeHalt",
      allowed: false,
      code: "RESUME_SECOND_FACTOR_MISSING",
    });
    const code = (name: string) => memoryCode(name, fixture.time.clock.now());
    const pending = await end({ ...resume, one_time_code: code("duty") });
    expect(pending).toMatchObject({ halted: true, request_id: expect.stringMatching(/./) });
    const { request_id } = pending as HaltStatus;
    const sign = { confirmation: "RESUME", request_id, halt_ids: [] };
    expect(await fixture.finish(endOf(life))).toBe("FIRM_HALTED");
    expect(await end({ ...sign, one_time_code: code("relief") }, relief)).toMatchObject({ halted: false });
    expect(await fixture.finish(endOf(life))).toBe("approved");
  });
});
