// Sealing, sending, feedback and corrections on virtual time, over a regulator in memory that can be cut anywhere. The numbers are those of seal.ts, upload.ts,
// upload-daily.ts, feedback.ts and correct.ts.
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Bzip2, openBzip2 } from "../../../adapters/filing-transport/bzip2.ts";
import type { FiledRecord, Filing } from "../../../contracts/src/generated/svc/v1/filings.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { RegimeSettings } from "../../../ports/settings.ts";
import { memoryFeedbackBytesMax } from "../../../testkit/memory/filing-work.ts";
import { filingsFixture } from "../../../testkit/virtual/filings-fixture.ts";

let bzip2: Bzip2;
beforeAll(async () => {
  bzip2 = await openBzip2();
});

type Fixture = Awaited<ReturnType<typeof filingsFixture>>;
let open: Fixture | undefined;
async function begin(differs: { startAt?: string; way?: Partial<RegimeSettings> } = {}) {
  open = await filingsFixture({ bzip2, ...differs, startAt: parse(differs.startAt ?? "2026-11-13T15:00:00.000000Z") });
  return open;
}
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const base = "1234_ABCD_20261113_alpha_OrderEvents_000001";
const day = { regime: "CAT", fund_id: "alpha", date: "2026-11-13", reason: "asked" };
const folder = "cat/alpha/2026-11-13";
const receipt = (stage: string, status: string, more: object = {}) =>
  Buffer.from(JSON.stringify({ stage, status, ...more }));

async function sealed(fixture: Fixture): Promise<Filing> {
  const { filings } = await fixture.ask<{ filings: Filing[] }>("SealFilings", day);
  const [only] = filings;
  if (only === undefined) throw new Error("nothing was sealed");
  return only;
}

describe("a day's file that is sealed", () => {
  it("has its lines, its count and its hash in what goes with it and in the entry; what comes later is in the next", async () => {
    const fixture = await begin();
    const first = await fixture.submitted();
    await fixture.submitted({ type: "order_routed", details: { event_id: "e-2" } });
    const filing = await sealed(fixture);
    expect(filing).toMatchObject({ filing_id: first.filing_id, state: "SEALED", records: 2, name: `${base}.json.bz2` });
    const bytes = Buffer.from(fixture.files.contents.get(`${folder}/${base}.json.bz2`) ?? "", "latin1");
    const lines = fixture.files.contents.get(`${folder}/events.ndjson`);
    expect(Buffer.from(bzip2.decompress(bytes, 1_000_000)).toString("utf8")).toBe(lines);
    const meta = JSON.parse(fixture.files.contents.get(`${folder}/${base}.meta.json`) ?? "{}") as object;
    expect(meta).toMatchObject({
      submitter: "1234",
      reporter: "ABCD",
      files: [{ fileName: `${base}.json.bz2`, recordCount: 2, compressedHash: filing.sha256 }],
    });
    const [told] = fixture.platform.reported(subjects.filingSealed);
    expect(told).toMatchObject({ records: 2, sha256: filing.sha256, sealed_by: "operator:duty", reason: "asked" });
    const next = await fixture.submitted({ type: "order_cancelled", details: { event_id: "e-3" } });
    expect(next).toMatchObject({ line: 2, filing_id: "cat.alpha.2026-11-13.000002" });
    expect(await fixture.submitted()).toEqual(first);
    const again = await fixture.ask<{ filings: Filing[] }>("SealFilings", day);
    expect(again.filings.map(({ records, name }) => [records, name])).toEqual([
      [1, `${base.replace("000001", "000002")}.json.bz2`],
    ]);
    expect(await fixture.denied("SealFilings", day)).toBe("FILING_NOTHING_TO_SEAL");
    const { lines: second } = await fixture.ask<{ lines: string[] }>("ReadFiling", {
      filing_id: next.filing_id,
      from_line: 0,
      quarantined: false,
      count_max: 0,
    });
    expect(second).toHaveLength(1);
  });

  it("1: is closed before it is made: what comes while it is made, or after that failed, is in the next", async () => {
    const fixture = await begin();
    await fixture.submitted();
    fixture.work.dies = { kind: "compress", when: "before" };
    await expect(fixture.ask("SealFilings", day)).rejects.toMatchObject({ code: "FILING_WORK_DIED" });
    expect(await fixture.submitted({ type: "order_routed", details: { event_id: "e-2" } })).toMatchObject({
      filing_id: "cat.alpha.2026-11-13.000002",
    });
    const { filings } = await fixture.ask<{ filings: Filing[] }>("SealFilings", day);
    expect(filings.map(({ filing_id, records }) => [filing_id.slice(-6), records])).toEqual([
      ["000001", 1],
      ["000002", 1],
    ]);
  });

  it("3: is not sealed where the folder holds something else, and a sealed one that is gone is made again", async () => {
    const fixture = await begin();
    await fixture.submitted();
    const name = `${folder}/events.ndjson`;
    const whole = fixture.files.contents.get(name) ?? "";
    fixture.files.contents.set(name, whole.replace("AAPL", "AAPX"));
    expect(await fixture.denied("SealFilings", day)).toBe("FILING_NOT_THE_RECORDS");
    expect(fixture.alarms()).toContain("FILING_FILE_CHANGED");
    fixture.files.contents.set(name, whole);
    await sealed(fixture);
    const data = `${folder}/${base}.json.bz2`;
    const bytes = fixture.files.contents.get(data) ?? "";
    fixture.files.contents.set(data, bytes.slice(0, 10));
    await fixture.ask("UploadFilings", day);
    expect(fixture.files.contents.get(data)).toBe(bytes);
  });

  it("needs the identity that CAT can hold, by the names of its keys", async () => {
    const fixture = await begin({ way: {} });
    await fixture.submitted();
    fixture.cat.submitterId = "x1";
    fixture.cat.fdid = "f".repeat(41);
    const denial = await fixture.denial("SealFilings", day);
    expect(denial.code).toBe("FILING_IDENTITY_INCOMPLETE");
    expect(denial.reason).toContain("cat_subscriber_id");
    expect(denial.reason).toContain("cat_fdid");
  });
});

describe("a sealed file that is sent", () => {
  it.each(["look", "write", "half-written", "written", "renamed"] as const)(
    "1: and cut at %s arrives whole the next time, once",
    async (step) => {
      const fixture = await begin();
      await fixture.submitted();
      const { sha256 } = await sealed(fixture);
      fixture.regulator.cutAt = step;
      expect(await fixture.denied("UploadFilings", day)).toBe("FILING_UPLOAD_REFUSED");
      const { filings } = await fixture.ask<{ filings: Filing[] }>("UploadFilings", day);
      expect(filings.map(({ state }) => state)).toEqual(["UPLOADED"]);
      expect([...fixture.regulator.complete.keys()]).toEqual([`${base}.json.bz2`, `${base}.meta.json`]);
      expect(fixture.platform.reported(subjects.filingUploaded)).toMatchObject([
        { sha256, uploaded_by: "operator:duty" },
      ]);
    },
  );

  it("1: and whose process was killed after it arrived is found there", async () => {
    const fixture = await begin();
    await fixture.submitted();
    await sealed(fixture);
    fixture.work.dies = { kind: "send", when: "after" };
    expect(await fixture.denied("UploadFilings", day)).toBe("FILING_UPLOAD_REFUSED");
    await fixture.ask("UploadFilings", day);
    expect(fixture.platform.reported(subjects.filingUploaded)).toMatchObject([{ how: "THERE" }]);
  });

  it("never replaces what lies there under its name", async () => {
    const fixture = await begin();
    await fixture.submitted();
    await sealed(fixture);
    fixture.regulator.complete.set(`${base}.json.bz2`, Buffer.from("another"));
    expect(await fixture.denied("UploadFilings", day)).toBe("FILING_UPLOAD_REFUSED");
    expect(fixture.platform.reported(subjects.filingUploaded)).toEqual([]);
  });

  it("2: goes to test alone where its fund is a paper one; by hand it is written down", async () => {
    const fixture = await begin({ way: { environment: "production" } });
    await fixture.submitted();
    expect(await fixture.denied("UploadFilings", day)).toBe("FILING_NOT_SEALED");
    await sealed(fixture);
    expect(await fixture.denied("UploadFilings", day)).toBe("FILING_MODE_MISMATCH");
    await fixture.ask("UploadFilings", { ...day, by_hand: true });
    expect(fixture.platform.reported(subjects.filingUploaded)).toMatchObject([{ how: "BY_HAND", reason: "asked" }]);
    expect(fixture.regulator.complete.size).toBe(0);
    expect(await fixture.denied("SealFilings", { ...day, reason: " " })).toBe("REASON_MISSING");
  });
});

describe("by itself", () => {
  it("yesterday's file is sealed and sent at the time of day, and not before", async () => {
    // 04:58 Eastern on the day after, a Saturday.
    const fixture = await begin({ startAt: "2026-11-14T09:58:00.000000Z" });
    await fixture.submitted({ details: { event_id: "e-1", event_timestamp: "2026-11-13T15:00:00.000000Z" } });
    await fixture.platform.pass(100_000);
    expect(fixture.regulator.complete.size).toBe(0);
    await fixture.platform.pass(30_000);
    expect([...fixture.regulator.complete.keys()]).toEqual([`${base}.json.bz2`, `${base}.meta.json`]);
    expect(fixture.platform.reported(subjects.filingUploaded)).toMatchObject([
      { how: "SENT", uploaded_by: "operations" },
    ]);
  });

  it("1: what cannot go is told once and tried every minute; what was slept through is done at the start", async () => {
    const fixture = await begin({ startAt: "2026-11-14T18:00:00.000000Z" });
    await fixture.submitted({ details: { event_id: "e-1", event_timestamp: "2026-11-13T15:00:00.000000Z" } });
    fixture.regulator.complete.set(`${base}.json.bz2`, Buffer.from("another"));
    await fixture.platform.pass(200_000);
    expect(fixture.alarms()).toEqual(["FILING_UPLOAD_FAILED"]);
    fixture.regulator.complete.clear();
    await fixture.platform.pass(61_000);
    expect(fixture.regulator.complete.size).toBe(2);
    expect(fixture.alarms()).toEqual(["FILING_UPLOAD_FAILED"]);
  });

  // The deadline of each is 08:00 Eastern on the next trading day; the time is that of UTC.
  it.each([
    ["a Friday before daylight saving time", "2026-03-06T20:00:00Z", "2026-03-09T12:00:00Z"],
    ["the Sunday on which the clock goes forward", "2026-03-08T15:00:00Z", "2026-03-10T12:00:00Z"],
    ["the Sunday on which it goes back, in its second 01:30", "2026-11-01T06:30:00Z", "2026-11-03T13:00:00Z"],
    ["a half day, after it closed", "2026-11-27T20:00:00Z", "2026-11-30T13:00:00Z"],
    ["16:15 Eastern", "2026-11-13T21:15:00Z", "2026-11-16T13:00:00Z"],
    ["a moment after it", "2026-11-13T21:15:00.000001Z", "2026-11-17T13:00:00Z"],
    ["a weekend before a holiday", "2026-01-16T23:00:00Z", "2026-01-21T13:00:00Z"],
  ])("3: an hour before its deadline %s is told of, and when it is missed", async (_name, at, deadline) => {
    const due = Date.parse(deadline);
    const startAt = new Date(due - 3_700_000).toISOString().replace("Z", "000Z");
    const fixture = await begin({ startAt, way: { uploadAt: "23:59" } });
    await fixture.submitted({ details: { event_id: "e-1", event_timestamp: at } });
    await fixture.platform.pass(60_000);
    expect(fixture.alarms()).toEqual([]);
    await fixture.platform.pass(120_000);
    expect(fixture.alarms()).toEqual(["FILING_DEADLINE_NEAR"]);
    await fixture.platform.pass(3_600_000);
    expect(fixture.alarms()).toEqual(["FILING_DEADLINE_NEAR", "FILING_DEADLINE_MISSED"]);
  });

  it("3: a paper fund's deadline is told of only where tests are sent", async () => {
    const fixture = await begin({ startAt: "2026-11-18T15:00:00.000000Z", way: { transport: "none" } });
    await fixture.submitted({ details: { event_id: "e-1", event_timestamp: "2026-11-13T15:00:00.000000Z" } });
    await fixture.platform.pass(300_000);
    expect(fixture.alarms()).toEqual([]);
  });
});

describe("what the regulator says", () => {
  async function sent() {
    const fixture = await begin();
    await fixture.submitted();
    await fixture.submitted({ type: "order_routed", details: { event_id: "e-2" } });
    await sealed(fixture);
    await fixture.ask("UploadFilings", day);
    const state = async () => (await fixture.ask<{ filings: Filing[] }>("ListFilings", { count_max: 0 })).filings;
    const records = async () =>
      (await fixture.ask<{ records: FiledRecord[] }>("ListFilingRecords", { count_max: 0 })).records;
    const heard = async (said: Readonly<Record<string, Uint8Array>>) => {
      for (const [name, content] of Object.entries(said)) fixture.regulator.saying.set(name, content);
      const asked = { regime: "CAT", reason: "asked" };
      return (
        await fixture.ask<{ feedback: { name: string; outcome: string; rejected: number }[] }>(
          "TakeFilingFeedback",
          asked,
        )
      ).feedback;
    };
    const [first, second] = await records();
    if (first === undefined || second === undefined) throw new Error("two records are missing");
    const errorOf = (record: FiledRecord, id: string) =>
      `{"errorCode":[3701],"errorROEID":${id},"errorRecord":${record.record}}\n`;
    return { fixture, state, records, heard, first, second, errorOf };
  }

  it("is acknowledged, then accepted with the errors that it announces, its own rejected; a repair is a record of its own", async () => {
    const { fixture, state, records, heard, second, errorOf } = await sent();
    await heard({ [`${base}.ack.json`]: receipt("ack", "Success") });
    expect((await state()).map((one) => one.state)).toEqual(["ACKNOWLEDGED"]);
    await heard({ [`${base}.ingestion.json`]: receipt("ingestion", "Success", { errorCount: 1 }) });
    expect((await state()).map((one) => one.state)).toEqual(["ACKNOWLEDGED"]);
    const errors = bzip2.compress(Buffer.from(errorOf(second, "12345678901234567890")));
    await heard({ [`${base}.ingestion.error.json.bz2`]: errors });
    expect((await state()).map((one) => [one.state, one.rejected])).toEqual([["ACCEPTED", 1]]);
    expect((await records()).map(({ status }) => status)).toEqual(["ACCEPTED", "REJECTED"]);
    expect(fixture.alarms()).toEqual(["FILING_REJECTED"]);
    const repaired = await fixture.ask<{ correction: FiledRecord }>("CorrectFilingRecord", {
      record_id: second.record_id,
      action: "RPR",
      set: { session: "S2" },
      reason: "typo",
    });
    const said = repaired.correction.record;
    expect(said).toContain('"actionType":"RPR","errorROEID":12345678901234567890,"firmROEID"');
    expect(said.replace(/"actionType".*?"firmROEID"/, "")).toBe(
      second.record.replace(/"actionType".*?"firmROEID"/, "").replace('"session":"S1"', '"session":"S2"'),
    );
    expect(repaired.correction.filing_id).toBe("cat.alpha.2026-11-13.000002");
    expect((await records()).map(({ status }) => status)).toEqual(["ACCEPTED", "CORRECTED", "WRITTEN"]);
    expect((await state()).map((one) => [one.state, one.rejected])).toEqual([
      ["ACCEPTED", 0],
      ["OPEN", 0],
    ]);
    const lines = fixture.files.contents.get(`${folder}/events.ndjson`) ?? "";
    expect(lines.trimEnd().split("\n").at(-1)).toBe(said);
    await sealed(fixture);
    const again = await fixture.denied("CorrectFilingRecord", {
      record_id: second.record_id,
      action: "RPR",
      set: {},
      reason: "again",
    });
    expect(again).toBe("FILING_NOT_CORRECTABLE");
    expect(fixture.platform.reported(subjects.filingCorrected)).toMatchObject([
      { action: "RPR", changed: ["session"], corrected_by: "operator:duty", reason: "typo" },
    ]);
  });

  it("may reject later what it had accepted, by an error of linkage", async () => {
    const { state, records, heard, first, errorOf } = await sent();
    await heard({ [`${base}.ingestion.json`]: receipt("ingestion", "Success", { errorCount: 0 }) });
    expect((await records()).map(({ status }) => status)).toEqual(["ACCEPTED", "ACCEPTED"]);
    const errors = bzip2.compress(Buffer.from(errorOf(first, "77")));
    const [taken] = await heard({ "1234_ABCD_20261113.linkage.error_1.json.bz2": errors });
    expect(taken).toMatchObject({ outcome: "TAKEN", rejected: 1 });
    expect((await records()).map(({ status }) => status)).toEqual(["REJECTED", "ACCEPTED"]);
    expect((await state()).map((one) => [one.state, one.rejected])).toEqual([["ACCEPTED", 1]]);
  });

  it("2: counts once, and 1103 says that the file had arrived", async () => {
    const { fixture, state, heard } = await sent();
    const failure: Record<string, Buffer> = {
      [`${base}.integrity.json`]: receipt("integrity", "Failure", { code: "1103" }),
    };
    expect((await heard(failure)).map(({ outcome }) => outcome)).toEqual(["TAKEN"]);
    expect(await heard(failure)).toEqual([]);
    expect((await state()).map((one) => one.state)).toEqual(["UPLOADED"]);
    expect(fixture.alarms()).toEqual([]);
    const given = { regime: "CAT", reason: "portal", name: `${base}.integrity.json` };
    const content = Buffer.from(failure[given.name] ?? []).toString("base64");
    const { feedback } = await fixture.ask<{ feedback: { outcome: string }[] }>("TakeFilingFeedback", {
      ...given,
      content,
    });
    expect(feedback).toMatchObject([{ outcome: "KNOWN" }]);
    await heard({ [`${base}.ack.json`]: receipt("ack", "Failure", { code: "1104" }) });
    expect((await state()).map((one) => one.state)).toEqual(["REJECTED"]);
    expect(fixture.alarms()).toEqual(["FILING_REJECTED"]);
  });

  it.each<[string, string, (whole: Uint8Array) => Uint8Array, string]>([
    ["is cut off", `${base}.ingestion.error.json.bz2`, (whole) => whole.subarray(0, whole.length - 5), "UNREADABLE"],
    ["is no JSON", `${base}.ack.json`, () => Buffer.from("{"), "UNREADABLE"],
    [
      "is of another reporter",
      "99_XYZ_20261113_a_OrderEvents_000001.ack.json",
      () => receipt("ack", "Success"),
      "FOREIGN",
    ],
    ["names another stage", `${base}.ack.json`, () => receipt("ingestion", "Success"), "UNREADABLE"],
    ["has another name", "readme.txt", () => Buffer.from("hello"), "UNREADABLE"],
    ["unpacks to more than is read", `${base}.ingestion.error.json.bz2`, () => bomb(), "UNREADABLE"],
  ])("1: that %s changes nothing and is told", async (_name, name, made, outcome) => {
    const { fixture, state, heard, first, errorOf } = await sent();
    const taken = await heard({ [name]: made(bzip2.compress(Buffer.from(errorOf(first, "1")))) });
    expect(taken).toMatchObject([{ outcome, rejected: 0 }]);
    expect((await state()).map((one) => [one.state, one.rejected])).toEqual([["UPLOADED", 0]]);
    expect(fixture.alarms()).toEqual(["FILING_FEEDBACK_UNREAD"]);
    expect(await heard({})).toEqual([]);
  });

  function bomb(): Uint8Array {
    return bzip2.compress(new Uint8Array(memoryFeedbackBytesMax + 1));
  }

  it("1: that kills whoever reads it does not keep the others from being read", async () => {
    const { fixture, state, heard } = await sent();
    fixture.work.dies = { kind: "read", when: "before" };
    const taken = await heard({
      [`${base}.ack.json`]: receipt("ack", "Success"),
      [`${base}.integrity.json`]: receipt("integrity", "Success"),
    });
    expect(taken.map(({ outcome }) => outcome)).toEqual(["TAKEN", "TAKEN"]);
    expect((await state()).map((one) => one.state)).toEqual(["ACKNOWLEDGED"]);
  });
});

describe("a record that was put aside", () => {
  it("is judged again with the configuration as it is now, or dismissed", async () => {
    const fixture = await begin();
    await fixture.submitted();
    const routed = { type: "order_routed", order: { broker: "elsewhere" } };
    const aside = await fixture.submitted({ ...routed, details: { event_id: "e-2" } });
    const other = await fixture.submitted({ ...routed, details: { event_id: "e-3" } });
    expect([aside.status, other.status]).toEqual(["QUARANTINED", "QUARANTINED"]);
    const correct = { record_id: aside.record_id, set: {}, reason: "mended" };
    expect(await fixture.denied("CorrectFilingRecord", { ...correct, action: "NEW" })).toBe("FILING_STILL_WRONG");
    expect(await fixture.denied("CorrectFilingRecord", { ...correct, action: "RPR" })).toBe("FILING_NOT_CORRECTABLE");
    fixture.cat.destinations = { elsewhere: { type: "F", id: "456:EFGH" } };
    const { correction } = await fixture.ask<{ correction: FiledRecord }>("CorrectFilingRecord", {
      ...correct,
      action: "NEW",
    });
    expect(correction).toMatchObject({ status: "WRITTEN", type: "MEOR", line: 1 });
    await fixture.ask("CorrectFilingRecord", { ...correct, record_id: other.record_id, action: "DEL" });
    const { records } = await fixture.ask<{ records: FiledRecord[] }>("ListFilingRecords", { count_max: 0 });
    expect(records.map(({ record_id: id, status }) => [id.slice(-10), status])).toEqual([
      [".000000000", "WRITTEN"],
      [".000000001", "WRITTEN"],
      ["q000000000", "CORRECTED"],
      ["q000000001", "DISMISSED"],
    ]);
    const { filings } = await fixture.ask<{ filings: Filing[] }>("ListFilings", { count_max: 0 });
    expect(filings).toMatchObject([{ records: 2, quarantined: 0 }]);
  });
});
