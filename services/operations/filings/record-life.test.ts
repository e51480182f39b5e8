// What is recorded of orders whose events come late, in any order, or from elsewhere: records that wait for their order, orders that a fund was switched off for,
// and the days on which clocks change.
import { afterEach, describe, expect, it } from "vitest";
import type { FilingReconciliation } from "../../../contracts/src/generated/svc/v1/filingchecks.ts";
import { type Instant, parse } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type FilingsFixture, openFilings, testOrder } from "../../../testkit/filings/filings-fixture.ts";

const startAt = parse("2026-11-13T15:00:00.000000Z");

let open: FilingsFixture | undefined;
async function opened(at: Instant = startAt) {
  open = await openFilings({ startAt: at });
  await open.start();
  return open;
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const records = (of: FilingsFixture) =>
  of.platform.reported(subjects.filingRecorded).map(({ status, type, order_id }) => `${status} ${type} ${order_id}`);
const alarms = (of: FilingsFixture) => of.platform.reported(subjects.alarmRaised).map(({ code }) => code);
const event = (type: string, orderId: string, details: object = {}) => ({
  event_type: type,
  order: { ...testOrder, order_id: orderId },
  venue: "",
  actor: "desk",
  details: { event_id: `${orderId} ${type}`, ...details },
});

describe("a record whose order is not recorded yet", () => {
  it("is judged again by itself when its order comes, with its parts, and alarms nobody", async () => {
    const of = await opened();
    await of.call(event("order_cancelled", "c-1"));
    await of.call(event("child_order", "c-1", { parent_order_id: "p-1" }));
    await of.call(event("order_routed", "c-1"));
    expect(records(of)).toEqual(["QUARANTINED MEOC c-1", "QUARANTINED MECO c-1", "QUARANTINED MEOR c-1"]);
    const answer = await of.call(event("new_order", "p-1"));
    expect(answer).toMatchObject({ submissions: [{ status: "WRITTEN", line: 0 }] });
    expect(records(of).slice(3)).toEqual([
      "WRITTEN MENO p-1",
      "WRITTEN MECO c-1",
      "WRITTEN MECOC c-1",
      "WRITTEN MEOR c-1",
    ]);
    await of.platform.pass(180_000);
    expect(alarms(of)).toEqual([]);
    const lines = of.files.contents.get("cat/alpha/2026-11-13/events.ndjson")?.trimEnd().split("\n");
    expect(lines?.length).toBe(4);
    // The same event again is the same answer, and nothing new.
    expect(await of.call(event("order_routed", "c-1"))).toMatchObject({
      submissions: [{ status: "QUARANTINED", line: 2 }],
    });
    expect(records(of).length).toBe(7);
    const day = { regime: "CAT", fund_id: "alpha", date: "2026-11-13" };
    const found = await of.ask<FilingReconciliation>("ReconcileFilings", day);
    expect(found).toMatchObject({ by_call: 4, quarantined: 0, missing_count: 0, unexpected_count: 0 });
  });

  it("is an alarm when it has waited for a minute", async () => {
    const of = await opened();
    await of.call(event("order_routed", "c-1"));
    await of.platform.pass(55_000);
    expect(alarms(of)).toEqual([]);
    await of.platform.pass(65_000);
    expect(alarms(of)).toEqual(["FILING_QUARANTINED"]);
  });
});

describe("an order that a person cancels", () => {
  it("is cancelled by the customer", async () => {
    const of = await opened();
    await of.create();
    for (const to of ["ACCEPTED", "ROUTED", "WORKING"] as const) await of.move(to);
    await of.move("CANCEL_PENDING", { cancel_asked_by: "operator:duty" });
    await of.move("CANCELLED");
    const lines = of.files.contents.get("cat/alpha/2026-11-13/events.ndjson")?.trimEnd().split("\n") ?? [];
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "MEOC", initiator: "C", cancelQty: 500 });
  });
});

describe("a fund that is enabled again", () => {
  it("has orders go on that were recorded before, and none of those that began in between", async () => {
    const of = await opened();
    await of.create();
    await of.move("ACCEPTED");
    await of.stop();
    await of.start({});
    await of.create({ order_id: "o-2", idempotency_key: "k-2" });
    await of.stop();
    await of.start();
    await of.move("ACCEPTED", { order_id: "o-2" });
    for (const to of ["ROUTED", "WORKING", "CANCELLED"] as const) await of.move(to);
    expect(records(of).map((record) => record.slice(8))).toEqual(["MENO o-1", "MEOR o-1", "MECR o-1", "MEOC o-1"]);
  });
});

describe("an order that began while its fund was enabled", () => {
  it("is recorded when it is heard after the fund was switched off and on again", async () => {
    const of = await opened();
    await of.platform.pass(1_000);
    await of.stop();
    await of.create();
    await of.platform.pass(1_000);
    await of.start({});
    await of.stop();
    await of.start();
    await of.move("ACCEPTED");
    expect(records(of)).toEqual(["WRITTEN MENO o-1"]);
  });
});

describe("an event at a moment when clocks or calendars are special", () => {
  it.each([
    // The hour that does not exist on the clocks of New York.
    [
      "2026-03-08T06:59:59.000000Z",
      "2026-03-08",
      '"eventTimestamp":"20260308T015959.000000"',
      "2026-03-10T12:00:00.000000Z",
    ],
    [
      "2026-03-08T07:00:00.000000Z",
      "2026-03-08",
      '"eventTimestamp":"20260308T030000.000000"',
      "2026-03-10T12:00:00.000000Z",
    ],
    // Both 01:30.
    [
      "2026-11-01T05:30:00.000000Z",
      "2026-11-01",
      '"eventTimestamp":1793511000000000000',
      "2026-11-03T13:00:00.000000Z",
    ],
    [
      "2026-11-01T06:30:00.000000Z",
      "2026-11-01",
      '"eventTimestamp":1793514600000000000',
      "2026-11-03T13:00:00.000000Z",
    ],
    // The half day after Thanksgiving: its day ends at 16:15, too.
    [
      "2026-11-27T21:15:00.000000Z",
      "2026-11-27",
      '"eventTimestamp":"20261127T161500.000000"',
      "2026-11-30T13:00:00.000000Z",
    ],
    [
      "2026-11-27T21:15:00.000001Z",
      "2026-11-27",
      '"eventTimestamp":"20261127T161500.000001"',
      "2026-12-01T13:00:00.000000Z",
    ],
    // Thanksgiving itself belongs to the half day.
    [
      "2026-11-26T15:00:00.000000Z",
      "2026-11-26",
      '"eventTimestamp":"20261126T100000.000000"',
      "2026-11-30T13:00:00.000000Z",
    ],
    // A weekend with a holiday behind it: Saturday before Martin Luther King's day.
    [
      "2026-01-17T15:00:00.000000Z",
      "2026-01-17",
      '"eventTimestamp":"20260117T100000.000000"',
      "2026-01-21T13:00:00.000000Z",
    ],
    // The evening in New York is the next day in UTC.
    [
      "2026-12-07T04:59:59.999999Z",
      "2026-12-06",
      '"eventTimestamp":"20261206T235959.999999"',
      "2026-12-08T13:00:00.000000Z",
    ],
    [
      "2026-12-07T05:00:00.000000Z",
      "2026-12-07",
      '"eventTimestamp":"20261207T000000.000000"',
      "2026-12-08T13:00:00.000000Z",
    ],
  ])("%s is of %s", async (moment, date, timestamp, deadline) => {
    const of = await opened(parse(moment));
    await of.create({}, 0);
    await of.move("ACCEPTED");
    const [record] = [...of.platform.tables.filings.values()];
    expect(record).toMatchObject({ status: "WRITTEN", date, deadline: parse(deadline), late: false });
    expect(record?.text).toContain(timestamp);
    const found = await of.ask<FilingReconciliation>("ReconcileFilings", { regime: "CAT", fund_id: "alpha", date });
    expect(found).toMatchObject({ expected: 1, recorded: 1, different_count: 0 });
  });
});
