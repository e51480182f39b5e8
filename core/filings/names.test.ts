// Names of folders, files and records.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { filingId, folderOfFund, readFilingId, recordId } from "./names.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

it("a fund's folder is its id, or what of it a folder can be called by with a hash", () => {
  expect(folderOfFund("alpha-1.b_c", sha256)).toBe("alpha-1.b_c");
  for (const id of ["a/b", "a..b", "desk:alpha@firm", `${"x".repeat(3)}/${"y".repeat(100)}`]) {
    const folder = folderOfFund(id, sha256);
    expect(folder).toMatch(/^[A-Za-z0-9]{1,12}[0-9a-f]{8}$/);
    expect(folder.endsWith(sha256(id).slice(0, 8))).toBe(true);
  }
  expect(folderOfFund("a/b", sha256)).not.toBe(folderOfFund("a:b", sha256));
});

it("a filing is read back from its id, whatever the fund is called", () => {
  for (const fundId of ["alpha", "a.b.2026-01-01.000001", "desk/alpha"]) {
    const id = filingId("CAT", fundId, "2026-11-13", 1);
    expect(readFilingId(id)).toEqual({ regime: "CAT", fundId, date: "2026-11-13", number: 1 });
  }
  expect(filingId("CAT", "alpha", "2026-11-13", 1)).toBe("cat.alpha.2026-11-13.000001");
  for (const id of ["", "moon.alpha.2026-11-13.000001", "cat.alpha.2026-11-13", "cat..2026-11-13.000001"]) {
    expect(readFilingId(id)).toBeUndefined();
  }
});

it("records are named in the order of their lines", () => {
  const place = { regime: "CAT", fundId: "alpha", date: "2026-11-13" } as const;
  const ids = [0, 1, 10, 999].map((line) => recordId({ ...place, status: "WRITTEN", line }));
  expect([...ids].sort()).toEqual(ids);
  expect(ids[2]).toBe("cat.alpha.2026-11-13.000000010");
  expect(recordId({ ...place, status: "QUARANTINED", line: 3 })).toBe("cat.alpha.2026-11-13.q000000003");
});
