// A trail in pages has every entry once and in order, and an entry that the index leaves out anywhere is found by the page that should have had it.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeEntry } from "../../../../core/audit/entry.ts";
import { zeroHex } from "../../../../core/audit/hash.ts";
import type { SubjectRow } from "../../../../ports/audit-log.ts";
import { readTrail, type Trail, type TrailPorts } from "./trail.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const subjectId = "alpha";

/** Entries 10, 20, 30 and so on about one subject; the data of each may be long. */
function rowsOf(count: number, note = ""): readonly SubjectRow[] {
  return Array.from({ length: count }, (_, at) => {
    const data = { note, subject_previous: at === 0 ? null : at * 10 };
    const fields = { sequence: (at + 1) * 10, timestamp: "2026-11-15T09:30:00.000000Z", actor: "service:oms" };
    const rest = { action: "note.made", subject_id: subjectId, data, prev_hash: zeroHex };
    return { sequence: fields.sequence, text: makeEntry({ ...fields, ...rest }, sha256).text } as SubjectRow;
  });
}

function portsOf(rows: readonly SubjectRow[], known?: { readonly newest: number; readonly count: number }): TrailPorts {
  return {
    auditLog: {
      readSubject: async (_id, from, count) => rows.filter(({ sequence }) => sequence >= from).slice(0, count),
    },
    sha256,
    newestOf: () => undefined,
    ...(known === undefined ? {} : { subjects: { seen: () => known, isWhole: () => true } }),
  };
}

/** Follows the pages to the end, or to what is wrong. */
async function follow(ports: TrailPorts, countMax: number) {
  const sequences: number[] = [];
  const pages: Trail[] = [];
  for (let from = 0; ; ) {
    const page = await readTrail(ports, subjectId, { from, countMax, countBefore: sequences.length });
    if ("fault" in page) return { sequences, pages, fault: page.fault };
    pages.push(page);
    sequences.push(...page.entries.map(({ sequence }) => sequence));
    if (page.next === undefined) return { sequences, pages, fault: undefined };
    from = page.next;
  }
}

const rows = rowsOf(25);
const all = rows.map(({ sequence }) => sequence);
const whole = { newest: 250, count: 25 };

describe("a trail in pages", () => {
  it.each([1, 7, 10, 24, 25, 26, 1_000])("of %d has everything once, and proves it at the end", async (countMax) => {
    const { sequences, pages, fault } = await follow(portsOf(rows, whole), countMax);
    expect(fault).toBeUndefined();
    expect(sequences).toEqual(all);
    expect(pages.map(({ isComplete }) => isComplete)).toEqual(pages.map((_, at) => at === pages.length - 1));
  });

  it.each([0, 6, 7, 8, 13, 14, 20, 24])(
    "shows that entry number %d was left out, also between two pages",
    async (gone) => {
      const { fault } = await follow(portsOf(rows.toSpliced(gone, 1), whole), 7);
      expect(fault).toMatchObject({ code: "INDEX_MISMATCH" });
      const linked = await follow(portsOf(rows.toSpliced(gone, 1)), 7);
      // Without a count the last one leaves no trace, and the answer does not claim to be complete.
      if (gone < 24) expect(linked.fault).toMatchObject({ code: "INDEX_MISMATCH", sequence: (gone + 2) * 10 });
      else expect(linked.pages.at(-1)?.isComplete).toBe(false);
    },
  );

  it("that begins in the middle claims nothing about what was before", async () => {
    const page = await readTrail(portsOf(rows, whole), subjectId, { from: 100, countMax: 50, countBefore: undefined });
    expect(page).toMatchObject({ isComplete: false, entries: { length: 16 } });
    const lied = await readTrail(portsOf(rows, whole), subjectId, { from: 100, countMax: 50, countBefore: 8 });
    expect(lied).toMatchObject({ fault: { code: "INDEX_MISMATCH" } });
  });

  it("ends early when its entries are long, and goes on; in one piece it is refused", async () => {
    const ports = portsOf(rowsOf(200, "x".repeat(60_000)), { newest: 2_000, count: 200 });
    const { sequences, pages } = await follow(ports, 1_000);
    expect(sequences).toHaveLength(200);
    expect(pages.length).toBe(2);
    await expect(readTrail(ports, subjectId)).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });
});
