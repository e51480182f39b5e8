// How submission files are called and numbered, what goes with them, how feedback is read, and where a file stands.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFeedback, readFeedbackName } from "./feedback.ts";
import { fileBytesMax, groupOf, placeOf } from "./file-name.ts";
import { filingStateOf, recordStateOf } from "./standing.ts";
import { submissionOf } from "./submission.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const cat = {
  submitterId: "1234",
  imid: "ABCD",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: {},
};

const catSubmission = mustBe(submissionOf("CAT"));

function mustBe<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("there is none");
  return value;
}

describe("a file's name", () => {
  it("has the reporter, the date, the group and the number", () => {
    const name = catSubmission.name({ cat }, "alpha", "2026-11-13", 7);
    expect(name).toEqual({
      base: "1234_ABCD_20261113_alpha_OrderEvents_000007",
      data: "1234_ABCD_20261113_alpha_OrderEvents_000007.json.bz2",
      meta: "1234_ABCD_20261113_alpha_OrderEvents_000007.meta.json",
    });
  });

  it.each([
    ["alpha", ["alpha", "beta"], /^alpha$/],
    ["alpha-1", ["alpha-1"], /^alpha1$/],
    ["alpha-1", ["alpha-1", "alpha1"], /^alpha1[0-9a-f]{8}$/],
    ["Alpha", ["Alpha", "alpha"], /^Alpha[0-9a-f]{8}$/],
    ["a..b", ["a..b"], /^ab[0-9a-f]{8}$/],
    ["fund/1", ["fund/1"], /^fund1[0-9a-f]{8}$/],
    ["abcdefghijklmnopqrstu", [], /^abcdefghijkl[0-9a-f]{8}$/],
    ["___", [], /^[0-9a-f]{8}$/],
  ])("has for %s among %j a group like %s", (fundId, fundIds, form) => {
    expect(groupOf(fundId, fundIds, sha256)).toMatch(form);
  });

  it("1: has a group of letters and digits that no two funds share", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,30}$/), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(ids, (all) => {
        const groups = all.map((id) => groupOf(id, all, sha256));
        expect(new Set(groups).size).toBe(all.length);
        for (const group of groups) expect(group).toMatch(/^[A-Za-z0-9]{1,20}$/);
      }),
      { seed: 48 },
    );
  });

  it("needs an identity that CAT can hold, and says which keys are not", () => {
    expect(catSubmission.identityGaps({ cat })).toEqual([]);
    expect(catSubmission.identityGaps({ cat: { ...cat, imid: undefined } })).toEqual([
      "compliance.cat_reporter_imid is missing",
    ]);
    expect(catSubmission.identityGaps({ cat: { ...cat, imid: "TOOLONGX", submitterId: "12a" } })).toHaveLength(2);
    expect(catSubmission.identityGaps({})).toHaveLength(3);
  });
});

describe("the next line's place", () => {
  const last = { line: 4, number: 2, mode: "PAPER", endsAt: 900 } as const;
  it.each([
    ["begins with the first", undefined, 0, "PAPER", { line: 0, number: 1, endsAt: 100 }],
    ["goes on", last, 1, "PAPER", { line: 5, number: 2, endsAt: 1_000 }],
    ["begins the next behind a sealed one", last, 2, "PAPER", { line: 5, number: 3, endsAt: 100 }],
    ["begins the next where the mode changes", last, 1, "LIVE", { line: 5, number: 3, endsAt: 100 }],
    [
      "begins the next where it is full",
      { ...last, endsAt: fileBytesMax - 99 },
      1,
      "PAPER",
      { line: 5, number: 3, endsAt: 100 },
    ],
    [
      "fills it to the last byte",
      { ...last, endsAt: fileBytesMax - 100 },
      1,
      "PAPER",
      { line: 5, number: 2, endsAt: fileBytesMax },
    ],
  ] as const)("%s", (_name, before, sealed, mode, place) => {
    expect(placeOf(before, sealed, { mode, bytes: 100 })).toEqual(place);
  });
});

describe("feedback", () => {
  it.each([
    ["b.ack.json", { stage: "ack", base: "b", isCompressed: false }],
    ["b.integrity.json", { stage: "integrity", base: "b", isCompressed: false }],
    ["b.ingestion.json", { stage: "ingestion", base: "b", isCompressed: false }],
    ["b.ingestion.error.json.bz2", { stage: "ingestion-error", base: "b", isCompressed: true }],
    ["1_A_x.linkage.error_12.json.bz2", { stage: "linkage-error", base: "1_A_x", isCompressed: true }],
    ["../b.ack.json", undefined],
    ["b..ack.json", undefined],
    ["b.ack.json.exe", undefined],
    [`${"b".repeat(200)}.ack.json`, undefined],
  ])("is known by its name: %s", (name, expected) => {
    expect(readFeedbackName(name)).toEqual(expected);
  });

  it("is read with numbers of twenty digits, the record as an object or as text, and other texts as they are", () => {
    const line =
      '{"errorCode":[2036,"3701"],"errorROEID":12345678901234567890,"errorRecord":{"x":1234567890123456789,"firmROEID":"20261113_1234567890123456"}}';
    const asText = JSON.stringify({ errorCode: ["2036"], errorROEID: "7", errorRecord: '{"firmROEID":"f"}' });
    expect(readFeedback({ stage: "ingestion-error" }, `${line}\n${asText}\n`)).toEqual({
      errors: [
        { codes: ["2036", "3701"], errorRoeId: "12345678901234567890", firmRoeId: "20261113_1234567890123456" },
        { codes: ["2036"], errorRoeId: "7", firmRoeId: "f" },
      ],
    });
    expect(readFeedback({ stage: "ack" }, '{"stage":"ACK","status":"Success","errorCount":"3"}')).toEqual({
      receipt: { status: "Success", errorCount: 3 },
    });
  });

  it.each([
    ["ack", "[]"],
    ["ack", '{"status":"success"}'],
    ["ack", '{"status":"Success","errorCount":-1}'],
    ["ack", '{"stage":"ingestion","status":"Success"}'],
    ["linkage-error", '{"errorCode":[1],"errorROEID":1,"errorRecord":{"firmROEID":"f"}}'],
    ["linkage-error", '{"errorCode":[],"errorROEID":1,"errorRecord":{"firmROEID":"f"}}\n'],
    ["linkage-error", '{"errorCode":[1],"errorROEID":-1,"errorRecord":{"firmROEID":"f"}}\n'],
    ["linkage-error", '{"errorCode":[1],"errorROEID":1,"errorRecord":null}\n'],
    ["linkage-error", '{"errorCode":[1],"errorROEID":1,"errorRecord":"{"}\n'],
  ] as const)("of %s that is not as it must be is unreadable: %s", (stage, text) => {
    expect(readFeedback({ stage }, text)).toHaveProperty("problem");
  });
});

describe("where a file stands", () => {
  const ok = (stage: string, more: object = {}) => ({ stage, status: "Success", ...more }) as const;
  it.each([
    ["OPEN", undefined],
    ["SEALED", { isSent: false, feedback: [] }],
    ["UPLOADED", { isSent: true, feedback: [] }],
    ["UPLOADED", { isSent: true, feedback: [{ stage: "integrity", status: "Failure", code: "1103" }] }],
    ["ACKNOWLEDGED", { isSent: true, feedback: [ok("ack")] }],
    [
      "ACKNOWLEDGED",
      { isSent: true, feedback: [ok("ingestion", { errorCount: 2 }), { stage: "ingestion-error", errors: 1 }] },
    ],
    [
      "ACCEPTED",
      { isSent: true, feedback: [ok("ingestion", { errorCount: 2 }), { stage: "ingestion-error", errors: 2 }] },
    ],
    ["ACCEPTED", { isSent: true, feedback: [ok("ingestion")] }],
    ["REJECTED", { isSent: true, feedback: [ok("ack"), { stage: "ingestion", status: "Failure", code: "1109" }] }],
  ] as const)("%s", (state, file) => {
    expect(filingStateOf(file)).toBe(state);
  });

  it.each([
    ["REJECTED", { status: "WRITTEN", file: "ACCEPTED", isRejected: true }],
    ["ACCEPTED", { status: "WRITTEN", file: "ACCEPTED", isRejected: false }],
    ["REJECTED", { status: "WRITTEN", file: "REJECTED", isRejected: false }],
    ["SEALED", { status: "WRITTEN", file: "ACKNOWLEDGED", isRejected: false }],
    [
      "CORRECTED",
      { status: "WRITTEN", file: "ACCEPTED", isRejected: true, correction: { action: "RPR", hasRecord: true } },
    ],
    [
      "DISMISSED",
      { status: "QUARANTINED", file: "OPEN", isRejected: false, correction: { action: "DEL", hasRecord: false } },
    ],
  ] as const)("a record is %s", (state, standing) => {
    expect(recordStateOf(standing)).toBe(state);
  });
});
