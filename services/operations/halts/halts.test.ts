// The halt manager on the memory world: what it latches, adopts, sees through and tells, and every way in which lifting is refused, with the attempt that
// this leaves and the halt still in force.
import { describe, expect, it } from "vitest";
import type { HaltResponse, HaltStatus } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity } from "../../../ports/identity.ts";
import { type HaltRig, haltRig, machine, person } from "../../../testkit/halt-rig.ts";
import { orderOf } from "../../../testkit/oms-rig.ts";

const seed = 7;
const duty = person("duty");
const relief = person("relief");
const officer = person("duty", ["operator", "risk_officer"]);
const firm = { severity: "FIRM_HALT", fund_id: "", reason: "", requested_by: "", confirmation: "HALT" };
const alpha = { ...firm, severity: "FUND_HALT", fund_id: "alpha" };
const momentum = { ...firm, severity: "STRATEGY_HALT", strategy_id: "alpha-momentum" };
const resume = { reason: "over", confirmation: "RESUME", halt_ids: [] };

async function begin(options: Partial<Parameters<typeof haltRig>[0]> = {}): Promise<HaltRig> {
  const rig = await haltRig({ seed, ...options });
  await rig.start("riskengine");
  await rig.start("operations");
  return rig;
}

const halt = (rig: HaltRig, request: object, by: Identity = duty) =>
  rig.ask("operations", "RequestHalt", request, by) as Promise<HaltResponse>;
const lift = (rig: HaltRig, request: object, by: Identity = duty) =>
  rig.ask("operations", "ResumeHalt", request, by) as Promise<HaltStatus>;
const codeOf = (answer: unknown): string | undefined =>
  (answer as { readonly denial?: { readonly code: string } }).denial?.code;
const idsInForce = (rig: HaltRig): readonly string[] => rig.world.risk.halts.map(({ halt_id: id }) => id);

describe("RequestHalt of the halt manager", () => {
  it("latches, tells, is confirmed by the engine without the bus, and says which event told it", async () => {
    const rig = await begin();
    const answer = await halt(rig, firm);
    expect(answer).toMatchObject({ acknowledged: true, epoch: 1 });
    expect(rig.believed()).toMatchObject({ epoch: 1, active: [{ halt_id: answer.halt_id }] });
    const told = rig.world.log.find(({ subject }) => subject === subjects.haltRequested.name);
    expect(told?.id).toBe(answer.audit_id);
    expect(rig.published(subjects.haltRequested)).toMatchObject([
      { halt_id: answer.halt_id, reason: "manual", requested_by: "operator:duty", epoch: 1 },
    ]);
    expect(rig.attempts()).toMatchObject([{ verb: "RequestHalt", allowed: true, operator: "operator:duty" }]);
  });

  it("needs a person's word, names who is unknown, and takes a machine at its own", async () => {
    const rig = await begin();
    expect(codeOf(await halt(rig, { ...firm, confirmation: "halt" }))).toBe("CONFIRMATION_WRONG");
    expect(codeOf(await halt(rig, { ...alpha, fund_id: "delta" }))).toBe("HALT_SCOPE_INVALID");
    expect(idsInForce(rig)).toEqual([]);
    expect(rig.attempts()).toMatchObject([{ code: "CONFIRMATION_WRONG" }, { code: "HALT_SCOPE_INVALID" }]);
    const { confirmation: _word, ...silent } = alpha;
    const asked = { ...silent, requested_by: "watchdog.news", reason: "spike", evidence: { zscore: 4.5 } };
    expect(await halt(rig, asked, machine)).toMatchObject({ acknowledged: true });
    expect(rig.world.risk.halts).toMatchObject([{ requested_by: "watchdog.news", evidence: { zscore: 4.5 } }]);
  });

  it("the same halt_id twice is one halt, at either service; lifted it is refused by name", async () => {
    const rig = await begin();
    const asked = { ...alpha, halt_id: "h-1" };
    const first = await halt(rig, asked);
    expect(await halt(rig, asked)).toEqual(first);
    expect(await rig.ask("riskengine", "RequestHalt", asked, duty)).toMatchObject({ halt_id: "h-1", epoch: 1 });
    expect(codeOf(await halt(rig, { ...firm, halt_id: "h-1" }))).toBe("HALT_SCOPE_INVALID");
    expect(idsInForce(rig)).toEqual(["h-1"]);
    expect(rig.published(subjects.haltRequested)).toHaveLength(1);
    await lift(rig, { ...resume, fund_id: "alpha" });
    expect(codeOf(await halt(rig, asked))).toBe("HALT_SCOPE_INVALID");
    expect(codeOf(await rig.ask("riskengine", "RequestHalt", asked, duty))).toBe("HALT_SCOPE_INVALID");
    expect(rig.believed()).toMatchObject({ active: [] });
  });

  it("blocks before it is durable; what was never latched blocks for seconds, and what is refused not at all", async () => {
    const rig = await begin();
    const blocking = () => rig.believed()?.active.map(({ halt_id: id }) => id);
    rig.cutOff("operations");
    const lost = rig.call("operations", "RequestHalt", { ...alpha, halt_id: "h-1" }, duty).catch(String);
    await rig.pass(200);
    expect([blocking(), idsInForce(rig)]).toEqual([["h-1"], []]);
    await rig.finish(lost);
    await rig.pass(6_000);
    expect(blocking()).toEqual([]);
    rig.comeBack("operations");
    await halt(rig, { ...alpha, halt_id: "h-2" });
    await lift(rig, { ...resume, fund_id: "alpha" });
    expect(codeOf(await halt(rig, { ...alpha, halt_id: "h-2" }))).toBe("HALT_SCOPE_INVALID");
    await rig.pass(200);
    expect(blocking()).toEqual([]);
  });

  it("what was announced, however much, is not in the way of a halt at the engine", async () => {
    const rig = await begin();
    const told = { ...alpha, reason: "loss", requested_by: "operations", since: "2026-01-02T00:00:00.000000Z" };
    const announce = (id: string) => rig.ask("riskengine", "AnnounceHalt", { ...told, halt_id: id }, machine);
    for (let count = 0; count < 1_000; count += 1) await announce(`a-${count}`);
    await expect(announce("one-too-many")).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(await rig.ask("riskengine", "RequestHalt", firm, duty)).toMatchObject({ acknowledged: true });
  });

  it("is not acknowledged while an engine holds its lease and says nothing, and is when the lease ran out", async () => {
    const rig = await begin();
    rig.kill("riskengine");
    expect(await halt(rig, { ...alpha, halt_id: "h-1" })).toMatchObject({ acknowledged: true });
    const rigSilent = await begin({ loses: () => true, lostMs: 2_000 });
    const asked = rigSilent.call("operations", "RequestHalt", { ...alpha, halt_id: "h-2" }, duty);
    // A latch does not wait for an engine that does not hear.
    await rigSilent.pass(100);
    expect(idsInForce(rigSilent)).toEqual(["h-2"]);
    expect(await rigSilent.finish(asked)).toMatchObject({ acknowledged: false });
    expect(idsInForce(rigSilent)).toEqual(["h-2"]);
    await rigSilent.pass(15_000);
    expect(rigSilent.published(subjects.alarmRaised)).toMatchObject([{ code: "HALT_UNACKNOWLEDGED" }]);
  });
});

describe("what follows a latch", () => {
  it("adopts what the engine latched, under its id, once, also when it was down or its message was lost", async () => {
    const rig = await begin();
    rig.kill("operations");
    await rig.ask("riskengine", "RequestHalt", { ...alpha, halt_id: "h-1" }, duty);
    rig.world.log.splice(0);
    await rig.start("operations");
    await rig.pass(3_000);
    expect(rig.published(subjects.haltRequested)).toMatchObject([{ halt_id: "h-1", epoch: 1 }]);
    rig.kill("operations");
    await rig.start("operations");
    await rig.pass(3_000);
    expect(rig.published(subjects.haltRequested)).toHaveLength(1);
    expect(
      rig
        .published(subjects.haltStep)
        .map(({ step }) => step)
        .sort(),
    ).toEqual(["BLOCKED", "CANCELLED", "NOTIFIED"]);
  });

  it("proves each step once; a chat that is down stops nothing, alarms, and is told when it is back", async () => {
    const rig = await begin();
    rig.chat.isDown = true;
    const { halt_id: id } = await halt(rig, firm);
    await rig.pass(11_500);
    expect(
      rig
        .published(subjects.haltStep)
        .map(({ step }) => step)
        .sort(),
    ).toEqual(["BLOCKED", "CANCELLED"]);
    expect(rig.published(subjects.alarmRaised)).toMatchObject([{ code: "HALT_STEP_OPEN" }]);
    const open = (await rig.ask("operations", "GetHaltStatus", { fund_id: "" }, duty)) as HaltStatus;
    expect(open.progress).toMatchObject([
      { halt_id: id, steps: [{ proven: true }, { proven: true }, { proven: false }] },
    ]);
    rig.chat.isDown = false;
    await rig.pass(3_000);
    expect(rig.published(subjects.haltStep).map(({ step }) => step)).toContain("NOTIFIED");
    expect(rig.chat.sent).toEqual([`halt ${id}`]);
  });

  it("CANCELLED waits until no order that it covers is with a broker; a proven exit may stay", async () => {
    const rig = await begin();
    const stored = {
      ...{ state: "WORKING" as const, bodyHash: "", filledQuantity: 0n as never, filledValue: 0n as never },
      ...{ submittedBy: "x", createdAt: rig.time.clock.now(), updatedAt: rig.time.clock.now() },
    };
    const order = { ...stored, order: orderOf("o-1", { fund_id: "alpha" }) };
    await rig.finish(rig.outside.store.transact("scene", (unit) => unit.oms.insertOrder(order)));
    await halt(rig, alpha);
    await rig.pass(3_000);
    const steps = () => rig.published(subjects.haltStep).map(({ step }) => step);
    expect(steps()).not.toContain("CANCELLED");
    const status = (await rig.ask("operations", "GetHaltStatus", { fund_id: "alpha" }, duty)) as HaltStatus;
    expect(status.progress[0]?.steps[1]).toMatchObject({ proven: false, detail: expect.stringContaining("o-1") });
    const gone = { ...order, state: "CANCELLED" as const };
    await rig.finish(rig.outside.store.transact("scene", (unit) => unit.oms.updateOrder(gone)));
    await rig.pass(3_000);
    expect(steps()).toContain("CANCELLED");
  });
});

describe("status and list", () => {
  it("says what covers a fund or a strategy, names nobody unknown, and lists all but drills", async () => {
    const rig = await begin();
    await halt(rig, { ...momentum, halt_id: "h-1" });
    await halt(rig, { ...alpha, halt_id: "h-2" });
    const scope = { severity: "FUND_HALT", fund_id: "drill" } as const;
    const drill = { ...scope, reason: "drill", requested_by: "operations", halt_id: "h-3" };
    const since = "2026-01-02T00:00:00.000000Z";
    await rig.finish(rig.outside.store.transact("scene", (unit) => unit.risk.latchHalt({ ...drill, since })));
    const status = (request: object) => rig.ask("operations", "GetHaltStatus", request, duty);
    expect(await status({ fund_id: "alpha" })).toMatchObject({ halted: true, severity: "FUND_HALT", known: true });
    expect(await status({ fund_id: "beta" })).toMatchObject({ halted: false, halts: [] });
    expect(await status({ fund_id: "", strategy_id: "alpha-meanrev" })).toMatchObject({
      ...{ fund_id: "alpha", halts: [{ halt_id: "h-2" }] },
    });
    await expect(status({ fund_id: "delta" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { halts } = (await rig.ask("operations", "ListActiveHalts", {}, duty)) as HaltStatus;
    expect(halts.map(({ halt_id: id }) => id)).toEqual(["h-1", "h-2"]);
  });

  it("tells of a request that waits for its signature who asks, why and for which baseline, until it can be signed no longer", async () => {
    const rig = await begin();
    await halt(rig, firm);
    const status = () => rig.ask("operations", "GetHaltStatus", { fund_id: "" }, duty) as Promise<HaltStatus>;
    const told = { requested_by: "operator:duty", reason: "over", baseline: "rebased" };
    const request = await lift(rig, { ...resume, rebase: true, one_time_code: rig.codeOf("duty") });
    expect(request).toMatchObject({ ...told, lifted_halt_ids: [] });
    expect(await status()).toMatchObject({ ...told, request_id: request.request_id });
    await halt(rig, alpha);
    expect(Object.keys(await status())).not.toContain("request_id");
    const nobody = { request_id: "a\0", confirmation: "RESUME", halt_ids: [], one_time_code: "1" };
    expect(codeOf(await lift(rig, nobody, relief))).toBe("RESUME_REQUEST_UNKNOWN");
  });

  it("unknown is halted: when the store cannot be read it says so, with what it knew", async () => {
    const rig = await begin();
    await halt(rig, { ...alpha, halt_id: "h-1" });
    const status = (request: object) => rig.ask("operations", "GetHaltStatus", request, duty);
    await status({ fund_id: "" });
    rig.cutOff("operations");
    expect(await status({ fund_id: "alpha" })).toMatchObject({
      known: false,
      halted: true,
      halts: [{ halt_id: "h-1" }],
    });
    expect(await status({ fund_id: "beta" })).toMatchObject({ known: false, halted: true, halts: [] });
    await expect(rig.ask("operations", "ListActiveHalts", {}, duty)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });
});

describe("ResumeHalt of the halt manager", () => {
  it("a fund's: its own halts of that level only, with the reason, and nothing that a higher one covers restarts", async () => {
    const rig = await begin();
    for (const [id, request] of [
      ["h-1", momentum],
      ["h-2", alpha],
      ["h-3", alpha],
    ] as const) {
      await halt(rig, { ...request, halt_id: id });
    }
    const answer = await lift(rig, { ...resume, fund_id: "alpha", cosigned_by: "operator:duty" });
    expect(answer).toMatchObject({
      ...{ fund_id: "alpha", halted: true, severity: "STRATEGY_HALT", baseline: "kept", epoch: 4 },
      ...{ lifted_halt_ids: ["h-2", "h-3"], restarts: ["alpha-meanrev"] },
    });
    expect(idsInForce(rig)).toEqual(["h-1"]);
    expect(rig.believed()).toMatchObject({ epoch: 4, active: [{ halt_id: "h-1" }] });
    expect(rig.published(subjects.haltLifted)).toMatchObject([
      { halt_id: "h-2", epoch: 4, cosigned_by: "operator:duty", reason: "over" },
      { halt_id: "h-3", epoch: 4, cosigned_by: "operator:duty", baseline: "kept" },
    ]);
  });

  it("everything: one asks, another one signs, each with a code, and all is lifted at once", async () => {
    const rig = await begin();
    await halt(rig, { ...firm, halt_id: "h-1" });
    await halt(rig, { ...momentum, halt_id: "h-2" });
    const asked = await lift(rig, { ...resume, one_time_code: rig.codeOf("duty"), halt_ids: ["h-2", "h-1"] });
    expect(asked).toMatchObject({ halted: true, restarts: expect.arrayContaining(["alpha-momentum", "beta-trend"]) });
    expect(await rig.ask("operations", "GetHaltStatus", { fund_id: "" }, relief)).toMatchObject({
      ...{ request_id: asked.request_id, expires_at: asked.expires_at },
    });
    expect(idsInForce(rig)).toEqual(["h-1", "h-2"]);
    const sign = { request_id: asked.request_id, confirmation: "RESUME", halt_ids: [] };
    const done = await lift(rig, { ...sign, one_time_code: rig.codeOf("relief") }, relief);
    expect(done).toMatchObject({ halted: false, epoch: 3, lifted_halt_ids: ["h-1", "h-2"], halts: [] });
    expect(rig.published(subjects.haltLifted)).toMatchObject(
      ["h-1", "h-2"].map((id) => ({
        ...{ halt_id: id, epoch: 3, reason: "over", requested_by: "operator:duty", cosigned_by: "operator:relief" },
      })),
    );
    expect(rig.published(subjects.resumeEnded)).toMatchObject([{ outcome: "lifted", ended_by: "operator:relief" }]);
    expect(codeOf(await lift(rig, { ...sign, one_time_code: "1" }, person("third")))).toBe("RESUME_REQUEST_UNKNOWN");
  });

  it("a newer request takes the older one's place, and a lift of one scope makes it void", async () => {
    const rig = await begin();
    await halt(rig, { ...firm, halt_id: "h-1" });
    await halt(rig, { ...alpha, halt_id: "h-2" });
    const first = await lift(rig, { ...resume, one_time_code: rig.codeOf("duty") });
    const second = await lift(rig, { ...resume, one_time_code: rig.codeOf("relief") }, relief);
    const sign = (request: HaltStatus) => ({
      ...{ request_id: request.request_id, confirmation: "RESUME", halt_ids: [], one_time_code: rig.codeOf("third") },
    });
    expect(codeOf(await lift(rig, sign(first), person("third")))).toBe("RESUME_REQUEST_VOID");
    await lift(rig, { ...resume, fund_id: "alpha" });
    expect(codeOf(await lift(rig, sign(second), person("third")))).toBe("RESUME_REQUEST_VOID");
    expect(idsInForce(rig)).toEqual(["h-1"]);
    expect(rig.published(subjects.resumeEnded).map(({ outcome }) => outcome)).toEqual(["replaced", "void"]);
  });

  it("with new baselines: a risk officer's code opens the halts that were looked at, once", async () => {
    const rig = await begin();
    await halt(rig, { ...alpha, halt_id: "h-1" });
    const asked = { ...resume, fund_id: "alpha", rebase: true, one_time_code: rig.codeOf("duty") };
    const lifting = rig.call("operations", "ResumeHalt", asked, officer);
    expect(await rig.finish(lifting)).toMatchObject({ lifted_halt_ids: ["h-1"], baseline: "rebased" });
    await halt(rig, { ...alpha, halt_id: "h-2" });
    expect(codeOf(await lift(rig, asked, officer))).toBe("RESUME_SECOND_FACTOR_WRONG");
    expect(idsInForce(rig)).toEqual(["h-2"]);
  });

  /** Each leaves the attempt of its code behind and both halts in force. */
  const refusals: readonly (readonly [string, (rig: HaltRig) => Promise<unknown>])[] = [
    ["RESUME_NOT_OPERATOR", (rig) => lift(rig, { ...resume, fund_id: "alpha" }, person("third", ["risk_officer"]))],
    ["CONFIRMATION_WRONG", (rig) => lift(rig, { ...resume, fund_id: "alpha", confirmation: "YES" })],
    ["RESUME_REASON_MISSING", (rig) => lift(rig, { ...resume, fund_id: "alpha", reason: " " })],
    ["RESUME_COSIGN_FORGED", (rig) => lift(rig, { ...resume, fund_id: "alpha", cosigned_by: "operator:relief" })],
    ["HALT_NOT_ACTIVE", (rig) => lift(rig, { ...resume, fund_id: "beta" })],
    ["RESUME_REQUEST_VOID", (rig) => lift(rig, { ...resume, fund_id: "alpha", halt_ids: ["h-1"] })],
    ["RESUME_SECOND_FACTOR_MISSING", (rig) => lift(rig, resume)],
    ["RESUME_SECOND_FACTOR_WRONG", (rig) => lift(rig, { ...resume, one_time_code: "wrong" })],
    ["SECOND_FACTOR_MISSING", (rig) => lift(rig, { ...resume, one_time_code: "123456" }, person("nobody"))],
    [
      "RESUME_REBASE_NOT_RISK_OFFICER",
      (rig) => lift(rig, { ...resume, fund_id: "alpha", rebase: true, one_time_code: rig.codeOf("duty") }),
    ],
    ["STEP_UP_REQUIRED", (rig) => lift(rig, { ...resume, fund_id: "alpha", rebase: true }, officer)],
    [
      "RESUME_SECOND_FACTOR_WRONG",
      (rig) => lift(rig, { ...resume, fund_id: "alpha", rebase: true, one_time_code: "wrong" }, officer),
    ],
    ["RESUME_REQUEST_UNKNOWN", (rig) => lift(rig, { ...resume, request_id: "r-9", one_time_code: "1" })],
    [
      "SECOND_FACTOR_LOCKED",
      async (rig) => {
        for (let tries = 0; tries < 5; tries += 1) await lift(rig, { ...resume, one_time_code: "wrong" });
        return lift(rig, { ...resume, one_time_code: rig.codeOf("duty") });
      },
    ],
  ];
  it.each(refusals)("refuses with %s", async (code, ask) => {
    const rig = await begin();
    await halt(rig, { ...firm, halt_id: "h-1" });
    await halt(rig, { ...alpha, halt_id: "h-2" });
    expect(codeOf(await ask(rig))).toBe(code);
    expect(idsInForce(rig)).toEqual(["h-1", "h-2"]);
    expect(rig.attempts().at(-1)).toMatchObject({ verb: "ResumeHalt", allowed: false, code });
    expect(rig.published(subjects.haltLifted)).toEqual([]);
  });

  const unsigned: readonly (readonly [string, (rig: HaltRig, requestId: string) => Promise<unknown>])[] = [
    ["RESUME_COSIGN_SAME_PERSON", (rig, request_id) => sign(rig, request_id, duty, "duty")],
    [
      "RESUME_COSIGN_SAME_PERSON",
      (rig, request_id) => sign(rig, request_id, person("other", ["operator"], "duty"), "duty"),
    ],
    ["RESUME_SECOND_FACTOR_MISSING", (rig, request_id) => sign(rig, request_id, relief, "")],
    ["RESUME_SECOND_FACTOR_WRONG", (rig, request_id) => sign(rig, request_id, relief, "duty")],
    ["RESUME_NOT_OPERATOR", (rig, request_id) => sign(rig, request_id, person("relief", ["viewer"]), "relief")],
    [
      "RESUME_SECOND_FACTOR_WRONG",
      async (rig) => {
        // The code was used already.
        await lift(rig, { ...resume, reason: "x", one_time_code: rig.codeOf("relief") }, relief);
        const asked = await lift(rig, { ...resume, one_time_code: rig.codeOf("third") }, person("third"));
        return sign(rig, asked.request_id ?? "", relief, "relief");
      },
    ],
    [
      "RESUME_REQUEST_EXPIRED",
      async (rig, request_id) => {
        for (const service of ["operations", "riskengine"] as const) rig.kill(service);
        await rig.pass(900_000);
        await rig.start("operations");
        return sign(rig, request_id, relief, "relief");
      },
    ],
    [
      "RESUME_REQUEST_VOID",
      async (rig, request_id) => {
        await halt(rig, { ...momentum, halt_id: "h-3" });
        return sign(rig, request_id, relief, "relief");
      },
    ],
  ];
  const sign = (rig: HaltRig, request_id: string, by: Identity, codeOfWhom: string) =>
    lift(
      rig,
      {
        ...{ request_id, confirmation: "RESUME", halt_ids: [] },
        ...(codeOfWhom !== "" && { one_time_code: rig.codeOf(codeOfWhom) }),
      },
      by,
    );
  it.each(unsigned)("a signature is refused with %s", async (code, ask) => {
    const rig = await begin();
    await halt(rig, { ...firm, halt_id: "h-1" });
    const { request_id: requestId = "" } = await lift(rig, { ...resume, one_time_code: rig.codeOf("duty") });
    expect(codeOf(await ask(rig, requestId))).toBe(code);
    expect(idsInForce(rig)).toContain("h-1");
    expect(rig.attempts().at(-1)).toMatchObject({ verb: "ResumeHalt", allowed: false, code });
    expect(rig.published(subjects.haltLifted)).toEqual([]);
  });

  it("spends no code on what is refused anyway", async () => {
    const rig = await begin();
    await halt(rig, { ...firm, halt_id: "h-1" });
    const code = rig.codeOf("duty");
    for (const wrong of [{ reason: "" }, { confirmation: "no" }, { halt_ids: ["x"] }, { cosigned_by: "operator:x" }]) {
      expect(codeOf(await lift(rig, { ...resume, ...wrong, one_time_code: code }))).toBeDefined();
    }
    expect(await lift(rig, { ...resume, one_time_code: code })).toMatchObject({
      request_id: expect.stringMatching(/./),
    });
  });

  it("a lost answer to its commit is one lift, and one that was not committed left the halt in force", async () => {
    const rig = await begin();
    await halt(rig, { ...alpha, halt_id: "h-1" });
    rig.fates.set("halts.resume", ["lost, not committed"]);
    await expect(lift(rig, { ...resume, fund_id: "alpha" })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(idsInForce(rig)).toEqual(["h-1"]);
    rig.fates.set("halts.resume", ["lost, committed"]);
    expect(await lift(rig, { ...resume, fund_id: "alpha" })).toMatchObject({ lifted_halt_ids: ["h-1"] });
    expect(rig.published(subjects.haltLifted)).toHaveLength(1);
  });
});
