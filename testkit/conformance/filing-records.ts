// The suite that every store passes with the records that are reported to regulators: ports/filing-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { FilingRecord } from "../../ports/filing-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

export interface FilingsFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const start = 1_794_744_000_000_000;
const at = (microseconds: number) => fromMicroseconds(start + microseconds);
const day = { regime: "CAT" as const, fundId: "alpha", date: "2026-11-13" };

export function recordOf(line: number, differs: Partial<FilingRecord> = {}): FilingRecord {
  const status = differs.status ?? "WRITTEN";
  const date = differs.date ?? day.date;
  return {
    ...day,
    status,
    line,
    number: 1,
    endsAt: 0,
    recordId: `cat.${differs.fundId ?? "alpha"}.${date}.${status === "WRITTEN" ? "" : "q"}${String(line).padStart(9, "0")}`,
    eventKey: `${date} ${status} ${line}`,
    contentHash: "c".repeat(64),
    orderId: `o-${line}`,
    symbol: "AAPL",
    eventType: "new_order",
    eventAt: at(line),
    recordedAt: at(line + 10),
    source: "desk",
    mode: "PAPER",
    type: "MENO",
    deadline: at(1_000 + line),
    late: false,
    text: `{"line":${line}}`,
    mistakes: [],
    ...differs,
  };
}

// tidy: long because each promise is a test of its own over the same rows.
export function filingConformance(name: string, open: () => Promise<FilingsFixture>): void {
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
  const insertAll = (unit: UnitOfWork, records: readonly FilingRecord[]): Promise<void> =>
    records.reduce((before, record) => before.then(() => unit.filings.insert(record)), Promise.resolve());

  it(`filing records, ${name}: 1: an event is recorded once, and a line has one record`, () =>
    withStore(async (doing) => {
      const first = recordOf(0);
      await doing((unit) => unit.filings.insert(first));
      const again = [recordOf(1, { eventKey: first.eventKey }), recordOf(0, { recordId: "other", eventKey: "other" })];
      for (const one of again) {
        await expect(doing((unit) => unit.filings.insert(one))).rejects.toMatchObject({ code: "STORE_CONFLICT" });
      }
      expect(await doing((unit) => unit.filings.ofEvent("CAT", "alpha", first.eventKey))).toEqual(first);
      expect(await doing((unit) => unit.filings.ofEvent("CAT", "beta", first.eventKey))).toBeUndefined();
      expect(await doing((unit) => unit.filings.find(first.recordId))).toEqual(first);
    }));

  it(`filing records, ${name}: 2: lines are counted for each file and status, and read from a line on`, () =>
    withStore(async (doing) => {
      const mistakes = [{ code: "2093", field: "session", sentence: "No session." }];
      const aside = recordOf(0, { status: "QUARANTINED", mistakes, text: "aside" });
      await doing((unit) => insertAll(unit, [recordOf(0), recordOf(1), recordOf(2), aside]));
      const written = { ...day, status: "WRITTEN" as const };
      expect(await doing((unit) => unit.filings.lineCount(written))).toBe(3);
      expect(await doing((unit) => unit.filings.lineCount({ ...day, status: "QUARANTINED" }))).toBe(1);
      expect(await doing((unit) => unit.filings.lineCount({ ...written, date: "2026-11-14" }))).toBe(0);
      expect(await doing((unit) => unit.filings.lines(written, 1, 2))).toEqual(['{"line":1}', '{"line":2}']);
      expect(await doing((unit) => unit.filings.lines({ ...day, status: "QUARANTINED" }, 0, 9))).toEqual(["aside"]);
    }));

  it(`filing records, ${name}: lines of one submission file are read by its number, and records by their reference`, () =>
    withStore(async (doing) => {
      const second = { number: 2, reference: "r" };
      const records = [recordOf(0, { reference: "r" }), recordOf(1), recordOf(2, second), recordOf(3, second)];
      await doing((unit) => insertAll(unit, [...records, recordOf(0, { status: "QUARANTINED" })]));
      expect(await doing((unit) => unit.filings.last(day))).toEqual(records[3]);
      expect(await doing((unit) => unit.filings.last({ ...day, fundId: "beta" }))).toBeUndefined();
      const lines = (number: number, from: number) =>
        doing((unit) => unit.filings.linesOfNumber({ ...day, number }, from, 9));
      expect(await lines(1, 0)).toEqual(['{"line":0}', '{"line":1}']);
      expect(await lines(2, 1)).toEqual(['{"line":3}']);
      expect(await lines(3, 0)).toEqual([]);
      const range = (number: number) => doing((unit) => unit.filings.range({ ...day, number }));
      expect(await range(2)).toEqual({ fromLine: 2, count: 2, mode: "PAPER" });
      expect(await range(3)).toBeUndefined();
      expect(await doing((unit) => unit.filings.called("CAT", "r"))).toEqual([records[0], records[2], records[3]]);
      const sums = await doing((unit) => unit.filings.days({ countMax: 9 }));
      expect(sums.map(({ number, written, quarantined }) => [number, written, quarantined])).toEqual([
        [1, 2, 1],
        [2, 2, 0],
      ]);
    }));

  it(`filing records, ${name}: the beginning of an order is written, and its first reporter is known either way`, () =>
    withStore(async (doing) => {
      const aside = recordOf(0, { status: "QUARANTINED", orderId: "o", source: "first" });
      const begun = recordOf(1, { orderId: "o", source: "second" });
      const route = recordOf(2, { orderId: "o", eventType: "order_routed" });
      const beginning = () =>
        doing((unit) => unit.filings.beginning("CAT", "alpha", "o", ["new_order", "child_order"]));
      await doing((unit) => insertAll(unit, [aside, route]));
      expect(await beginning()).toBeUndefined();
      await doing((unit) => unit.filings.insert(begun));
      expect(await beginning()).toEqual(begun);
      expect(await doing((unit) => unit.filings.firstSource("alpha", "o"))).toBe("first");
      expect(await doing((unit) => unit.filings.firstSource("beta", "o"))).toBeUndefined();
    }));

  it(`filing records, ${name}: 3: are listed by their ids and counted by the day`, () =>
    withStore(async (doing) => {
      const later = recordOf(0, { date: "2026-11-14", late: true, orderId: "late", mode: "LIVE" });
      const other = recordOf(0, { fundId: "beta" });
      const aside = recordOf(0, { status: "QUARANTINED" });
      await doing((unit) => insertAll(unit, [later, recordOf(1), recordOf(0), other, aside]));
      const ids = async (query: object) =>
        (await doing((unit) => unit.filings.list({ countMax: 10, ...query }))).map(({ recordId }) => recordId);
      const all = await ids({});
      expect(all).toEqual([...all].sort());
      expect(all).toHaveLength(5);
      expect(await ids({ afterRecordId: all[1] })).toEqual(all.slice(2));
      expect(await ids({ status: "QUARANTINED" })).toEqual([aside.recordId]);
      expect(await ids({ orderId: "late" })).toEqual([later.recordId]);
      expect(await ids({ fundId: "beta", date: "2026-11-13", regime: "CAT", countMax: 1 })).toEqual([other.recordId]);
      const days = await doing((unit) => unit.filings.days({ countMax: 10 }));
      expect(days).toEqual([
        { ...day, number: 1, mode: "PAPER", written: 2, quarantined: 1, late: 0, firstAt: at(0) },
        { ...day, number: 1, date: "2026-11-14", mode: "LIVE", written: 1, quarantined: 0, late: 1, firstAt: at(0) },
        { ...day, number: 1, fundId: "beta", mode: "PAPER", written: 1, quarantined: 0, late: 0, firstAt: at(0) },
      ]);
      const [first] = days;
      const after = first && { regime: first.regime, fundId: first.fundId, date: first.date, number: first.number };
      expect(await doing((unit) => unit.filings.days({ ...(after !== undefined && { after }), countMax: 1 }))).toEqual([
        days[1],
      ]);
    }));
}
