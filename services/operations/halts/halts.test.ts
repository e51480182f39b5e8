// The halt manager on the memory store: what it latches, adopts, sees through and tells, and every way in which lifting is refused, with the attempt that
// this leaves and the halt still in force.
import { describe, expect, it } from "vitest";
import type { ActiveHalts, HaltResponse, HaltStatus } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { BelievedApproval } from "../../../contracts/src/records/books.ts";
import type { RiskEnvelope } from "../../../contracts/src/records/envelope.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity } from "../../../ports/identity.ts";
import { type HaltFixture, haltFixture, machine, person } from "../../../testkit/halt-fixture.ts";
import { orderOf } from "../../../testkit/oms-fixture.ts";

const seed = 7;
const duty = person("duty");
const relief = person("relief");
const officer = person("duty", ["operator", "risk_officer"]);
const firm = { severity: "FIRM_HALT", fund_id: "", reason: "", requested_by: "", confirmation: "HALT" };
const alpha = { ...firm, severity: "FUND_HALT", fund_id: "alpha" };
const momentum = { ...firm, severity: "STRATEGY_HALT", strategy_id: "alpha-momentum" };
const resume = { reason: "over", confirmation: "RESUME", halt_ids: [] };

async function begin(options: Partial<Parameters<typeof haltFixture>[0]> = {}): Promise<HaltFixture> {
  const fixture = await haltFixture({ seed, ...options });
  await fixture.start("riskengine");
  await fixture.start("operations");
  return fixture;
}

const halt = (fixture: HaltFixture, request: object, by: Identity = duty) =>
  fixture.ask("operations", "RequestHalt", request, by) as Promise<HaltResponse>;
const lift = (fixture: HaltFixture, request: object, by: Identity = duty) =>
  fixture.ask("operations", "ResumeHalt", request, by) as Promise<HaltStatus>;
const codeOf = (answer: unknown): string | undefined =>
  (answer as { readonly denial?: { readonly code: string } }).denial?.code;
const idsInForce = (fixture: HaltFixture): readonly string[] => fixture.tables.risk.halts.map(({ halt_id: id }) => id);

describe("RequestHalt of the halt manager", () => {
  it("latches, tells, is confirmed by the engine without the bus, and says which event reported it", async () => {
    const fixture = await begin();
    const answer = await halt(fixture, firm);
    expect(answer).toMatchObject({ acknowledged: true, epoch: 1 });
    expect(fixture.believed()).toMatchObject({ epoch: 1, active: [{ halt_id: answer.halt_id }] });
    const reported = fixture.tables.log.find(({ subject }) => subject === subjects.haltRequested.name);
    expect(reported?.id).toBe(answer.audit_id);
    expect(fixture.published(subjects.haltRequested)).toMatchObject([
      { halt_id: answer.halt_id, reason: "manual", requested_by: "operator:duty", epoch: 1 },
    ]);
    expect(fixture.attempts()).toMatchObject([{ verb: "RequestHalt", allowed: true, operator: "operator:duty" }]);
  });

  it("needs a person's word, names who is unknown, and takes a machine at its own", async () => {
    const fixture = await begin();
    expect(codeOf(await halt(fixture, { ...firm, confirmation: "halt" }))).toBe("CONFIRMATION_WRONG");
    expect(codeOf(await halt(fixture, { ...alpha, fund_id: "delta" }))).toBe("HALT_SCOPE_INVALID");
    expect(idsInForce(fixture)).toEqual([]);
    expect(fixture.attempts()).toMatchObject([{ code: "CONFIRMATION_WRONG" }, { code: "HALT_SCOPE_INVALID" }]);
    const { confirmation: _word, ...silent } = alpha;
    const asked = { ...silent, requested_by: "watchdog.news", reason: "spike", evidence: { zscore: 4.5 } };
    expect(await halt(fixture, asked, machine)).toMatchObject({ acknowledged: true });
    expect(fixture.tables.risk.halts).toMatchObject([
      { requested_by: machine.actor, evidence: { zscore: 4.5, claimed_by: "watchdog.news" } },
    ]);
  });

  it("the same halt_id twice is one halt, at either service; lifted it is refused by name", async () => {
    const fixture = await begin();
    const asked = { ...alpha, halt_id: "h-1" };
    const first = await halt(fixture, asked);
    expect(await halt(fixture, asked)).toEqual(first);
    expect(await fixture.ask("riskengine", "RequestHalt", asked, duty)).toMatchObject({ halt_id: "h-1", epoch: 1 });
    expect(codeOf(await halt(fixture, { ...firm, halt_id: "h-1" }))).toBe("HALT_SCOPE_INVALID");
    expect(idsInForce(fixture)).toEqual(["h-1"]);
    expect(fixture.published(subjects.haltRequested)).toHaveLength(1);
    await lift(fixture, { ...resume, fund_id: "alpha" });
    expect(codeOf(await halt(fixture, asked))).toBe("HALT_SCOPE_INVALID");
    expect(codeOf(await fixture.ask("riskengine", "RequestHalt", asked, duty))).toBe("HALT_SCOPE_INVALID");
    expect(fixture.believed()).toMatchObject({ active: [] });
  });

  it("blocks before it is durable; what was never latched blocks for seconds, and what is refused not at all", async () => {
    const fixture = await begin();
    const blocking = () => fixture.believed()?.active.map(({ halt_id: id }) => id);
    fixture.cutOff("operations");
    const lost = fixture.call("operations", "RequestHalt", { ...alpha, halt_id: "h-1" }, duty).catch(String);
    await fixture.pass(200);
    expect([blocking(), idsInForce(fixture)]).toEqual([["h-1"], []]);
    await fixture.finish(lost);
    await fixture.pass(6_000);
    expect(blocking()).toEqual([]);
    fixture.comeBack("operations");
    await halt(fixture, { ...alpha, halt_id: "h-2" });
    await lift(fixture, { ...resume, fund_id: "alpha" });
    expect(codeOf(await halt(fixture, { ...alpha, halt_id: "h-2" }))).toBe("HALT_SCOPE_INVALID");
    await fixture.pass(200);
    expect(blocking()).toEqual([]);
  });

  it("what was announced, however much, is not in the way of a halt at the engine", async () => {
    const fixture = await begin();
    const reported = { ...alpha, reason: "loss", requested_by: "operations", since: "2026-01-02T00:00:00.000000Z" };
    const announce = (id: string) => fixture.ask("riskengine", "AnnounceHalt", { ...reported, halt_id: id }, machine);
    for (let count = 0; count < 1_000; count += 1) await announce(`a-${count}`);
    await expect(announce("one-too-many")).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(await fixture.ask("riskengine", "RequestHalt", firm, duty)).toMatchObject({ acknowledged: true });
  });

  it("is not acknowledged while an engine holds its lease and says nothing, and is when the lease ran out", async () => {
    const fixture = await begin();
    fixture.kill("riskengine");
    expect(await halt(fixture, { ...alpha, halt_id: "h-1" })).toMatchObject({ acknowledged: true });
    const fixtureSilent = await begin({ loses: () => true, lostMs: 2_000 });
    const asked = fixtureSilent.call("operations", "RequestHalt", { ...alpha, halt_id: "h-2" }, duty);
    // A latch does not wait for an engine that does not hear.
    await fixtureSilent.pass(100);
    expect(idsInForce(fixtureSilent)).toEqual(["h-2"]);
    expect(await fixtureSilent.finish(asked)).toMatchObject({ acknowledged: false });
    expect(idsInForce(fixtureSilent)).toEqual(["h-2"]);
    await fixtureSilent.pass(15_000);
    expect(fixtureSilent.published(subjects.alarmRaised)).toMatchObject([{ code: "HALT_UNACKNOWLEDGED" }]);
  });
});

describe("what follows a latch", () => {
  it("adopts what the engine latched, under its id, once, also when it was down or its message was lost", async () => {
    const fixture = await begin();
    fixture.kill("operations");
    await fixture.ask("riskengine", "RequestHalt", { ...alpha, halt_id: "h-1" }, duty);
    fixture.tables.log.splice(0);
    await fixture.start("operations");
    await fixture.pass(3_000);
    expect(fixture.published(subjects.haltRequested)).toMatchObject([{ halt_id: "h-1", epoch: 1 }]);
    fixture.kill("operations");
    await fixture.start("operations");
    await fixture.pass(3_000);
    expect(fixture.published(subjects.haltRequested)).toHaveLength(1);
    expect(
      fixture
        .published(subjects.haltStep)
        .map(({ step }) => step)
        .sort(),
    ).toEqual(["BLOCKED", "CANCELLED", "NOTIFIED"]);
  });

  it("proves each step once; a chat that is down stops nothing, alarms, and is told when it is back", async () => {
    const fixture = await begin();
    fixture.chat.isDown = true;
    const { halt_id: id } = await halt(fixture, firm);
    await fixture.pass(11_500);
    expect(
      fixture
        .published(subjects.haltStep)
        .map(({ step }) => step)
        .sort(),
    ).toEqual(["BLOCKED", "CANCELLED"]);
    expect(fixture.published(subjects.alarmRaised)).toMatchObject([{ code: "HALT_STEP_OPEN" }]);
    const open = (await fixture.ask("operations", "GetHaltStatus", { fund_id: "" }, duty)) as HaltStatus;
    expect(open.progress).toMatchObject([
      { halt_id: id, steps: [{ proven: true }, { proven: true }, { proven: false }] },
    ]);
    fixture.chat.isDown = false;
    await fixture.pass(3_000);
    expect(fixture.published(subjects.haltStep).map(({ step }) => step)).toContain("NOTIFIED");
    expect(fixture.chat.sent).toEqual([`halt ${id}`]);
  });

  it("CANCELLED waits until no order that it covers is with a broker; a proven exit may stay", async () => {
    const fixture = await begin();
    const stored = {
      state: "WORKING" as const,
      bodyHash: "",
      filledQuantity: 0n as never,
      filledValue: 0n as never,
      submittedBy: "x",
      createdAt: fixture.time.clock.now(),
      updatedAt: fixture.time.clock.now(),
    };
    const order = { ...stored, order: orderOf("o-1", { fund_id: "alpha" }) };
    await fixture.finish(fixture.outside.store.transact("scene", (unit) => unit.oms.insertOrder(order)));
    await halt(fixture, alpha);
    await fixture.pass(3_000);
    const steps = () => fixture.published(subjects.haltStep).map(({ step }) => step);
    expect(steps()).not.toContain("CANCELLED");
    const status = (await fixture.ask("operations", "GetHaltStatus", { fund_id: "alpha" }, duty)) as HaltStatus;
    expect(status.progress[0]?.steps[1]).toMatchObject({ proven: false, detail: expect.stringContaining("o-1") });
    const gone = { ...order, state: "CANCELLED" as const };
    await fixture.finish(fixture.outside.store.transact("scene", (unit) => unit.oms.updateOrder(gone)));
    await fixture.pass(3_000);
    expect(steps()).toContain("CANCELLED");
  });
});

describe("32.1: orders of a foreign order management", () => {
  const approval = (orderId: string, differs: Partial<BelievedApproval> = {}): BelievedApproval => ({
    orderId,
    fundId: "alpha",
    strategyId: "alpha-momentum",
    symbol: "AAPL",
    reserved: 1n as never,
    state: "SENT",
    askedBy: "service:desk",
    isExit: false,
    unsent: undefined,
    ...differs,
  });

  it("keep CANCELLED from being proven until their end is reported; blocking and lifting do not wait; it alarms after 45 s", async () => {
    const fixture = await begin();
    const steps = () => fixture.published(subjects.haltStep).map(({ step }) => step);
    const waiting = async () =>
      ((await fixture.ask("operations", "ListActiveHalts", {}, duty)) as ActiveHalts).halts.map(
        (one) => one.waiting_for,
      );
    const alarms = () => fixture.published(subjects.alarmRaised).filter(({ code }) => code === "HALT_STEP_OPEN");
    const letsExitsPass = { fund_id: "alpha", version: 1, halt_allow_reduce_only: true } as RiskEnvelope;
    fixture.tables.risk.envelopes.set("alpha", [letsExitsPass]);
    fixture.reserved.approvals = [
      approval("o-1"),
      approval("o-2", { state: "UNSENT" }),
      approval("elsewhere", { fundId: "beta", strategyId: "beta-trend" }),
      approval("ours", { askedBy: "service:oms" }),
      approval("ended", { state: "ENDED" }),
      approval("exit", { isExit: true }),
    ];
    expect(await halt(fixture, alpha)).toMatchObject({ acknowledged: true });
    await fixture.pass(40_000);
    expect([steps().includes("BLOCKED"), steps().includes("CANCELLED")]).toEqual([true, false]);
    expect(await waiting()).toEqual(["waiting for desk: 2 orders (o-1 SENT, o-2 UNSENT)."]);
    expect(alarms()).toEqual([]);
    await fixture.pass(10_000);
    expect(alarms()).toMatchObject([{ sentence: expect.stringContaining("waiting for desk: 2 orders") }]);
    fixture.reserved.isSilent = true;
    await fixture.pass(3_000);
    expect([steps().includes("CANCELLED"), await waiting()]).toEqual([false, ["riskengine does not answer."]]);
    fixture.reserved.isSilent = false;
    fixture.reserved.approvals = [approval("exit", { isExit: true }), approval("nobody's", { fundId: "beta" })];
    await fixture.pass(3_000);
    expect([steps().includes("CANCELLED"), await waiting()]).toEqual([true, [undefined]]);
  });

  it("that nobody named are ours when our own order management knows them", async () => {
    const fixture = await begin();
    fixture.reserved.approvals = [approval("o-9", { askedBy: undefined })];
    await halt(fixture, alpha);
    await fixture.pass(3_000);
    const listed = (await fixture.ask("operations", "ListActiveHalts", {}, duty)) as ActiveHalts;
    expect(listed.halts[0]?.waiting_for).toBe("waiting for a foreign order management: 1 order (o-9 SENT).");
    const stored = {
      state: "REJECTED" as const,
      bodyHash: "",
      filledQuantity: 0n as never,
      filledValue: 0n as never,
      submittedBy: "x",
      createdAt: fixture.time.clock.now(),
      updatedAt: fixture.time.clock.now(),
      order: orderOf("o-9", { fund_id: "alpha" }),
    };
    await fixture.finish(fixture.outside.store.transact("scene", (unit) => unit.oms.insertOrder(stored)));
    await fixture.pass(3_000);
    expect(fixture.published(subjects.haltStep).map(({ step }) => step)).toContain("CANCELLED");
  });
});

describe("status and list", () => {
  it("says what covers a fund or a strategy, names nobody unknown, and lists all but drills", async () => {
    const fixture = await begin();
    await halt(fixture, { ...momentum, halt_id: "h-1" });
    await halt(fixture, { ...alpha, halt_id: "h-2" });
    const scope = { severity: "FUND_HALT", fund_id: "drill" } as const;
    const drill = { ...scope, reason: "drill", requested_by: "operations", halt_id: "h-3" };
    const since = "2026-01-02T00:00:00.000000Z";
    await fixture.finish(fixture.outside.store.transact("scene", (unit) => unit.risk.latchHalt({ ...drill, since })));
    const status = (request: object) => fixture.ask("operations", "GetHaltStatus", request, duty);
    expect(await status({ fund_id: "alpha" })).toMatchObject({ halted: true, severity: "FUND_HALT", known: true });
    expect(await status({ fund_id: "beta" })).toMatchObject({ halted: false, halts: [] });
    expect(await status({ fund_id: "", strategy_id: "alpha-meanrev" })).toMatchObject({
      fund_id: "alpha",
      halts: [{ halt_id: "h-2" }],
    });
    await expect(status({ fund_id: "delta" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { halts } = (await fixture.ask("operations", "ListActiveHalts", {}, duty)) as HaltStatus;
    expect(halts.map(({ halt_id: id }) => id)).toEqual(["h-1", "h-2"]);
  });

  it("tells of a request that waits for its signature who asks, why and for which baseline, until it can be signed no longer", async () => {
    const fixture = await begin();
    await halt(fixture, firm);
    const status = () => fixture.ask("operations", "GetHaltStatus", { fund_id: "" }, duty) as Promise<HaltStatus>;
    const reported = { requested_by: "operator:duty", reason: "over", baseline: "rebased" };
    const request = await lift(fixture, { ...resume, rebase: true, one_time_code: fixture.codeOf("duty") });
    expect(request).toMatchObject({ ...reported, lifted_halt_ids: [] });
    expect(await status()).toMatchObject({ ...reported, request_id: request.request_id });
    await halt(fixture, alpha);
    expect(Object.keys(await status())).not.toContain("request_id");
    const nobody = { request_id: "a\0", confirmation: "RESUME", halt_ids: [], one_time_code: "1" };
    expect(codeOf(await lift(fixture, nobody, relief))).toBe("RESUME_REQUEST_UNKNOWN");
  });

  it("unknown is halted: when the store cannot be read it says so, with what it knew", async () => {
    const fixture = await begin();
    await halt(fixture, { ...alpha, halt_id: "h-1" });
    const status = (request: object) => fixture.ask("operations", "GetHaltStatus", request, duty);
    await status({ fund_id: "" });
    fixture.cutOff("operations");
    expect(await status({ fund_id: "alpha" })).toMatchObject({
      known: false,
      halted: true,
      halts: [{ halt_id: "h-1" }],
    });
    expect(await status({ fund_id: "beta" })).toMatchObject({ known: false, halted: true, halts: [] });
    await expect(fixture.ask("operations", "ListActiveHalts", {}, duty)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });
});

describe("ResumeHalt of the halt manager", () => {
  it("a fund's: its own halts of that level only, with the reason, and nothing that a higher one covers restarts", async () => {
    const fixture = await begin();
    for (const [id, request] of [
      ["h-1", momentum],
      ["h-2", alpha],
      ["h-3", alpha],
    ] as const) {
      await halt(fixture, { ...request, halt_id: id });
    }
    const answer = await lift(fixture, { ...resume, fund_id: "alpha", cosigned_by: "operator:duty" });
    expect(answer).toMatchObject({
      fund_id: "alpha",
      halted: true,
      severity: "STRATEGY_HALT",
      baseline: "kept",
      epoch: 4,
      lifted_halt_ids: ["h-2", "h-3"],
      restarts: ["alpha-meanrev"],
    });
    expect(idsInForce(fixture)).toEqual(["h-1"]);
    expect(fixture.believed()).toMatchObject({ epoch: 4, active: [{ halt_id: "h-1" }] });
    expect(fixture.published(subjects.haltLifted)).toMatchObject([
      { halt_id: "h-2", epoch: 4, cosigned_by: "operator:duty", reason: "over" },
      { halt_id: "h-3", epoch: 4, cosigned_by: "operator:duty", baseline: "kept" },
    ]);
  });

  it("everything: one asks, another one signs, each with a code, and all is lifted at once", async () => {
    const fixture = await begin();
    await halt(fixture, { ...firm, halt_id: "h-1" });
    await halt(fixture, { ...momentum, halt_id: "h-2" });
    const asked = await lift(fixture, { ...resume, one_time_code: fixture.codeOf("duty"), halt_ids: ["h-2", "h-1"] });
    expect(asked).toMatchObject({ halted: true, restarts: expect.arrayContaining(["alpha-momentum", "beta-trend"]) });
    expect(await fixture.ask("operations", "GetHaltStatus", { fund_id: "" }, relief)).toMatchObject({
      request_id: asked.request_id,
      expires_at: asked.expires_at,
    });
    expect(idsInForce(fixture)).toEqual(["h-1", "h-2"]);
    const sign = { request_id: asked.request_id, confirmation: "RESUME", halt_ids: [] };
    const done = await lift(fixture, { ...sign, one_time_code: fixture.codeOf("relief") }, relief);
    expect(done).toMatchObject({ halted: false, epoch: 3, lifted_halt_ids: ["h-1", "h-2"], halts: [] });
    expect(fixture.published(subjects.haltLifted)).toMatchObject(
      ["h-1", "h-2"].map((id) => ({
        halt_id: id,
        epoch: 3,
        reason: "over",
        requested_by: "operator:duty",
        cosigned_by: "operator:relief",
      })),
    );
    expect(fixture.published(subjects.resumeEnded)).toMatchObject([{ outcome: "lifted", ended_by: "operator:relief" }]);
    expect(codeOf(await lift(fixture, { ...sign, one_time_code: "1" }, person("third")))).toBe(
      "RESUME_REQUEST_UNKNOWN",
    );
  });

  it("a newer request takes the older one's place, and a lift of one scope makes it void", async () => {
    const fixture = await begin();
    await halt(fixture, { ...firm, halt_id: "h-1" });
    await halt(fixture, { ...alpha, halt_id: "h-2" });
    const first = await lift(fixture, { ...resume, one_time_code: fixture.codeOf("duty") });
    const second = await lift(fixture, { ...resume, one_time_code: fixture.codeOf("relief") }, relief);
    const sign = (request: HaltStatus) => ({
      request_id: request.request_id,
      confirmation: "RESUME",
      halt_ids: [],
      one_time_code: fixture.codeOf("third"),
    });
    expect(codeOf(await lift(fixture, sign(first), person("third")))).toBe("RESUME_REQUEST_VOID");
    await lift(fixture, { ...resume, fund_id: "alpha" });
    expect(codeOf(await lift(fixture, sign(second), person("third")))).toBe("RESUME_REQUEST_VOID");
    expect(idsInForce(fixture)).toEqual(["h-1"]);
    expect(fixture.published(subjects.resumeEnded).map(({ outcome }) => outcome)).toEqual(["replaced", "void"]);
  });

  it("with new baselines: a risk officer's code opens the halts that were read, once", async () => {
    const fixture = await begin();
    await halt(fixture, { ...alpha, halt_id: "h-1" });
    const asked = { ...resume, fund_id: "alpha", rebase: true, one_time_code: fixture.codeOf("duty") };
    const lifting = fixture.call("operations", "ResumeHalt", asked, officer);
    expect(await fixture.finish(lifting)).toMatchObject({ lifted_halt_ids: ["h-1"], baseline: "rebased" });
    await halt(fixture, { ...alpha, halt_id: "h-2" });
    expect(codeOf(await lift(fixture, asked, officer))).toBe("RESUME_SECOND_FACTOR_WRONG");
    expect(idsInForce(fixture)).toEqual(["h-2"]);
  });

  /** Each leaves the attempt of its code behind and both halts in force. */
  const refusals: readonly (readonly [string, (fixture: HaltFixture) => Promise<unknown>])[] = [
    [
      "RESUME_NOT_OPERATOR",
      (fixture) => lift(fixture, { ...resume, fund_id: "alpha" }, person("third", ["risk_officer"])),
    ],
    ["CONFIRMATION_WRONG", (fixture) => lift(fixture, { ...resume, fund_id: "alpha", confirmation: "YES" })],
    ["RESUME_REASON_MISSING", (fixture) => lift(fixture, { ...resume, fund_id: "alpha", reason: " " })],
    [
      "RESUME_COSIGN_FORGED",
      (fixture) => lift(fixture, { ...resume, fund_id: "alpha", cosigned_by: "operator:relief" }),
    ],
    ["HALT_NOT_ACTIVE", (fixture) => lift(fixture, { ...resume, fund_id: "beta" })],
    ["RESUME_REQUEST_VOID", (fixture) => lift(fixture, { ...resume, fund_id: "alpha", halt_ids: ["h-1"] })],
    ["RESUME_SECOND_FACTOR_MISSING", (fixture) => lift(fixture, resume)],
    ["RESUME_SECOND_FACTOR_WRONG", (fixture) => lift(fixture, { ...resume, one_time_code: "wrong" })],
    ["SECOND_FACTOR_MISSING", (fixture) => lift(fixture, { ...resume, one_time_code: "123456" }, person("nobody"))],
    [
      "RESUME_REBASE_NOT_RISK_OFFICER",
      (fixture) => lift(fixture, { ...resume, fund_id: "alpha", rebase: true, one_time_code: fixture.codeOf("duty") }),
    ],
    ["STEP_UP_REQUIRED", (fixture) => lift(fixture, { ...resume, fund_id: "alpha", rebase: true }, officer)],
    [
      "RESUME_SECOND_FACTOR_WRONG",
      (fixture) => lift(fixture, { ...resume, fund_id: "alpha", rebase: true, one_time_code: "wrong" }, officer),
    ],
    ["RESUME_REQUEST_UNKNOWN", (fixture) => lift(fixture, { ...resume, request_id: "r-9", one_time_code: "1" })],
    [
      "SECOND_FACTOR_LOCKED",
      async (fixture) => {
        for (let tries = 0; tries < 5; tries += 1) await lift(fixture, { ...resume, one_time_code: "wrong" });
        return lift(fixture, { ...resume, one_time_code: fixture.codeOf("duty") });
      },
    ],
  ];
  it.each(refusals)("refuses with %s", async (code, ask) => {
    const fixture = await begin();
    await halt(fixture, { ...firm, halt_id: "h-1" });
    await halt(fixture, { ...alpha, halt_id: "h-2" });
    expect(codeOf(await ask(fixture))).toBe(code);
    expect(idsInForce(fixture)).toEqual(["h-1", "h-2"]);
    expect(fixture.attempts().at(-1)).toMatchObject({ verb: "ResumeHalt", allowed: false, code });
    expect(fixture.published(subjects.haltLifted)).toEqual([]);
  });

  const unsigned: readonly (readonly [string, (fixture: HaltFixture, requestId: string) => Promise<unknown>])[] = [
    ["RESUME_COSIGN_SAME_PERSON", (fixture, request_id) => sign(fixture, request_id, duty, "duty")],
    [
      "RESUME_COSIGN_SAME_PERSON",
      (fixture, request_id) => sign(fixture, request_id, person("other", ["operator"], "duty"), "duty"),
    ],
    ["RESUME_SECOND_FACTOR_MISSING", (fixture, request_id) => sign(fixture, request_id, relief, "")],
    ["RESUME_SECOND_FACTOR_WRONG", (fixture, request_id) => sign(fixture, request_id, relief, "duty")],
    ["RESUME_NOT_OPERATOR", (fixture, request_id) => sign(fixture, request_id, person("relief", ["viewer"]), "relief")],
    [
      "RESUME_SECOND_FACTOR_WRONG",
      async (fixture) => {
        // The code was used already.
        await lift(fixture, { ...resume, reason: "x", one_time_code: fixture.codeOf("relief") }, relief);
        const asked = await lift(fixture, { ...resume, one_time_code: fixture.codeOf("third") }, person("third"));
        return sign(fixture, asked.request_id ?? "", relief, "relief");
      },
    ],
    [
      "RESUME_REQUEST_EXPIRED",
      async (fixture, request_id) => {
        for (const service of ["operations", "riskengine"] as const) fixture.kill(service);
        await fixture.pass(900_000);
        await fixture.start("operations");
        return sign(fixture, request_id, relief, "relief");
      },
    ],
    [
      "RESUME_REQUEST_VOID",
      async (fixture, request_id) => {
        await halt(fixture, { ...momentum, halt_id: "h-3" });
        return sign(fixture, request_id, relief, "relief");
      },
    ],
    [
      "RESUME_REQUEST_VOID",
      async (fixture, request_id) => {
        // Whoever asked was disabled since.
        fixture.tables.loginsEnded.set("operator:duty", fixture.time.clock.now());
        return sign(fixture, request_id, relief, "relief");
      },
    ],
  ];
  const sign = (fixture: HaltFixture, request_id: string, by: Identity, codeOfWhom: string) =>
    lift(
      fixture,
      {
        request_id,
        confirmation: "RESUME",
        halt_ids: [],
        ...(codeOfWhom !== "" && { one_time_code: fixture.codeOf(codeOfWhom) }),
      },
      by,
    );
  it.each(unsigned)("a signature is refused with %s", async (code, ask) => {
    const fixture = await begin();
    await halt(fixture, { ...firm, halt_id: "h-1" });
    const { request_id: requestId = "" } = await lift(fixture, { ...resume, one_time_code: fixture.codeOf("duty") });
    expect(codeOf(await ask(fixture, requestId))).toBe(code);
    expect(idsInForce(fixture)).toContain("h-1");
    expect(fixture.attempts().at(-1)).toMatchObject({ verb: "ResumeHalt", allowed: false, code });
    expect(fixture.published(subjects.haltLifted)).toEqual([]);
  });

  it("spends no code on what is refused anyway", async () => {
    const fixture = await begin();
    await halt(fixture, { ...firm, halt_id: "h-1" });
    const code = fixture.codeOf("duty");
    for (const wrong of [{ reason: "" }, { confirmation: "no" }, { halt_ids: ["x"] }, { cosigned_by: "operator:x" }]) {
      expect(codeOf(await lift(fixture, { ...resume, ...wrong, one_time_code: code }))).toBeDefined();
    }
    expect(await lift(fixture, { ...resume, one_time_code: code })).toMatchObject({
      request_id: expect.stringMatching(/./),
    });
  });

  it("a lost answer to its commit is one lift, and one that was not committed left the halt in force", async () => {
    const fixture = await begin();
    await halt(fixture, { ...alpha, halt_id: "h-1" });
    fixture.fates.set("halts.resume", ["lost, not committed"]);
    await expect(lift(fixture, { ...resume, fund_id: "alpha" })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(idsInForce(fixture)).toEqual(["h-1"]);
    fixture.fates.set("halts.resume", ["lost, committed"]);
    expect(await lift(fixture, { ...resume, fund_id: "alpha" })).toMatchObject({ lifted_halt_ids: ["h-1"] });
    expect(fixture.published(subjects.haltLifted)).toHaveLength(1);
  });
});
