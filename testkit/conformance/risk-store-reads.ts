// Checks of what the risk engine reads back: keys, the decision under a key, snapshots, limits, valuations and halts.
import { expect } from "vitest";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import * as instant from "../../contracts/src/instant.ts";
import { type Instant, minusMilliseconds, parse } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { JournalEntry } from "../../ports/risk-store.ts";
import { range } from "./bus-kit.ts";
import { batch, decision, hash, type RiskStoreCheck, type RiskStoreFixture } from "./risk-store-fixture.ts";
import { thingChanged } from "./subjects.ts";
import { eventually, rejection, transactPatiently } from "./waiting.ts";

/** The keys since then, page by page, as the first four bytes of their hashes. */
async function keys(fixture: RiskStoreFixture, since: Instant, page: number): Promise<readonly number[]> {
  const found: number[] = [];
  let after: bigint | undefined = 0n;
  while (after !== undefined) {
    const answer = await fixture.risk.keysSince(since, after, page);
    for (const { keyHash } of answer.keys) found.push(Buffer.from(keyHash).readUInt32BE(0));
    after = answer.next;
  }
  return found;
}

export const keysAreFirst: RiskStoreCheck = {
  promise: 0,
  sentence: "`keysSince` gives each key's first decision since then, whatever was decided, and no repetition of it",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const now = fixture.now();
    const ago = (seconds: number) => ({ at: minusMilliseconds(now, seconds * 1_000) });
    const repeated = { approved: false, code: "DUPLICATE_KEY" };
    await fixture.risk.append(
      batch(
        fixture,
        writerEpoch,
        range(1, 5).map((n) => decision(fixture, n, ago(400))),
      ),
    );
    await fixture.risk.append(
      batch(fixture, writerEpoch, [
        decision(fixture, 6, ago(299)),
        decision(fixture, 1, { ...repeated, ...ago(250) }),
        decision(fixture, 7, { ...ago(200), approved: false, code: "NO_PRICE" }),
        decision(fixture, 6, { ...ago(100), approved: false, code: "KEY_REUSED" }),
        decision(fixture, 1, ago(60)),
        { kind: "fill", fillId: "f", ...ago(1), fundId: "alpha", orderId: "o", payload: new Uint8Array(3) },
      ]),
    );
    for (const page of [1, 2, 100]) {
      expect(await keys(fixture, ago(300).at, page)).toEqual([6, 7, 1]);
      expect(await keys(fixture, ago(1_000).at, page)).toEqual([1, 2, 3, 4, 5, 6, 7, 1]);
    }
    const { keys: found } = await fixture.risk.keysSince(ago(300).at, 0n, 1);
    expect(found.map((key) => [[...key.keyHash], [...key.bodyHash], key.at])).toEqual([
      [[...hash(6)], [...hash(1_000_006)], ago(299).at],
    ]);
  },
};

export const decisionUnderItsKey: RiskStoreCheck = {
  promise: 0,
  sentence: "`decisionByKey` gives the first decision under the key that is not older than asked, and none for others",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const now = fixture.now();
    const ago = (seconds: number) => minusMilliseconds(now, seconds * 1_000);
    const said = (text: string) => ({ payload: new TextEncoder().encode(text) });
    const repeated = { approved: false, code: "DUPLICATE_KEY" };
    await fixture.risk.append(
      batch(fixture, writerEpoch, [decision(fixture, 1, { at: ago(900), ...said("long ago") })]),
    );
    await fixture.risk.append(batch(fixture, writerEpoch, [decision(fixture, 1, { at: ago(200), ...said("first") })]));
    await fixture.risk.append(
      batch(fixture, writerEpoch, [decision(fixture, 1, { ...repeated, at: ago(100), ...said("repetition") })]),
    );
    const ask = async (n: number, seconds: number) => {
      const bytes = await fixture.risk.decisionByKey(hash(n), ago(seconds));
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    };
    expect(await ask(1, 300)).toBe("first");
    expect(await ask(1, 200)).toBe("first");
    expect(await ask(1, 1_000)).toBe("long ago");
    expect(await ask(1, 10_000_000)).toBe("long ago");
    expect(await ask(1, 150)).toBeUndefined();
    expect(await ask(2, 300)).toBeUndefined();
  },
};

export const newestSnapshot: RiskStoreCheck = {
  promise: 0,
  sentence: "the snapshot is the newest one, to the last byte, also for another engine's store",
  async run(fixture) {
    expect(await fixture.risk.snapshot()).toBeUndefined();
    const content = (n: number) => Uint8Array.from(range(0, 255), (byte) => (byte + n) % 256);
    for (const n of [5, 1, 9, 7, 3, 8]) {
      await fixture.risk.saveSnapshot({ through: BigInt(n), takenAt: fixture.now(), content: content(n) });
    }
    const other = await fixture.another();
    const newest = await other.snapshot();
    expect(newest?.through).toBe(9n);
    expect([...(newest?.content ?? [])]).toEqual([...content(9)]);
    const again = { through: 9n, takenAt: fixture.now(), content: content(10) };
    await other.saveSnapshot(again);
    expect([...((await fixture.risk.snapshot())?.content ?? [])]).toEqual([...content(10)]);
  },
};

export function envelope(fundId: string, version: number): RiskEnvelope {
  return {
    fund_id: fundId,
    version,
    max_position_pct: 0.07,
    daily_loss_halt_pct: 0.02,
    weekly_loss_halt_pct: 0.04,
    monthly_loss_halt_pct: 0.08,
    synthetic_stop_pct: 0.1,
    max_notional: 250_000.1,
    allowed_brokers: ["paper"],
    allowed_order_types: ["LIMIT"],
    allowed_asset_classes: ["EQUITY"],
    max_gross_exposure_pct: 1.5,
    max_net_exposure_pct: 1,
    sector_limits_pct: { TECHNOLOGY: 0.3, ENERGY: 0.1 },
    shorting_enabled: false,
    max_borrow_fee_pct: 0.03,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 50,
    halt_allow_reduce_only: true,
  };
}

export const envelopesKeepTheirVersions: RiskStoreCheck = {
  promise: 0,
  sentence: "each fund's newest envelope is the one that is read, and a version cannot be set twice",
  async run(fixture) {
    const put = (one: RiskEnvelope) => fixture.store.transact("conformance.put", (unit) => unit.risk.putEnvelope(one));
    await put(envelope("beta", 1));
    for (const version of [1, 2, 3]) await put(envelope("alpha", version));
    expect(await rejection(put(envelope("alpha", 2)), "version 2 again")).toMatchObject({ code: "STORE_CONFLICT" });
    const found = [...(await fixture.risk.envelopes())].sort((one, other) => (one.fund_id < other.fund_id ? -1 : 1));
    expect(found).toEqual([envelope("alpha", 3), envelope("beta", 1)]);
    const locked = await fixture.store.transact("conformance.lock", async (unit) => [
      await unit.risk.lockEnvelope("alpha"),
      await unit.risk.lockEnvelope("nobody"),
    ]);
    expect(locked).toEqual([envelope("alpha", 3), undefined]);
    expect((await fixture.risk.envelopes()).length).toBe(2);
  },
};

export const envelopesUnderConcurrency: RiskStoreCheck = {
  promise: 0,
  sentence: "units of work that lock a fund's envelope and set the next version never lose one",
  async run(fixture) {
    const next = () =>
      transactPatiently(fixture.store, "conformance.next", async (unit) => {
        const newest = await unit.risk.lockEnvelope("alpha");
        await unit.risk.putEnvelope(envelope("alpha", (newest?.version ?? 0) + 1));
      });
    await Promise.all(range(1, 6).map(next));
    expect(await fixture.risk.envelopes()).toEqual([envelope("alpha", 6)]);
  },
};

function halt(fixture: RiskStoreFixture, id: string, more: Partial<ActiveHalt> = {}): Omit<ActiveHalt, "epoch"> {
  return {
    halt_id: id,
    severity: "FUND_HALT",
    fund_id: "alpha",
    reason: "tested",
    requested_by: "operator:duty",
    since: instant.format(fixture.now()),
    ...more,
  };
}

export const haltsLatch: RiskStoreCheck = {
  promise: 0,
  sentence: "a latched halt is in force with its epoch, once, and is gone when its unit of work fails",
  async run(fixture) {
    const latch = (one: Omit<ActiveHalt, "epoch">) =>
      transactPatiently(fixture.store, "conformance.latch", (unit) => unit.risk.latchHalt(one));
    expect(await fixture.risk.halts()).toEqual({ epoch: 0, active: [] });
    const first = halt(fixture, "halt-1", { evidence: { loss_pct: 0.03, limit: "0.02", hard: true } });
    expect(await latch(first)).toEqual({ ...first, epoch: 1 });
    expect(await latch({ ...first, reason: "again" })).toEqual({ ...first, epoch: 1 });
    const failing = fixture.store.transact("conformance.fail", async (unit) => {
      await unit.risk.latchHalt(halt(fixture, "ghost"));
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    const others = await Promise.all(
      range(2, 5).map((n) => latch(halt(fixture, `halt-${n}`, { severity: "STRATEGY_HALT", strategy_id: `s-${n}` }))),
    );
    expect(others.map((one) => one.epoch).sort()).toEqual([2, 3, 4, 5]);
    const other = await fixture.another();
    expect(await other.haltEpoch()).toBe(5);
    const { epoch, active } = await other.halts();
    expect(epoch).toBe(5);
    expect(active.map((one) => one.epoch)).toEqual([1, 2, 3, 4, 5]);
    expect(active[0]).toEqual({ ...first, epoch: 1 });
    const locked = await fixture.store.transact("conformance.lock", (unit) => unit.risk.lockHalts());
    expect(locked).toEqual({ epoch, active });
  },
};

export const changesAreAudited: RiskStoreCheck = {
  promise: 0,
  sentence: "`onChange` calls back after a halt was latched elsewhere, and no more once it is stopped",
  async run(fixture) {
    const other = await fixture.another();
    let calls = 0;
    const stop = other.onChange(() => {
      calls += 1;
    });
    const latch = (id: string) =>
      fixture.store.transact("conformance.latch", async (unit) => {
        await unit.risk.latchHalt(halt(fixture, id));
        await unit.events.publish(thingChanged, { key: id, n: 1 });
      });
    await eventually(fixture, "a call after a halt", async () => {
      if (calls === 0) await latch(`halt-${fixture.uuid()}`);
      return calls > 0;
    });
    stop();
    const before = calls;
    await latch("last");
    await fixture.risk.haltEpoch();
    expect(calls).toBe(before);
  },
};

export const newestValuation: RiskStoreCheck = {
  promise: 0,
  sentence: "the newest valuation by its own time is kept, however late an older one comes",
  async run(fixture) {
    const nav = (second: number, value: string): NavUpdated => ({
      fund_id: "alpha",
      nav: value,
      currency: "USD",
      as_of: `2026-11-15T10:00:0${second}.000001Z`,
    });
    const put = (one: NavUpdated, believedUntil = parse("2026-11-15T10:00:09Z")) =>
      fixture.store.transact("conformance.nav", (unit) => unit.risk.putNav(one, believedUntil));
    expect(await put(nav(2, "10.000000000000000001"))).toBe(true);
    expect(await put(nav(1, "9"))).toBe(false);
    expect(await put(nav(2, "8"))).toBe(false);
    expect(await fixture.risk.navs()).toEqual([nav(2, "10.000000000000000001")]);
    expect(await put(nav(3, "7"))).toBe(true);
    expect(await put({ ...nav(1, "5"), fund_id: "beta" })).toBe(true);
    expect((await fixture.risk.navs()).map((one) => one.nav).sort()).toEqual(["5", "7"]);
    // 23.10: the clock was set back to the second before: what was kept lies ahead, and the next one takes its place.
    const setBack = parse("2026-11-15T10:00:02Z");
    expect(await put({ ...nav(1, "4"), sequence: 8 }, setBack)).toBe(true);
    expect(await put({ ...nav(1, "3"), sequence: 9 }, setBack)).toBe(false);
    expect(await put({ ...nav(5, "6"), sequence: 12 }, parse("2026-11-15T10:00:05Z"))).toBe(true);
    // An earlier one that comes late does not.
    expect(await put({ ...nav(1, "2"), sequence: 11 }, setBack)).toBe(false);
    expect(await put({ ...nav(1, "2"), sequence: 12 }, setBack)).toBe(false);
    expect(await put({ ...nav(1, "1"), sequence: 13 }, setBack)).toBe(true);
    expect(await put(nav(2, "2"), setBack)).toBe(true);
    expect(await put(nav(1, "1"), parse("2026-11-15T10:00:01Z"))).toBe(true);
  },
};

export const entriesOfAnOrder: RiskStoreCheck = {
  promise: 5,
  sentence: "`entriesOfOrder` gives an order's decisions and fills, oldest first, and nothing else of it or of another",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const entry = (
      kind: "fill" | "transition" | "block" | "unblock" | "end",
      orderId: string,
      n: number,
    ): JournalEntry => ({
      kind,
      at: fixture.now(),
      fundId: "alpha",
      orderId,
      ...(kind === "fill" && { fillId: `${orderId}-fill-${n}` }),
      payload: new TextEncoder().encode(`${kind} ${n}`),
    });
    const entries = [
      entry("fill", "order-1", 1),
      decision(fixture, 1),
      entry("transition", "order-1", 2),
      entry("block", "order-1", 3),
      entry("fill", "order-2", 4),
      entry("fill", "order-1", 5),
      entry("unblock", "order-1", 6),
      entry("end", "order-1", 7),
    ];
    await fixture.risk.append(batch(fixture, writerEpoch, entries));
    const entriesOf = async (orderId: string, countMax: number) =>
      (await fixture.risk.entriesOfOrder(orderId, countMax)).map(
        ({ kind, payload }) => `${kind}: ${new TextDecoder().decode(payload)}`,
      );
    expect(await entriesOf("order-1", 10)).toEqual(["fill: fill 1", "decision: decision 1", "fill: fill 5"]);
    expect(await entriesOf("order-1", 2)).toEqual(["fill: fill 1", "decision: decision 1"]);
    expect(await entriesOf("order-3", 10)).toEqual([]);
    const kinds = (await fixture.risk.entries(0n, 100)).map(({ kind }) => kind);
    expect(kinds).toEqual(entries.map(({ kind }) => kind));
  },
};

export const askersOfOrders: RiskStoreCheck = {
  promise: 5,
  sentence: "`askers` gives who asked for orders: the first that was approved, and the newest where that is another",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const asked = (n: number, orderId: string, askedBy: string | undefined, approved = true): JournalEntry => ({
      ...decision(fixture, n, { approved }),
      orderId,
      payload: DecisionRecord.encode({
        order: undefined,
        decision: undefined,
        inputs: new Uint8Array(),
        asked_by: askedBy,
      }).finish(),
    });
    const entries = [
      asked(1, "order-1", "service:denied", false),
      asked(2, "order-1", "service:desk"),
      asked(3, "order-2", undefined),
      asked(4, "order-1", "service:desk"),
      asked(5, "order-1", "service:other"),
      asked(6, "order-3", "service:desk"),
      asked(7, "order-3", "service:desk"),
    ];
    await fixture.risk.append(batch(fixture, writerEpoch, entries));
    const askers = async (...ids: string[]) =>
      (await fixture.risk.askers(ids)).map(({ orderId, askedBy }) => `${orderId} ${askedBy}`);
    expect(await askers("order-1", "order-2", "order-3", "order-4")).toEqual([
      "order-1 service:desk",
      "order-2 ",
      "order-1 service:other",
      "order-3 service:desk",
    ]);
    expect(await askers()).toEqual([]);
    expect((await fixture.risk.askers(["order-2"]))[0]?.at).toBe(entries[2]?.at);
  },
};

export const readChecks: readonly RiskStoreCheck[] = [
  keysAreFirst,
  askersOfOrders,
  entriesOfAnOrder,
  decisionUnderItsKey,
  newestSnapshot,
  envelopesKeepTheirVersions,
  envelopesUnderConcurrency,
  haltsLatch,
  changesAreAudited,
  newestValuation,
];
