// A client that stops while it trades leaves a thousand approvals a second that nobody sends. What their end costs the store is bounded, because
// halts are read and latched over the same store.
import { describe, expect, it } from "vitest";
import type { Defect } from "../../../contracts/src/fault.ts";
import type { Approval } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { parseAmount } from "../../../core/money/amount.ts";
import type { Log } from "../../../ports/log.ts";
import type { JournalEntry } from "../../../ports/risk-store.ts";
import type { CommitFate } from "../../../testkit/memory/faults.ts";
import { noFaults } from "../../../testkit/memory/faults.ts";
import { memoryStore } from "../../../testkit/memory/store.ts";
import { memoryTables } from "../../../testkit/memory/tables.ts";
import { machine } from "../../../testkit/risk/service-fixture.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { groupCommit } from "../journal/group-commit.ts";
import { createApprovalEvents } from "./approval-events.ts";
import { startApprovals } from "./approvals.ts";

const silence = (): undefined => undefined;
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };

function fixture(count: number) {
  const time = scheduler({ seed: 24 });
  const { clock, timers } = time;
  const random = time.prng.fork("flood");
  /** Fates of the next publishing transactions. */
  const fates: CommitFate[] = [];
  const published = { transactions: 0, underWay: 0, most: 0 };
  const tables = memoryTables({ ...noFaults, commit: () => fates.shift() ?? "committed", commitDelayMs: () => 5 });
  const store = memoryStore({ process: tables.process("riskengine"), clock, timers, random });
  const counted: typeof store = {
    ...store,
    async transact(name, work) {
      published.transactions += 1;
      published.underWay += 1;
      published.most = Math.max(published.most, published.underWay);
      return store.transact(name, work).finally(() => {
        published.underWay -= 1;
      });
    },
  };
  const journal: JournalEntry[] = [];
  const groups: number[] = [];
  const die = (defect: Error): never => {
    throw defect;
  };
  const commit = groupCommit({
    riskStore: {
      async append({ entries }) {
        groups.push(entries.length);
        await timers.sleep(2);
        journal.push(...entries);
      },
      outcomeOf: async () => "committed",
    },
    random,
    timers,
    log,
    writerEpoch: 1,
    undecidedMax: 10_000,
    stopwatch: () => time.elapsedMs() * 1_000,
    retakeWriterEpoch: async () => 1,
    withdraw: silence,
    onTakenOver: silence,
    onStalled: silence,
    onDefect: (defect: Defect) => die(defect),
    onCommitted: silence,
  });
  const names = Array.from({ length: count }, (_, number) => `left-${number}`);
  const open = new Set(names);
  const validUntil = minusMilliseconds(clock.now(), 60_000);
  const released = parseAmount("1");
  const engine = {
    sweepUnsent: () => ({ unsent: [...open].map((orderId) => ({ orderId, what: "ORDER", validUntil })), next: 0 }),
    expire(id: string) {
      if (!open.delete(id)) return undefined;
      const order = { id, fund: { id: "alpha" }, strategyId: "alpha-momentum", book: { symbol: "AAPL" }, side: "BUY" };
      return { order, what: "ORDER", released };
    },
    unexpire: ({ order }: { readonly order: { readonly id: string } }) => open.add(order.id),
    confirmSent: (id: string) => (open.delete(id) ? "noted" : undefined),
    ownerOf: (): undefined => undefined,
    approval: (id: string): Partial<Approval> => ({ order_id: id, fund_id: "alpha" }),
  };
  const events = createApprovalEvents({ store: counted, timers, clock, log, crash: { die } });
  const approvals = startApprovals({
    ports: { store, clock, timers, log, crash: { die }, settings: { risk: { approvalGraceMs: 0 } } as never },
    engine: engine as unknown as Engine,
    commit,
    attempts: {} as never,
    alarms: { raise: silence },
    events,
    touched: { refused: silence },
    heard: { advance: (): Instant => clock.now(), elapsedMs: () => 0 },
  });
  const reported = (): readonly string[] =>
    tables.log
      .filter(({ subject }) => subject === subjects.approvalExpired.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)).order_id);
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  const stop = () => time.finish("stopping", approvals.stop(), 10_000);
  return { names, open, journal, groups, published, fates, approvals, reported, pass, stop };
}

describe("24: approvals that nobody sends, a thousand at once", () => {
  it("are journalled in small groups, and published in order by few transactions, one at a time", async () => {
    const flood = fixture(1_000);
    await flood.pass(2_000);
    expect(flood.open.size).toBe(0);
    expect(Math.max(...flood.groups)).toBeLessThanOrEqual(64);
    expect(flood.reported()).toEqual(flood.names);
    expect(flood.published.most).toBe(1);
    expect(flood.published.transactions).toBeLessThanOrEqual(17);
    await flood.stop();
  });

  it("expire no further than can be published, refuse confirmations meanwhile, and go on in order", async () => {
    const flood = fixture(4_600);
    flood.fates.push(...Array.from({ length: 10 }, () => "failed" as const));
    await flood.pass(9_000);
    expect(flood.reported()).toEqual([]);
    expect(flood.journal.length).toBe(4_096);
    const call = { identity: machine } as never;
    const refused = flood.approvals.confirmSent({ order_id: "left-4599" }, call);
    await expect(refused).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED", retry: "later" });
    expect(flood.open.has("left-4599")).toBe(true);
    await flood.pass(9_000);
    expect(flood.open.size).toBe(0);
    expect(flood.reported()).toEqual(flood.names);
    expect(flood.published.most).toBe(1);
    await flood.stop();
  });
});
