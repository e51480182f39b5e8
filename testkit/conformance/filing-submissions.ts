// The suite that every store passes with sealed submission files and what became of them: ports/filing-submissions.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { FilingFeedbackRow, SealedFile } from "../../ports/filing-submissions.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type FilingsFixture, recordOf } from "./filing-records.ts";

const start = 1_794_744_000_000_000;
const at = (microseconds: number) => fromMicroseconds(start + microseconds);
const day = { regime: "CAT" as const, fundId: "alpha", date: "2026-11-13" };
const key = (number: number) => ({ ...day, number });

function fileOf(number: number, differs: Partial<SealedFile> = {}): SealedFile {
  const base = `1_A_20261113_alpha_OrderEvents_00000${number}`;
  return {
    ...day,
    number,
    mode: "PAPER",
    fromLine: number * 2 - 2,
    toLine: number * 2,
    base,
    name: `${base}.json.bz2`,
    meta: { name: `${base}.meta.json`, text: "{}" },
    bytes: 3,
    sha256: "a".repeat(64),
    sealedBy: "operator:duty",
    at: at(number),
    ...differs,
  };
}

// tidy: long because each promise is a test of its own over the same rows.
export function filingSubmissionsConformance(name: string, open: () => Promise<FilingsFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.filings", work));
    } finally {
      await close();
    }
  };
  const bytes = Uint8Array.from([0, 255, 66]);
  const all = (unit: UnitOfWork) => unit.filingSubmissions.between(key(0), key(9));

  it(`filing submissions, ${name}: 1, 2 and 4: a number and a name are taken once, and bytes come back`, () =>
    withStore(async (doing) => {
      const seal = (file: SealedFile) => doing((unit) => unit.filingSubmissions.seal(file, bytes));
      await seal(fileOf(2));
      await seal(fileOf(1));
      for (const taken of [fileOf(1, { base: "b", name: "n" }), fileOf(3, { base: fileOf(1).base, name: "n" })]) {
        await expect(seal(taken)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
      }
      expect(await doing((unit) => unit.filingSubmissions.content(key(1)))).toEqual(bytes);
      expect(await doing((unit) => unit.filingSubmissions.content(key(3)))).toBeUndefined();
      expect((await doing(all)).map(({ file }) => file)).toEqual([fileOf(1), fileOf(2)]);
      expect(await doing((unit) => unit.filingSubmissions.named("CAT", fileOf(2).base))).toEqual(fileOf(2));
      expect(await doing((unit) => unit.filingSubmissions.named("CAT", "none"))).toBeUndefined();
    }));

  it(`filing submissions, ${name}: a number that is closed takes no more lines, and bytes before it are counted`, () =>
    withStore(async (doing) => {
      const last = () => doing((unit) => unit.filingSubmissions.lastNumber(day));
      expect(await last()).toBe(0);
      await doing((unit) => unit.filingSubmissions.seal(fileOf(1), bytes));
      expect(await last()).toBe(1);
      for (const _time of [1, 2]) await doing((unit) => unit.filingSubmissions.close(key(2), at(1)));
      expect(await last()).toBe(2);
      for (const record of [recordOf(0), recordOf(1), recordOf(2, { number: 2 })]) {
        await doing((unit) => unit.filings.insert(record));
      }
      const before = (number: number) => doing((unit) => unit.filingSubmissions.bytesBefore(key(number)));
      expect([await before(1), await before(2), await before(3)]).toEqual([0, 22, 33]);
    }));

  it(`filing submissions, ${name}: what has not arrived is found by its day`, () =>
    withStore(async (doing) => {
      const unsent = () => doing((unit) => unit.filingSubmissions.unsent("CAT", 9));
      expect(await unsent()).toEqual([]);
      const later = recordOf(0, { date: "2026-11-14" });
      const aside = recordOf(0, { status: "QUARANTINED", fundId: "beta" });
      for (const record of [recordOf(0), recordOf(1), recordOf(2, { number: 2 }), later, aside]) {
        await doing((unit) => unit.filings.insert(record));
      }
      const open = { ...day, mode: "PAPER", firstAt: at(0), records: 3 };
      const second = { ...day, date: "2026-11-14", mode: "PAPER", firstAt: at(0), records: 1 };
      expect(await unsent()).toEqual([open, second]);
      await doing((unit) => unit.filingSubmissions.seal(fileOf(1), bytes));
      expect(await unsent()).toEqual([open, second]);
      const sending = { ...key(1), at: at(5), how: "SENT", sentBy: "operations" } as const;
      expect(await doing((unit) => unit.filingSubmissions.sent(sending))).toBe(true);
      expect(await doing((unit) => unit.filingSubmissions.sent(sending))).toBe(false);
      expect(await unsent()).toEqual([{ ...open, firstAt: at(2), records: 1 }, second]);
      const since = (moment: number) => doing((unit) => unit.filingSubmissions.hasSentSince("CAT", at(moment)));
      expect([await since(5), await since(6)]).toEqual([true, false]);
      expect((await doing(all))[0]?.sending).toEqual(sending);
    }));

  it(`filing submissions, ${name}: 1 and 3: feedback and rejections are taken once, and a record is corrected once`, () =>
    withStore(async (doing) => {
      await doing((unit) => unit.filings.insert(recordOf(0)));
      await doing((unit) => unit.filings.insert(recordOf(1)));
      await doing((unit) => unit.filingSubmissions.seal(fileOf(1), bytes));
      const [first, second] = [recordOf(0).recordId, recordOf(1).recordId];
      const row: FilingFeedbackRow = {
        regime: "CAT",
        name: "x.ack.json",
        sha256: "b".repeat(64),
        bytes: 7,
        file: key(1),
        outcome: "TAKEN",
        stage: "ack",
        status: "Success",
        at: at(9),
      };
      const take = () => doing((unit) => unit.filingSubmissions.takeFeedback(row));
      expect([await take(), await take()]).toEqual([true, false]);
      const known = await doing((unit) => unit.filingSubmissions.readFeedback("CAT", ["x.ack.json", "y"]));
      expect(known).toEqual([{ name: "x.ack.json", bytes: 7, sha256: row.sha256 }]);
      const rejection = {
        recordId: first,
        errorRoeId: "12345678901234567890",
        codes: ["1", "2"],
        feedback: "x",
        at: at(9),
      };
      const reject = (recordId: string) => doing((unit) => unit.filingSubmissions.reject({ ...rejection, recordId }));
      expect([await reject(first), await reject(first), await reject(second)]).toEqual([true, false, true]);
      expect(await doing((unit) => unit.filingSubmissions.rejections([first]))).toEqual([rejection]);
      expect((await doing(all))[0]).toMatchObject({ feedback: [row], rejected: 2 });
      const correction = {
        recordId: first,
        action: "RPR",
        correctionId: "c",
        correctedBy: "p",
        reason: "r",
        at: at(9),
      } as const;
      await doing((unit) => unit.filingSubmissions.correct(correction));
      await expect(doing((unit) => unit.filingSubmissions.correct(correction))).rejects.toMatchObject({
        code: "STORE_CONFLICT",
      });
      expect(await doing((unit) => unit.filingSubmissions.corrections([first, second]))).toEqual([correction]);
      expect((await doing(all))[0]?.rejected).toBe(1);
    }));
}
