// The small parts of the shell, each by itself.
import { describe, expect, it } from "vitest";
import { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { activeHalt } from "../../contracts/src/records/halt.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import type { Identity } from "../../ports/identity.ts";
import type { JournalRow } from "../../ports/risk-store.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { readHalt } from "../halts/halt-request.ts";
import { createInFlightCalls } from "./in-flight-calls.ts";
import { createRecordPacker } from "./journal/decision-record.ts";
import { newestEntry } from "./journal/journal-end.ts";
import { firstDifference } from "./journal/recovery.ts";
import { watchGaps } from "./losses/gaps.ts";

describe("a decision's record", () => {
  it.each([0, 1, 127, 128, 16_383, 16_384, 100_000])("reads back with inputs of %i bytes", (length) => {
    const order = Order.decode(Order.encode(Order.decode(new Uint8Array())).finish());
    const asked = { ...order, order_id: "o-1", symbol: "AAPL", thesis: "é".repeat(length % 300) };
    const decision = { ...RiskDecision.decode(new Uint8Array()), decision_id: "d-1", approved: true };
    const inputs = new Uint8Array(length).fill(7);
    const pack = createRecordPacker();
    const parts = [Order.encode(asked).finish(), RiskDecision.encode(decision).finish(), inputs] as const;
    // Many, so that one piece of memory gets full: none writes over another.
    const packed = Array.from({ length: 8 }, () => pack(...parts, "service:é"));
    for (const bytes of packed) {
      const record = DecisionRecord.decode(bytes);
      expect(record.order).toEqual(asked);
      expect(record.decision).toEqual(decision);
      expect(Buffer.compare(record.inputs, inputs)).toBe(0);
      expect(record.asked_by).toBe("service:é");
    }
  });
});

describe("lanes", () => {
  it("waits for everybody who was in before, and for nobody who came later", async () => {
    const inFlight = createInFlightCalls();
    const early = inFlight.enter();
    const other = inFlight.enter();
    let done = 0;
    const cleared = [inFlight.cleared(), inFlight.cleared()].map((each) =>
      each.then(() => {
        done += 1;
      }),
    );
    const late = inFlight.enter();
    inFlight.leave(early);
    await Promise.resolve();
    expect(done).toBe(0);
    inFlight.leave(other);
    await Promise.all(cleared);
    expect(done).toBe(2);
    inFlight.leave(late);
    await inFlight.cleared();
  });

  it("a second halt waits for what the first one waits for as well", async () => {
    const inFlight = createInFlightCalls();
    const early = inFlight.enter();
    void inFlight.cleared();
    const later = inFlight.enter();
    let done = false;
    const second = inFlight.cleared().then(() => {
      done = true;
    });
    inFlight.leave(later);
    await Promise.resolve();
    expect(done).toBe(false);
    inFlight.leave(early);
    await second;
  });
});

describe("gaps", () => {
  const fixture = () => {
    const time = scheduler({ seed: 1 });
    const reported: string[] = [];
    const alarms = {
      raise: (_code: string, about: string, sentence: string) => void reported.push(`${about}: ${sentence}`),
      clear: (_code: string, about: string) => void reported.push(`cleared ${about}`),
      stop: async () => undefined,
    };
    return { time, reported, gaps: watchGaps("fills", time.timers, alarms) };
  };

  it("tells a number that stays away, once, and takes it back when it comes", async () => {
    const { time, reported, gaps } = fixture();
    for (const sequence of [7, 8, 11]) gaps.heard("alpha", sequence);
    expect(reported).toEqual([]);
    await time.run({ untilMs: 6_000 });
    expect(reported).toEqual(["fills alpha: The fills of alpha skipped 9, 10: an event may be missing."]);
    gaps.heard("alpha", 9);
    gaps.heard("alpha", 10);
    expect(reported.at(-1)).toBe("cleared fills alpha");
  });

  it("says nothing of numbers that come in another order, twice, or not at all", async () => {
    const { time, reported, gaps } = fixture();
    for (const sequence of [1, 3, 2, 2, 5, undefined, 4, 1, 6]) gaps.heard("alpha", sequence);
    gaps.heard("beta", 100);
    await time.run({ untilMs: 60_000 });
    expect(reported.filter((each) => !each.startsWith("cleared"))).toEqual([]);
  });

  it("tells a jump that is too wide to wait for at once, and remembers nothing of it", () => {
    const { reported, gaps } = fixture();
    gaps.heard("alpha", 1);
    gaps.heard("alpha", 1_000_000_000);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain("2 to 999999999");
  });
});

describe("the journal's end", () => {
  const seed = 20_261_115;
  it(`is found among numbers with holes, from any number before it (seed ${seed})`, async () => {
    const thrown = prng(seed);
    for (let round = 0; round < 50; round += 1) {
      const ids: bigint[] = [];
      let id = 0n;
      for (let count = thrown.below(200); count > 0; count -= 1) {
        id += BigInt(1 + thrown.below(round % 3 === 0 ? 1 : 50));
        ids.push(id);
      }
      const rows = ids.map((each) => ({ id: each }) as JournalRow);
      let probes = 0;
      const riskStore = {
        entries: async (after: bigint, countMax: number) => {
          probes += 1;
          return rows.filter((row) => row.id > after).slice(0, countMax);
        },
      };
      const from = ids[thrown.below(Math.max(1, ids.length))] ?? 0n;
      const newest = await newestEntry(riskStore, from);
      expect(newest?.id ?? from).toBe(ids.at(-1) ?? 0n);
      expect(probes).toBeLessThan(60);
    }
  });
});

describe("a halt that was asked for", () => {
  const alpha = { fund_id: "alpha", strategies: ["alpha-momentum"] } as unknown as FundReference;
  const funds = {
    fund: (id: string) => (id === "alpha" ? alpha : undefined),
    fundOfStrategy: (id: string) => (id === "alpha-momentum" ? alpha : undefined),
  };
  const operator = { kind: "operator", actor: "operator:duty" } as Identity;
  const service = { kind: "service", actor: "service:drawdown" } as Identity;
  const read = (request: Partial<HaltRequest>, identity: Identity = operator) =>
    readHalt(
      {
        request: { ...HaltRequest.decode(new Uint8Array()), ...request },
        identity,
        at: fromMicroseconds(1),
        newId: () => "new-id",
      },
      funds,
    );

  it.each([
    [
      { severity: "FIRM_HALT" as const, fund_id: "alpha", strategy_id: "x" },
      { severity: "FIRM_HALT", fund_id: "" },
    ],
    [
      { severity: "FUND_HALT" as const, fund_id: "alpha", strategy_id: "x" },
      { severity: "FUND_HALT", fund_id: "alpha" },
    ],
    [
      { severity: "STRATEGY_HALT" as const, strategy_id: "alpha-momentum" },
      { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" },
    ],
  ])("is taken at its level: %o", (request, scope) => {
    const halt = read({ ...request, reason: "line one\nline two" });
    expect(halt).toEqual({
      ...scope,
      reason: "line one line two",
      requested_by: "operator:duty",
      halt_id: "new-id",
      since: expect.any(String),
    });
    expect(activeHalt.safeParse({ ...halt, epoch: 1 }).success).toBe(true);
  });

  it.each([
    [{}, "severity"],
    [{ severity: "UNRECOGNIZED" as const }, "severity"],
    [{ severity: "FUND_HALT" as const }, "names its fund"],
    [{ severity: "FUND_HALT" as const, fund_id: "nowhere" }, '"nowhere"'],
    [{ severity: "STRATEGY_HALT" as const }, "names its strategy"],
    [{ severity: "STRATEGY_HALT" as const, strategy_id: "nothing" }, '"nothing"'],
    [{ severity: "STRATEGY_HALT" as const, strategy_id: "alpha-momentum", fund_id: "beta" }, "belongs to alpha"],
    [{ severity: "FIRM_HALT" as const, halt_id: "no id" }, "halt_id"],
  ])("is refused when it does not say whom it halts: %o", (request, words) => {
    expect(read(request)).toEqual({ code: "HALT_SCOPE_INVALID", reason: expect.stringContaining(words) });
  });

  it("a machine never passes for anybody else", () => {
    const severity = "FIRM_HALT";
    for (const requested_by of ["watchdog:vpin", "treasury", "operator:duty", " Operator:duty", ""]) {
      expect(read({ severity, requested_by }, service)).toMatchObject({ requested_by: "service:drawdown" });
    }
    expect(read({ severity, requested_by: "operator:relief" })).toMatchObject({ requested_by: "operator:duty" });
  });

  it("keeps evidence as flat facts, whatever its depth", () => {
    const halt = read({ severity: "FIRM_HALT", evidence: { loss: 0.03, deep: { a: [1] }, none: null } });
    expect(halt).toMatchObject({ evidence: { loss: 0.03, deep: '{"a":[1]}', none: null } });
    expect(activeHalt.safeParse({ ...halt, epoch: 1 }).success).toBe(true);
  });
});

describe("comparing books", () => {
  it("names the first difference and does not care for the order of keys", () => {
    expect(firstDifference({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, "")).toBeUndefined();
    expect(firstDifference({ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, "")).toBe("/a/b/1");
    expect(firstDifference({ a: 1 }, { a: 1, b: 2 }, "")).toBe("/b");
    expect(firstDifference([1], { 0: 1 }, "")).toBe("its root");
  });
});
