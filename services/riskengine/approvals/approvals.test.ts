// Approvals that nobody sends, on the running engine in virtual time: they run out, once and audited, also across restarts and outages; and what
// an owner or an operator says of one.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Fault } from "../../../contracts/src/fault.ts";
import { type Order, RiskDecision } from "../../../contracts/src/generated/svc/v1/order.ts";
import type { Approval, Approvals, Blocks, Exposures } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import type { DeniedAnswer, EncodedAnswer } from "../../../ports/rpc.ts";
import { orderOf } from "../../../testkit/oms-fixture.ts";
import {
  type EngineLife,
  orderOf as engineOrderOf,
  machine,
  operator,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

const seed = 22;
/** The fixture's approvals are good for 5 s; 30 s later they run out, and a sweep comes every half second. */
const validMs = 5_000;
const goneMs = validMs + 30_000 + 2_000;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  const fixture = await riskEngineFixture({ seed });
  return [fixture, await fixture.start()];
}

async function approve(fixture: RiskEngineFixture, life: EngineLife, order: object): Promise<void> {
  const decision = await fixture.finish(life.check(order));
  expect(decision.code).toBe("");
}

async function line(fixture: RiskEngineFixture, life: EngineLife): Promise<readonly string[]> {
  const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as Exposures;
  const found = lines.find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL");
  return [found?.quantity ?? "0", found?.pending_buy ?? "0", found?.pending_sell ?? "0"];
}

const listed = async (fixture: RiskEngineFixture, life: EngineLife, question: object): Promise<readonly Approval[]> =>
  ((await fixture.finish(life.call("ListApprovals", question, machine))) as Approvals).approvals;
const confirm = (fixture: RiskEngineFixture, life: EngineLife, order_id: string) =>
  fixture.finish(life.call("ConfirmSent", { order_id }, machine)) as Promise<Approval>;
const release = (fixture: RiskEngineFixture, life: EngineLife, order_id: string, reason = "nobody sends it") =>
  fixture.finish(life.call("ReleaseApproval", { order_id, reason }, operator)) as Promise<Approval & DeniedAnswer>;
const alarmsOf = (fixture: RiskEngineFixture, code: string) =>
  fixture.published(subjects.alarmRaised).filter((alarm) => alarm.code === code);

const stepOf = (
  fixture: RiskEngineFixture,
  order_id: string,
  different: Partial<OrderTransition> = {},
): OrderTransition => ({
  order_id,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  from: "ACCEPTED",
  to: "WORKING",
  filled_quantity: "0",
  remaining_quantity: "100",
  at: format(fixture.time.clock.now()),
  ...different,
});
const fillOf = (fixture: RiskEngineFixture, order_id: string, different: Partial<Fill> = {}): Fill => ({
  fill_id: `fill-of-${order_id}`,
  order_id,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "40",
  price: "232.5",
  filled_at: format(fixture.time.clock.now()),
  ...different,
});

describe("S2: a client that asks for exits and sends none", () => {
  const stranger = { ...machine, actor: "service:stranger", name: "stranger", subject: "stranger" } as Identity;
  const exit = { side: "SELL", reduce_only: true, order_type: "MARKET", limit_price: undefined };
  const asked = async (fixture: RiskEngineFixture, life: EngineLife, order: Partial<Order>, by: Identity) => {
    const { encoded } = (await fixture.finish(
      life.call("CheckOrder", engineOrderOf({ ...exit, ...order }), by),
    )) as EncodedAnswer;
    return RiskDecision.decode(encoded);
  };

  it("32.8: sees its own approvals alone, with since when, also after the engine was killed; people see everybody's", async () => {
    const [fixture, life] = await begin();
    const buy = { side: "BUY", reduce_only: false };
    const own = { ...machine, actor: "service:acme", name: "acme", subject: "acme" } as Identity;
    expect((await asked(fixture, life, { ...buy, order_id: "mine" }, own)).approved).toBe(true);
    const askedAt = fixture.time.clock.now();
    const other = { ...buy, order_id: "theirs", idempotency_key: "theirs" };
    expect((await asked(fixture, life, other, stranger)).approved).toBe(true);
    const seenBy = async (by: Identity, current: EngineLife, question: object = {}) => {
      const answer = await fixture.finish(
        current.call("ListApprovals", { unsent: false, count_max: 0, ...question }, by),
      );
      return (answer as Approvals).approvals.map(({ order_id, state, quantity, since }) => [
        order_id,
        state,
        quantity,
        since,
      ]);
    };
    const shown = async (current: EngineLife) => {
      const mine = await seenBy(own, current);
      expect(mine.map(([id, state]) => [id, state])).toEqual([["mine", "UNSENT"]]);
      expect(Math.abs(parse(String(mine[0]?.[3])) - askedAt)).toBeLessThan(1_000_000);
      expect((await seenBy(stranger, current)).map(([id]) => id)).toEqual(["theirs"]);
      expect(await seenBy(stranger, current, { order_id: "mine" })).toEqual([]);
      const person = { ...machine, kind: "operator", name: "duty", actor: "operator:duty" } as Identity;
      expect((await seenBy(person, current)).map(([id]) => id).sort()).toEqual(["mine", "theirs"]);
    };
    await shown(life);
    life.process.kill();
    await shown(await fixture.start());
  });

  it("keeps order management's exit out for one approval's time at most, and is listed with what waits", async () => {
    const [fixture, life] = await begin();
    await fixture.publish(subjects.fillsCreated, fillOf(fixture, "bought", { quantity: "100" }));
    await fixture.pass(1_000);
    let last = 0;
    let passedAt = 0;
    const denied: string[] = [];
    const started = fixture.time.elapsedMs();
    for (let ms = 0; ms < 10_000; ms = fixture.time.elapsedMs() - started) {
      const decision = await asked(fixture, life, {}, stranger);
      if (decision.approved) last = ms;
      if (denied.length === 0 && ms > 500) {
        denied.push((await asked(fixture, life, { order_id: "stop-a-1" }, machine)).reason);
        const { blocks } = (await fixture.finish(life.call("ListBlocks", { fund_id: "alpha" }))) as Blocks;
        expect(blocks.map(({ code }) => code)).toContain("EXIT_HAS_PRIORITY");
      } else if (ms > 7_000 && passedAt === 0) {
        if ((await asked(fixture, life, { order_id: "stop-a-2" }, machine)).approved) passedAt = ms;
      }
      await fixture.pass(50);
    }
    expect(denied[0]).toContain("asked for by service:stranger");
    expect(last).toBeLessThan(700);
    expect(passedAt).toBeLessThan(7_200);
    expect(passedAt).toBeGreaterThan(last + validMs);
    await fixture.finish(life.service.stop());
  });
});

describe("22.2: an approval that nobody sends", () => {
  it("is listed as unsent, holds its exposure through the grace, and then is gone: recorded and reported once", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    await fixture.pass(validMs + 29_000);
    expect(await line(fixture, life)).toEqual(["0", "100", "0"]);
    expect(await listed(fixture, life, { fund_id: "", unsent: true })).toMatchObject([
      { order_id: "a", state: "UNSENT" },
    ]);
    expect(await listed(fixture, life, { fund_id: "beta", unsent: false })).toEqual([]);
    await fixture.pass(3_000);
    expect(await line(fixture, life)).toEqual(["0", "0", "0"]);
    expect(await listed(fixture, life, { fund_id: "alpha", unsent: false })).toEqual([]);
    const reported = { order_id: "a", what: "ORDER", released_quantity: "100" };
    expect(fixture.published(subjects.approvalExpired)).toMatchObject([reported]);
    expect(fixture.tables.risk.journal.filter(({ kind }) => kind === "expiry").length).toBe(1);
    await fixture.pass(60_000);
    expect(fixture.published(subjects.approvalExpired).length).toBe(1);
    await fixture.finish(life.service.stop());
  });

  it("is listed page by page: unsent ones by when they run out, then those that were sent, and none twice or left out", async () => {
    const [fixture, life] = await begin();
    for (const order_id of ["c", "a", "b", "a/2"]) {
      await approve(fixture, life, { order_id, quantity: "10" });
      await fixture.pass(10);
    }
    await confirm(fixture, life, "c");
    await confirm(fixture, life, "a/2");
    const page = (count_max: number, after_approval?: string) =>
      listed(fixture, life, { unsent: false, count_max, ...(after_approval === undefined ? {} : { after_approval }) });
    const all = await page(10);
    expect(all.map(({ order_id }) => order_id)).toEqual(["a", "b", "a/2", "c"]);
    for (const count of [1, 2, 3]) {
      const seen: Approval[] = [];
      for (;;) {
        const last = seen.at(-1);
        const next = await page(count, last && `${last.valid_until ?? ""}/${last.order_id}`);
        if (next.length === 0) break;
        seen.push(...next);
      }
      expect(seen).toEqual(all);
    }
    for (const wrong of ["a", "yesterday/a"]) {
      await expect(page(1, wrong)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    await fixture.finish(life.service.stop());
  });

  it("of an option, whose symbol has a space, runs out or is released like any other, and the engine starts on its journal", async () => {
    const [fixture, life] = await begin();
    const option = "SPY 281215C00650000";
    const order = { fund_id: "gamma", strategy_id: "gamma-income", symbol: option, asset_class: "OPTION" };
    for (const order_id of ["left", "released"]) {
      await approve(fixture, life, { ...order, order_id, quantity: "1", limit_price: "12.5" });
    }
    expect(await release(fixture, life, "released")).toMatchObject({ state: "RELEASED" });
    await fixture.pass(goneMs);
    expect(fixture.published(subjects.approvalExpired).map(({ symbol }) => symbol)).toEqual([option, option]);
    await fixture.finish(life.service.stop());
    const next = await fixture.start();
    expect(await listed(fixture, next, { fund_id: "gamma", unsent: true })).toEqual([]);
    expect([...life.deaths, ...next.deaths]).toEqual([]);
    await fixture.finish(next.service.stop());
  });

  it("a hundred times, as by a client that crashes between approval and sending, leaves no exposure", async () => {
    const [fixture, life] = await begin();
    for (let number = 0; number < 100; number += 1) {
      await approve(fixture, life, { order_id: `crash-${number}`, quantity: "1" });
      await fixture.pass(700);
    }
    await fixture.pass(goneMs);
    expect(await line(fixture, life)).toEqual(["0", "0", "0"]);
    expect(fixture.published(subjects.approvalExpired).length).toBe(100);
    await fixture.finish(life.service.stop());
  });

  it("is held when something showed that it was sent, however long that rests", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "reported" });
    await approve(fixture, life, { order_id: "confirmed" });
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "reported"));
    expect(await confirm(fixture, life, "confirmed")).toMatchObject({ order_id: "confirmed", state: "SENT" });
    expect(await confirm(fixture, life, "confirmed")).toMatchObject({ state: "SENT" });
    await fixture.pass(600_000);
    expect(await line(fixture, life)).toEqual(["0", "200", "0"]);
    expect(fixture.published(subjects.approvalSent)).toMatchObject([
      { order_id: "confirmed", confirmed_by: "service:oms" },
    ]);
    await expect(confirm(fixture, life, "nobody's")).rejects.toMatchObject({
      code: "NOT_FOUND",
    } satisfies Partial<Fault>);
    await fixture.finish(life.service.stop());
  });

  it("counts again when something shows later that it was sent, and a late fill is booked once; both alarm", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "late" });
    await approve(fixture, life, { order_id: "traded" });
    await fixture.pass(goneMs);
    expect(await line(fixture, life)).toEqual(["0", "0", "0"]);
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "late"));
    const fill = fillOf(fixture, "traded");
    await fixture.publish(subjects.fillsCreated, fill);
    await fixture.publish(subjects.fillsCreated, fill);
    await fixture.pass(1_000);
    expect(await line(fixture, life)).toEqual(["40", "160", "0"]);
    expect(alarmsOf(fixture, "SENT_AFTER_EXPIRY").length).toBe(2);
    expect(alarmsOf(fixture, "FILL_AFTER_EXPIRY").length).toBe(1);
    await fixture.pass(goneMs);
    expect(await line(fixture, life)).toEqual(["40", "160", "0"]);
    await fixture.finish(life.service.stop());
  });

  it("stays gone after a kill and is reported once, and one that was under way runs out after the restart", async () => {
    const [fixture, first] = await begin();
    await approve(fixture, first, { order_id: "early" });
    await fixture.pass(20_000);
    await approve(fixture, first, { order_id: "later" });
    await fixture.pass(goneMs - 20_000);
    expect(await line(fixture, first)).toEqual(["0", "100", "0"]);
    first.process.kill();
    const second = await fixture.start();
    expect(await line(fixture, second)).toEqual(["0", "100", "0"]);
    await fixture.pass(goneMs);
    expect(await line(fixture, second)).toEqual(["0", "0", "0"]);
    const reported = fixture.published(subjects.approvalExpired).map(({ order_id }) => order_id);
    expect(reported).toEqual(["early", "later"]);
    await fixture.finish(second.service.stop());
  });

  it("is reported after a restart when a crash came between the journal and the event", async () => {
    const [fixture, first] = await begin();
    await approve(fixture, first, { order_id: "a" });
    fixture.fates.set(
      "risk.approval",
      Array.from({ length: 100 }, () => "failed" as const),
    );
    await fixture.pass(goneMs + 5_000);
    expect(await line(fixture, first)).toEqual(["0", "0", "0"]);
    expect(fixture.published(subjects.approvalExpired)).toEqual([]);
    first.process.kill();
    fixture.fates.clear();
    const second = await fixture.start();
    await fixture.pass(2_000);
    expect(fixture.published(subjects.approvalExpired)).toMatchObject([{ order_id: "a" }]);
    await fixture.finish(second.service.stop());
  });

  it("is freed by nothing while the journal does not take it", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    await fixture.pass(validMs + 29_000);
    fixture.fates.set(
      "risk.append",
      Array.from({ length: 4 }, () => "failed" as const),
    );
    await fixture.pass(1_500);
    expect(fixture.fates.get("risk.append")?.length).toBeLessThan(4);
    expect(fixture.published(subjects.approvalExpired)).toEqual([]);
    await fixture.pass(20_000);
    expect(await line(fixture, life)).toEqual(["0", "0", "0"]);
    expect(fixture.published(subjects.approvalExpired).length).toBe(1);
    await fixture.finish(life.service.stop());
  });
});

describe("22.2: a bus that is away", () => {
  it.each([
    ["before", 1_000],
    ["after", 10_000],
  ])("for two minutes from %s valid_until frees nothing, and what it brings afterwards is evidence", async (_, ms) => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "sent" });
    await approve(fixture, life, { order_id: "unsent" });
    await fixture.pass(ms);
    const away = takeAway(fixture);
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "sent"));
    await fixture.pass(120_000);
    expect(await line(fixture, life)).toEqual(["0", "200", "0"]);
    // Its time stands still, and says so.
    const [waiting] = await listed(fixture, life, { fund_id: "alpha", unsent: true });
    expect(millisecondsBetween(fixture.time.clock.now(), parse(waiting?.expires_at ?? ""))).toBeGreaterThan(20_000);
    away.end();
    await fixture.pass(20_000);
    expect(await line(fixture, life)).toEqual(["0", "200", "0"]);
    await fixture.pass(goneMs);
    expect(await line(fixture, life)).toEqual(["0", "100", "0"]);
    expect(alarmsOf(fixture, "SENT_AFTER_EXPIRY")).toEqual([]);
    await fixture.finish(life.service.stop());
  });
});

describe("23.3: an exit that competes with a sale of which the engine did not hear that it was sent", () => {
  const sale = { side: "SELL", quantity: "100", reduce_only: true };

  it("is not proven while the bus is away, and is once the engine has heard everything and nothing was sent", async () => {
    const [fixture, life] = await begin();
    await fixture.publish(subjects.fillsCreated, fillOf(fixture, "opening", { quantity: "100" }));
    await fixture.pass(500);
    await approve(fixture, life, { order_id: "sent", ...sale });
    const away = takeAway(fixture);
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "sent", { to: "ROUTED" }));
    await fixture.pass(validMs + 2_000);
    const unproven = { approved: false, code: "SCHEMA_REDUCE_ONLY_UNPROVEN" };
    expect(await fixture.finish(life.check({ order_id: "second", ...sale }))).toMatchObject(unproven);
    away.end();
    await fixture.pass(2_000);
    expect(await fixture.finish(life.check({ order_id: "third", ...sale }))).toMatchObject(unproven);
    await fixture.publish(
      subjects.ordersCancelled,
      stepOf(fixture, "sent", { to: "CANCELLED", remaining_quantity: "0" }),
    );
    await fixture.pass(500);
    await approve(fixture, life, { order_id: "unsent", ...sale });
    await fixture.pass(validMs + 1_500);
    await approve(fixture, life, { order_id: "exit", ...sale });
    await fixture.finish(life.service.stop());
  });
});

/** Nobody hears of orders: another holds the subscription and does nothing with it. */
function takeAway(fixture: RiskEngineFixture): { end: () => void } {
  const durable = fixture.tables.durables.get("riskengine.orders");
  if (durable === undefined) throw new Error("nobody subscribed to orders");
  const { holder } = durable;
  durable.holder = {};
  return {
    end: () => {
      durable.holder = holder;
      for (const watcher of fixture.tables.watchers) watcher.stirred();
    },
  };
}

const askedAt = parse("2026-11-18T15:00:00Z");
const denial = { code: "ORDER_DENIED", reason: "denied" } as const;
const storedOf = (orderId: string, differs: Partial<StoredOrder>): StoredOrder => ({
  order: orderOf(orderId),
  state: "ACCEPTED",
  bodyHash: "ab",
  filledQuantity: decimal.zero,
  filledValue: decimal.zero,
  submittedBy: "operator:duty",
  createdAt: askedAt,
  updatedAt: askedAt,
  ...differs,
});

describe("22.2: an approval that is released", () => {
  it("S7: is not released when it has expired, and is found by its order whatever became of it", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "late" });
    await approve(fixture, life, { order_id: "given-back" });
    expect(await release(fixture, life, "given-back")).toMatchObject({ state: "RELEASED" });
    await fixture.pass(goneMs);
    expect(await release(fixture, life, "late")).toMatchObject({
      denial: { code: "APPROVAL_EXPIRED", reason: expect.stringContaining("has expired already") },
    });
    const states = async (order_id: string) =>
      (await listed(fixture, life, { fund_id: "", unsent: false, order_id })).map(({ state }) => state);
    expect([await states("late"), await states("given-back"), await states("nobody's")]).toEqual([
      ["EXPIRED"],
      ["RELEASED"],
      [],
    ]);
    await fixture.finish(life.service.stop());
  });

  it("is free at once, recorded with who and why, and may be released again", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    expect(await release(fixture, life, "a")).toMatchObject({
      order_id: "a",
      state: "RELEASED",
      reserved_quantity: "0",
    });
    expect(await line(fixture, life)).toEqual(["0", "0", "0"]);
    const reported = { order_id: "a", state: "RELEASED", released_by: operator.actor, reason: "nobody sends it" };
    expect(fixture.published(subjects.approvalExpired)).toMatchObject([reported]);
    expect(await release(fixture, life, "a")).toMatchObject({ state: "RELEASED" });
    expect(fixture.published(subjects.approvalExpired).length).toBe(1);
    life.process.kill();
    const next = await fixture.start();
    expect(await release(fixture, next, "a")).toMatchObject({ state: "RELEASED" });
    await fixture.finish(next.service.stop());
  });

  it("keeps order management from sending it, and is refused once that has let it out, heard of or not", async () => {
    const [fixture, life] = await begin();
    const put = (order_id: string, differs: Partial<StoredOrder> = {}) =>
      fixture.finish(
        fixture.outside.store.transact("fixture.order", (unit) => unit.oms.insertOrder(storedOf(order_id, differs))),
      );
    for (const order_id of ["waits", "routed", "ended", "foreign"]) await approve(fixture, life, { order_id });
    await put("waits");
    await put("routed", { state: "ROUTED" });
    await put("ended", { state: "REJECTED" });
    expect(await release(fixture, life, "routed")).toMatchObject({ denial: { code: "APPROVAL_SENT" } });
    for (const order_id of ["waits", "ended", "foreign"]) {
      expect(await release(fixture, life, order_id)).toMatchObject({ state: "RELEASED" });
    }
    const [event] = fixture.published(subjects.approvalExpired);
    expect(event).toMatchObject({ order_id: "waits" });
    expect(fixture.tables.oms.orders.get("waits")?.releasedThrough).toBe(parse(event?.valid_until ?? ""));
    expect(fixture.tables.oms.orders.get("routed")?.releasedThrough).toBeUndefined();
    expect(fixture.tables.oms.orders.get("ended")?.releasedThrough).toBeUndefined();
    expect(await line(fixture, life)).toEqual(["0", "100", "0"]);
    await fixture.finish(life.service.stop());
  });

  it.each([
    ["asked for", { amendment: { idempotency_key: "more", askedAt } }, "RELEASED"],
    ["handed over", { amendment: { idempotency_key: "more", askedAt, handedAt: askedAt } }, "APPROVAL_SENT"],
    ["in force", { settledAmendments: [{ idempotency_key: "more", settledAt: askedAt }] }, "APPROVAL_SENT"],
    ["dropped", { settledAmendments: [{ idempotency_key: "more", denial, settledAt: askedAt }] }, "RELEASED"],
    ["another's", { settledAmendments: [{ idempotency_key: "less", settledAt: askedAt }] }, "RELEASED"],
  ] as const)("of an amendment that is %s, by the store: %s", async (_what, differs, outcome) => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "a"));
    await fixture.pass(500);
    await approve(fixture, life, { order_id: "a", quantity: "250", idempotency_key: "more" });
    const stored = storedOf("a", { state: "WORKING", ...differs });
    await fixture.finish(fixture.outside.store.transact("fixture.order", (unit) => unit.oms.insertOrder(stored)));
    const answer = await release(fixture, life, "a");
    expect(answer.denial?.code ?? fixture.published(subjects.approvalExpired)[0]?.state).toBe(outcome);
    expect(await line(fixture, life)).toEqual(["0", outcome === "RELEASED" ? "100" : "250", "0"]);
    await fixture.finish(life.service.stop());
  });

  it("is refused when something shows that it was sent, without a reason, and for an order that nobody knows", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    expect(await release(fixture, life, "a", " \n ")).toMatchObject({ denial: { code: "REASON_MISSING" } });
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "a", { to: "UNKNOWN" }));
    await fixture.pass(500);
    expect(await release(fixture, life, "a")).toMatchObject({ denial: { code: "APPROVAL_SENT" } });
    expect(await line(fixture, life)).toEqual(["0", "100", "0"]);
    await expect(release(fixture, life, "b")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await fixture.finish(life.service.stop());
  });
});

describe("23.11: an amendment that was dropped", () => {
  it("gives its larger reservation back at once, and one that was approved since stays", async () => {
    const [fixture, life] = await begin();
    await approve(fixture, life, { order_id: "a" });
    await fixture.publish(subjects.ordersUpdated, stepOf(fixture, "a"));
    await fixture.pass(500);
    await approve(fixture, life, { order_id: "a", quantity: "250", idempotency_key: "more" });
    expect(await line(fixture, life)).toEqual(["0", "250", "0"]);
    const dropped = stepOf(fixture, "a", { from: "WORKING", dropped_amendment_key: "more" });
    await approve(fixture, life, { order_id: "a", quantity: "150", idempotency_key: "less" });
    await fixture.publish(subjects.ordersUpdated, dropped);
    await fixture.pass(500);
    expect(await line(fixture, life)).toEqual(["0", "150", "0"]);
    await fixture.publish(subjects.ordersUpdated, { ...dropped, dropped_amendment_key: "less" });
    await fixture.pass(500);
    expect(await line(fixture, life)).toEqual(["0", "100", "0"]);
    life.process.kill();
    const second = await fixture.start();
    expect(await line(fixture, second)).toEqual(["0", "100", "0"]);
    await fixture.finish(second.service.stop());
  });
});
