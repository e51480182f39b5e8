// That a compliance officer can prove that nothing is missing, and is told when something is: a day held against the audit log, records against their entries,
// and files against records.
import { afterEach, describe, expect, it } from "vitest";
import type {
  FilingReconciliation,
  FilingReview,
  FilingVerification,
  RebuiltFilings,
} from "../../../contracts/src/generated/svc/v1/filingchecks.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type FilingsFixture, openFilings, testCat, testOrder } from "../../../testkit/filings/filings-fixture.ts";

const startAt = parse("2026-11-13T15:00:00.000000Z");
const eventsFile = "cat/alpha/2026-11-13/events.ndjson";
const day = { regime: "CAT", fund_id: "alpha", date: "2026-11-13" };
const change = { ...day, reason: "the daily review" };

let open: FilingsFixture | undefined;
async function opened() {
  open = await openFilings({ startAt });
  await open.start();
  return open;
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const reconcile = (of = open) => of?.ask<FilingReconciliation>("ReconcileFilings", day);
const lists = (found?: FilingReconciliation) =>
  found && [found.missing_count, found.unexpected_count, found.different_count];

const life = (of: FilingsFixture, orderId: string): Promise<void> => of.live(orderId);

describe("reconcile", () => {
  it("finds every event of a day recorded, and nothing that was denied", async () => {
    const of = await opened();
    await life(of, "o-1");
    await of.create({ order_id: "o-2", idempotency_key: "k-2" });
    await of.move("REJECTED", { order_id: "o-2", code: "POSITION_LIMIT_EXCEEDED" });
    expect(await reconcile()).toMatchObject({ expected: 4, recorded: 4, by_call: 0, pending: 0, before_enabled: 0 });
    expect(lists(await reconcile())).toEqual([0, 0, 0]);
  });

  it("names what the subscription lost, says so by an alarm, and a repair records it late and in its place", async () => {
    const of = await opened();
    await life(of, "o-1");
    of.lose(({ payload }) => (payload as { to?: string }).to === "CANCELLED");
    await life(of, "o-2");
    of.lose(() => false);
    const found = await reconcile();
    expect(found).toMatchObject({ expected: 8, recorded: 6 });
    expect(found?.missing.map(({ order_id, event_type }) => [order_id, event_type])).toEqual([
      ["o-2", "route_cancelled"],
      ["o-2", "order_cancelled"],
    ]);
    expect(of.platform.reported(subjects.alarmRaised).map(({ code }) => code)).toContain("FILING_INCOMPLETE");
    const repaired = await of.ask<FilingReconciliation>("RepairFilings", change);
    await of.platform.pass(1_000);
    expect(repaired).toMatchObject({ repaired: 2, expected: 8, recorded: 8 });
    expect(lists(repaired)).toEqual([0, 0, 0]);
    const late = of.platform.reported(subjects.filingRecorded).filter(({ late: isLate }) => isLate);
    expect(late.map(({ type }) => type)).toEqual(["MECR", "MEOC"]);
    expect(of.files.contents.get(eventsFile)?.split("\n").length).toBe(9);
    expect(await of.ask<FilingReconciliation>("RepairFilings", change)).toMatchObject({ repaired: 0 });
  });

  it("names the orders of an hour in which the fund was switched off; those of before it was first enabled are left out", async () => {
    open = await openFilings({ startAt });
    await open.start({});
    await life(open, "o-0");
    await open.stop();
    await open.start();
    await life(open, "o-1");
    await open.create({ order_id: "o-2", idempotency_key: "k-2" });
    await open.move("ACCEPTED", { order_id: "o-2" });
    await open.stop();
    await open.start({});
    await life(open, "o-3");
    await open.move("CANCELLED", { order_id: "o-2" });
    await open.stop();
    await open.start();
    await open.platform.pass(5_000);
    const found = await reconcile();
    expect(found).toMatchObject({ before_enabled: 4 });
    expect(new Set(found?.missing.map(({ order_id }) => order_id))).toEqual(new Set(["o-3"]));
    expect(await open.ask<FilingReconciliation>("RepairFilings", change)).toMatchObject({
      repaired: 4,
      missing_count: 0,
      before_enabled: 4,
    });
  });

  it("says what need not be heard yet, and names it when it should have been", async () => {
    const of = await opened();
    await life(of, "o-1");
    await of.stop();
    await life(of, "o-2");
    await of.start();
    // Nothing was heard yet since it started.
    expect(await reconcile()).toMatchObject({ missing_count: 0 });
    await of.platform.pass(5_000);
    expect(await reconcile()).toMatchObject({ expected: 8, recorded: 8, pending: 0 });
  });

  it("counts what was reported by call, and names call records of an order that was published too", async () => {
    const of = await opened();
    const event = (orderId: string) => ({
      event_type: "new_order",
      order: { ...testOrder, order_id: orderId },
      venue: "",
      actor: "desk",
    });
    await of.call(event("c-1"), "oms");
    await of.call(event("c-2"), "oms");
    await of.platform.pass(1_000);
    expect(await reconcile()).toMatchObject({ by_call: 2, expected: 0, unexpected_count: 0 });
    await of.create({ order_id: "c-2", idempotency_key: "k-c" });
    await of.move("ACCEPTED", { order_id: "c-2" });
    const found = await reconcile();
    expect(found).toMatchObject({ by_call: 1, expected: 0, missing_count: 0, different_count: 0 });
    expect(found?.unexpected.map(({ order_id, source }) => [order_id, source])).toEqual([["c-2", "oms"]]);
  });

  it("names a record that is not what its event becomes, under the settings of when it was made", async () => {
    const of = await opened();
    await life(of, "o-1");
    await of.stop();
    await of.start({ alpha: { cat: { ...testCat, imid: "WXYZ" } } });
    await of.platform.pass(1_000);
    expect(lists(await reconcile())).toEqual([0, 0, 0]);
    const [first] = [...of.platform.tables.filings.values()];
    if (first !== undefined) {
      of.platform.tables.filings.set(first.recordId, {
        ...first,
        text: first.text.replace('"quantity":500', '"quantity":400'),
      });
    }
    const found = await reconcile();
    expect(found?.different.map(({ record_id }) => record_id)).toEqual([first?.recordId]);
  });

  it("proves nothing by a log that was changed", async () => {
    const of = await opened();
    await life(of, "o-1");
    of.log.tamper('"quantity":"500"', '"quantity":"400"');
    await expect(reconcile()).rejects.toMatchObject({ code: "FILING_LOG_BROKEN" });
  });
});

describe("what the subscription lost", () => {
  it.each([0, 2, 3, 4])("is found, whichever step of an order it is: %s", async (step) => {
    const of = await opened();
    let heard = 0;
    of.lose(() => {
      heard += 1;
      return heard === 6 + step;
    });
    for (let order = 1; order <= 3; order += 1) await of.live(`o-${order}`);
    const found = await reconcile();
    expect(new Set(found?.missing.map(({ order_id }) => order_id))).toEqual(new Set(["o-2"]));
    expect((found?.recorded ?? 0) + (found?.missing_count ?? 0)).toBe(12);
  });
});

describe("verify", () => {
  const verify = () => open?.ask<FilingVerification>("VerifyFilings", day);
  const kinds = (found?: FilingVerification) => found?.findings.map(({ kind }) => kind);

  it("finds files that were edited, cut or taken away, and records that were changed or removed", async () => {
    const of = await opened();
    await life(of, "o-1");
    expect(await verify()).toMatchObject({
      records: 4,
      finding_count: 0,
      files: [{ path: eventsFile, state: "IMAGE" }],
    });
    const whole = of.files.contents.get(eventsFile) ?? "";
    of.files.contents.set(eventsFile, whole.replace("500", "501"));
    expect(kinds(await verify())).toEqual(["FILE_CHANGED"]);
    of.files.contents.set(eventsFile, whole.slice(0, -20));
    expect(kinds(await verify())).toEqual(["FILE_BEHIND"]);
    of.files.contents.delete(eventsFile);
    expect(kinds(await verify())).toEqual(["FILE_MISSING"]);
    of.files.contents.set(eventsFile, whole);
    const { filings } = of.platform.tables;
    const [first, second] = [...filings.values()];
    if (first === undefined || second === undefined) throw new Error("nothing was recorded");
    filings.set(first.recordId, { ...first, text: first.text.replace("500", "501") });
    filings.delete(second.recordId);
    expect(kinds(await verify())).toEqual(["RECORD_CHANGED", "RECORD_MISSING", "FILE_CHANGED"]);
  });

  it("a file that holds something else is made again beside what it held", async () => {
    const of = await opened();
    await life(of, "o-1");
    const whole = of.files.contents.get(eventsFile) ?? "";
    expect(await of.ask<RebuiltFilings>("RebuildFilings", change)).toEqual({ files: [] });
    const edited = whole.replace("500", "501");
    of.files.contents.set(eventsFile, edited);
    const { files } = await of.ask<RebuiltFilings>("RebuildFilings", change);
    expect(files).toMatchObject([{ path: eventsFile, state: "IMAGE" }]);
    expect(files[0]?.set_aside_as).toMatch(/^events\.ndjson\.changed-[A-Za-z0-9.]+$/);
    expect(of.files.contents.get(`cat/alpha/2026-11-13/${files[0]?.set_aside_as}`)).toBe(edited);
    expect(of.files.contents.get(eventsFile)).toBe(whole);
    expect(await verify()).toMatchObject({ finding_count: 0 });
    const attempts = of.platform.reported(subjects.operatorAttempted).map(({ verb, operator }) => [verb, operator]);
    expect(attempts).toContainEqual(["RebuildFilings", "operator:duty"]);
  });

  it("a review is an event with what was found, and needs a reason", async () => {
    const of = await opened();
    await life(of, "o-1");
    expect(await of.ask("ReviewFilings", { ...day, reason: " " })).toMatchObject({
      denial: { code: "REASON_MISSING" },
    });
    const reviewed = await of.ask<FilingReview>("ReviewFilings", change);
    expect(reviewed).toMatchObject({ reviewed_by: "operator:duty", reconciliation: { expected: 4, recorded: 4 } });
    expect(of.platform.reported(subjects.filingReviewed)).toMatchObject([
      { reviewed_by: "operator:duty", expected: 4, missing: 0, findings: 0, reason: "the daily review" },
    ]);
  });
});
