// Checks on the whole shell over the memory store: what is durable before it is answered, and what is taken back when it never will be.
// The numbers are those of the module's header.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Verdict } from "../../core/state/view.ts";
import {
  type EngineLife,
  machine,
  operator,
  orderOf,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../testkit/risk/service-fixture.ts";

const seed = 11;

async function begin(
  options: Partial<Parameters<typeof riskEngineFixture>[0]> = {},
): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed, ...options });
  return [fixture, await fixture.start()];
}

/** How it ended: a decision's verdict, or the fault's code. */
async function endOf(answer: Promise<RiskDecision>): Promise<string> {
  return answer.then(
    ({ approved, code }) => (approved ? "approved" : code),
    (thrown: Fault) => thrown.code,
  );
}

/** 3,000 AAPL at 232.5 is just under the 7 % of alpha's ten million; 200 more are not. Orders stay under 250,000 each. */
const thousand = { quantity: "1000" };

describe("1: durable before it is answered", () => {
  it("an ordinary order is approved, and the journal has it as it came", async () => {
    const [fixture, life] = await begin();
    expect(life.service.health()).toEqual({ status: "ok" });
    const order = orderOf({ thesis: "momentum" });
    const decision = await fixture.finish(life.check(order));
    expect(decision).toMatchObject({ approved: true, code: "", order_id: order.order_id });
    const [row] = fixture.decisions();
    expect(row).toMatchObject({ orderId: order.order_id, approved: true, code: "", decisionId: decision.decision_id });
    const record = DecisionRecord.decode(row?.payload ?? new Uint8Array());
    expect(record.order).toEqual(order);
    expect(record.decision).toEqual(decision);
    expect(record.inputs.length).toBeGreaterThan(0);
    await fixture.finish(life.service.stop());
  });

  it("no answer leaves before the commit has ended", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 50;
    let answered = false;
    const answer = life.check({}).then(() => {
      answered = true;
    });
    await fixture.pass(49);
    expect(answered).toBe(false);
    expect(fixture.decisions()).toHaveLength(0);
    await fixture.finish(answer);
    expect(fixture.decisions()).toHaveLength(1);
  });

  it("a dry run spends nothing, not even the key", async () => {
    const [fixture, life] = await begin();
    const order = orderOf({ ...thousand, dry_run: true });
    for (let times = 0; times < 5; times += 1) {
      expect(await fixture.finish(life.check(order))).toMatchObject({ approved: true, dry_run: true });
    }
    expect(fixture.decisions()).toHaveLength(0);
    for (let times = 0; times < 3; times += 1) {
      expect(await fixture.finish(endOf(life.check(thousand)))).toBe("approved");
    }
    expect(await fixture.finish(endOf(life.check({ ...order, dry_run: undefined })))).toBe("POSITION_LIMIT_EXCEEDED");
  });
});

describe("what never became durable", () => {
  it("a definite failure takes back the batch and every later one", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 10;
    fixture.fates.set("risk.append", ["failed"]);
    const first = [orderOf(thousand), orderOf(thousand)];
    const second = orderOf(thousand);
    const ends = first.map((order) => endOf(life.check(order)));
    await fixture.pass(5);
    // On top of what is about to be taken back.
    const laterEnd = endOf(life.check(second));
    expect(await fixture.finish(Promise.all([...ends, laterEnd]))).toEqual([
      "STORE_UNAVAILABLE",
      "STORE_UNAVAILABLE",
      "STORE_UNAVAILABLE",
    ]);
    expect(fixture.decisions()).toHaveLength(0);
    // Room and keys are free again: the same orders pass.
    for (const order of [...first, second]) expect(await fixture.finish(endOf(life.check(order)))).toBe("approved");
    expect(await fixture.finish(endOf(life.check({ quantity: "200" })))).toBe("POSITION_LIMIT_EXCEEDED");
  });

  it("a lost answer to COMMIT never frees the reservation of a durable approval", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["lost, committed"]);
    const ends = Promise.all([endOf(life.check(thousand)), endOf(life.check(thousand)), endOf(life.check(thousand))]);
    expect(await fixture.finish(ends)).toEqual(["approved", "approved", "approved"]);
    expect(fixture.decisions()).toHaveLength(3);
    expect(await fixture.finish(endOf(life.check({ quantity: "200" })))).toBe("POSITION_LIMIT_EXCEEDED");
    expect(life.deaths).toEqual([]);
  });

  it("while the outcome is unknown nothing is decided, and nothing is freed", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["lost, committed"]);
    fixture.delays.answerMs = 20;
    const ends = Promise.all([endOf(life.check(thousand)), endOf(life.check(thousand)), endOf(life.check(thousand))]);
    await fixture.pass(10);
    life.process.setReachable(false);
    await fixture.pass(1_500);
    expect(await fixture.finish(endOf(life.check({ quantity: "200" })))).toBe("STORE_UNAVAILABLE");
    expect(life.service.health().status).toBe("failing");
    life.process.setReachable(true);
    expect(await fixture.finish(ends)).toEqual(["approved", "approved", "approved"]);
    expect(await fixture.finish(endOf(life.check({ quantity: "200" })))).toBe("POSITION_LIMIT_EXCEEDED");
    expect(life.service.health()).toEqual({ status: "ok" });
  });

  it("an unknown outcome that was none takes everything back and decides again", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["lost, not committed"]);
    const order = orderOf(thousand);
    expect(await fixture.finish(endOf(life.check(order)))).toBe("STORE_UNAVAILABLE");
    expect(await fixture.finish(endOf(life.check(order)))).toBe("approved");
    expect(fixture.decisions()).toHaveLength(1);
    expect(life.deaths).toEqual([]);
  });

  it("an engine that lost the writer epoch decides nothing more, says so and ends", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.check({}));
    const successor = await fixture.start();
    expect(await fixture.finish(endOf(life.check({})))).toBe("SERVICE_UNAVAILABLE");
    expect(life.service.health()).toMatchObject({ status: "failing" });
    await fixture.pass(10);
    expect(life.deaths).toHaveLength(1);
    expect(await fixture.finish(endOf(successor.check({})))).toBe("approved");
  });
});

describe("2: refused before it touches the books", () => {
  it("more than may wait is RESOURCE_EXHAUSTED, and no order suffers from it later", async () => {
    const [fixture, life] = await begin({ settings: { undecidedMax: 10 } });
    fixture.delays.commitMs = 10;
    const ends = await fixture.finish(
      Promise.all(Array.from({ length: 25 }, () => endOf(life.check({ quantity: "1" })))),
    );
    expect(ends.filter((end) => end === "approved")).toHaveLength(10);
    expect(ends.filter((end) => end === "RESOURCE_EXHAUSTED")).toHaveLength(15);
    expect(await fixture.finish(endOf(life.check({ quantity: "1" })))).toBe("approved");
  });

  it("a caller who is gone is not decided for", async () => {
    const [fixture, life] = await begin();
    const gone = AbortSignal.abort();
    const handler = life.service.rpc[0]?.handlers["CheckOrder"];
    const call = {
      requestId: "r",
      identity: machine,
      signal: gone,
      isGone: () => true,
      requestBytes: new Uint8Array(),
    };
    const answer = handler?.(orderOf({}) as never, call) ?? Promise.resolve();
    await expect(fixture.finish(answer)).rejects.toMatchObject({ code: "CANCELLED" });
    expect(fixture.decisions()).toHaveLength(0);
  });
});

describe("3: duplicates", () => {
  it("the same order again is denied with its first decision attached, and reserves nothing", async () => {
    const [fixture, life] = await begin();
    const order = orderOf(thousand);
    const first = await fixture.finish(life.check(order));
    for (let times = 0; times < 5; times += 1) {
      const again = await fixture.finish(life.check(order));
      expect(again).toMatchObject({ approved: false, rejecting_gate: "idempotency", code: "DUPLICATE_KEY" });
      expect(again.original).toEqual(first);
    }
    for (const { payload } of fixture.decisions()) expect(DecisionRecord.decode(payload).order).toEqual(order);
    expect(await fixture.finish(endOf(life.check(thousand)))).toBe("approved");
    expect(await fixture.finish(endOf(life.check(thousand)))).toBe("approved");
  });

  it("a dry run of it has the first decision attached too, and writes nothing", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 20;
    const order = orderOf({});
    const dry = { ...order, dry_run: true };
    // The second is asked while the first is on its way.
    const [first, early] = await fixture.finish(Promise.all([life.check(order), life.check(dry)]));
    const late = await fixture.finish(life.check(dry));
    for (const again of [early, late]) {
      expect(again).toMatchObject({ approved: false, code: "DUPLICATE_KEY", dry_run: true });
      expect(again?.original).toEqual(first);
    }
    expect(fixture.decisions()).toHaveLength(1);
    const other = await fixture.finish(life.check({ ...dry, quantity: "101" }));
    expect([other.code, other.original]).toEqual(["KEY_REUSED", undefined]);
  });

  it("another order under the key is told so, without the first", async () => {
    const [fixture, life] = await begin();
    const order = orderOf({});
    await fixture.finish(life.check(order));
    const other = await fixture.finish(life.check({ ...order, quantity: "101" }));
    expect(other).toMatchObject({ approved: false, code: "KEY_REUSED" });
    expect(other.original).toBeUndefined();
  });

  it("while the first is on its way, each waits for its own commit and gets the first", async () => {
    const [fixture, life] = await begin();
    fixture.delays.commitMs = 20;
    const order = orderOf({});
    const answers = await fixture.finish(Promise.all([life.check(order), life.check(order), life.check(order)]));
    expect(answers.map(({ approved }) => approved)).toEqual([true, false, false]);
    expect(answers[1]?.original).toEqual(answers[0]);
    expect(answers[2]?.original?.decision_id).toBe(answers[0]?.decision_id);
  });

  it("after a restart the key is still known, with its answer", async () => {
    const [fixture, life] = await begin();
    const order = orderOf({});
    const denied = orderOf({ quantity: "100000" });
    const first = await fixture.finish(life.check(order));
    const no = await fixture.finish(life.check(denied));
    expect(no.approved).toBe(false);
    life.process.kill();
    const next = await fixture.start();
    const again = await fixture.finish(next.check(order));
    expect(again).toMatchObject({ approved: false, code: "DUPLICATE_KEY" });
    expect(again.original).toEqual(first);
    expect((await fixture.finish(next.check(denied))).original).toEqual(no);
    expect(await fixture.finish(endOf(next.check({ ...order, quantity: "7" })))).toBe("KEY_REUSED");
  });

  it("a key that was taken back is free", async () => {
    const [fixture, life] = await begin();
    fixture.fates.set("risk.append", ["failed"]);
    const order = orderOf({});
    expect(await fixture.finish(endOf(life.check(order)))).toBe("STORE_UNAVAILABLE");
    expect(await fixture.finish(endOf(life.check(order)))).toBe("approved");
  });

  it("five minutes later the key is free", async () => {
    const [fixture, life] = await begin();
    const order = orderOf({ quantity: "1" });
    const answer = await fixture.finish(life.check(order));
    await fixture.pass(299_000);
    expect((await fixture.finish(life.check(order))).original).toEqual(answer);
    await fixture.pass(2_000);
    const later = await fixture.finish(life.check(order));
    expect(later.code).not.toBe("DUPLICATE_KEY");
  });
});

describe("4: the risk officer", () => {
  const pass: Verdict = { kind: "pass", reason: "fine", model: "m", promptHash: "h", costUsd: "", tookMs: 1 };

  async function withOfficer(
    askRiskOfficer: (fixture: RiskEngineFixture | undefined) => Promise<Verdict>,
    limits: object = {},
  ) {
    let fixtureOf: RiskEngineFixture | undefined;
    const [fixture, life] = await begin({ askRiskOfficer: () => askRiskOfficer(fixtureOf) });
    fixtureOf = fixture;
    const current = (await fixture.finish(life.call("GetEnvelope", { fund_id: "alpha" }))) as object;
    const asked = { ...current, version: 2, cro_veto_enabled: true, cro_veto_timeout_ms: 1_000, ...limits };
    await fixture.finish(life.call("UpdateEnvelope", asked, operator));
    return [fixture, life] as const;
  }

  it("is asked last, and its pass is an approval", async () => {
    const [fixture, life] = await withOfficer(async () => pass);
    const order = orderOf({ thesis: "as it came" });
    const decision = await fixture.finish(life.check(order));
    expect(DecisionRecord.decode(fixture.decisions()[0]?.payload ?? new Uint8Array()).order).toEqual(order);
    expect(decision).toMatchObject({ approved: true, envelope_version: 2 });
    expect(decision.checks.at(-1)?.gate).toBe("cro_veto");
  });

  it("its veto is a denial that gives the room back", async () => {
    let verdict: Verdict = { ...pass, kind: "veto", reason: "unwise" };
    const [fixture, life] = await withOfficer(async () => verdict);
    for (let times = 0; times < 5; times += 1) {
      expect(await fixture.finish(endOf(life.check(thousand)))).toBe("RISK_OFFICER_VETO");
    }
    verdict = pass;
    for (let times = 0; times < 3; times += 1)
      expect(await fixture.finish(endOf(life.check(thousand)))).toBe("approved");
  });

  it("has the envelope's time, and then the fund's policy decides", async () => {
    const never = () => new Promise<Verdict>(() => undefined);
    const [fixture, life] = await withOfficer(never);
    const before = fixture.time.elapsedMs();
    expect(await fixture.finish(endOf(life.check({})))).toBe("RISK_OFFICER_TIMEOUT");
    expect(fixture.time.elapsedMs() - before).toBeLessThan(1_200);
    const [other, patient] = await withOfficer(never, { cro_veto_on_timeout: "PASS_WITH_WARNING" });
    expect(await other.finish(endOf(patient.check({})))).toBe("approved");
  });

  it("beyond 64 at once nobody is asked", async () => {
    let asked = 0;
    const [fixture, life] = await withOfficer(async (on) => {
      asked += 1;
      await on?.time.timers.sleep(500);
      return pass;
    });
    const ends = await fixture.finish(
      Promise.all(Array.from({ length: 70 }, () => endOf(life.check({ quantity: "1" })))),
    );
    expect(asked).toBe(64);
    expect(ends.filter((end) => end === "approved")).toHaveLength(64);
    expect(ends.filter((end) => end === "RISK_OFFICER_TIMEOUT")).toHaveLength(6);
  });

  it("a duplicate waits for the verdict on its first", async () => {
    const [fixture, life] = await withOfficer(async (on) => {
      await on?.time.timers.sleep(500);
      return pass;
    });
    const order = orderOf({});
    const [first, second] = await fixture.finish(Promise.all([life.check(order), life.check(order)]));
    expect(first?.approved).toBe(true);
    expect(second).toMatchObject({ approved: false, code: "DUPLICATE_KEY" });
    expect(second?.original).toEqual(first);
    expect(fixture.decisions().map(({ code }) => code)).toEqual(["", "DUPLICATE_KEY"]);
  });

  it("what it holds counts against the limits of others, and a halt meanwhile denies it", async () => {
    const [fixture, life] = await withOfficer(async (on) => {
      await on?.time.timers.sleep(500);
      return pass;
    });
    const held = Promise.all([endOf(life.check(thousand)), endOf(life.check(thousand)), endOf(life.check(thousand))]);
    await fixture.pass(100);
    expect(await fixture.finish(endOf(life.check({ quantity: "200" })))).toBe("POSITION_LIMIT_EXCEEDED");
    await fixture.finish(
      life.call("RequestHalt", { severity: "FIRM_HALT", fund_id: "", reason: "test", requested_by: "" }, machine),
    );
    expect(await fixture.finish(held)).toEqual(["FIRM_HALTED", "FIRM_HALTED", "FIRM_HALTED"]);
  });

  it("an end does not wait for it: the order is given back undecided", async () => {
    const [fixture, life] = await withOfficer(() => new Promise<Verdict>(() => undefined), {
      cro_veto_timeout_ms: 60_000,
    });
    const held = endOf(life.check({}));
    await fixture.pass(100);
    const before = fixture.time.elapsedMs();
    await fixture.finish(life.service.stop());
    expect(await fixture.finish(held)).toBe("SERVICE_STOPPING");
    expect(fixture.time.elapsedMs() - before).toBeLessThan(5_000);
    expect(fixture.decisions()).toHaveLength(0);
  });

  it("an officer that fails is no answer, and one that answers nonsense is unreadable", async () => {
    const [fixture, life] = await withOfficer(async () => {
      throw new Fault("MODEL_UNAVAILABLE", "gone", { retry: "later" });
    });
    expect(await fixture.finish(endOf(life.check({})))).toBe("RISK_OFFICER_TIMEOUT");
    const [other, puzzled] = await withOfficer(async () => {
      throw new Fault("MODEL_UNREADABLE", "poetry", { retry: "never" });
    });
    expect(await other.finish(endOf(puzzled.check({})))).toBe("RISK_OFFICER_UNREADABLE");
  });
});
