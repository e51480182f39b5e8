// Nothing is lost on the way to the second floor: every test that was moved there is there, and so is the one that represents it in `npm test`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingNames, readMoved, withMovedList } from "./moved-tests.js";

const moved = readMoved();
const page = readFileSync(join(import.meta.dirname, "..", "docs", "testing.md"), "utf8");

describe("tests that were moved to the second floor", () => {
  it("are there, and so are those that represent them", () => {
    expect(moved.length).toBeGreaterThan(100);
    expect(missingNames(moved)).toEqual([]);
  });

  it("are listed once each, and as docs/testing.md shows them", () => {
    expect(new Set(moved.map(({ file, name }) => `${file} ${name}`)).size).toBe(moved.length);
    expect(withMovedList(page, moved), "run node scripts/moved-tests.js").toBe(page);
  });

  it("are missed by file, by name and by what stands in a name's table, and so are those that represent them", () => {
    const file = "sim/planted-bugs-others.ci.test.ts";
    const name = "mistakes that were built in > finds dates-by-utc";
    const representative = {
      file: "sim/planted-bugs.test.ts",
      name: "mistakes that were built in > finds net-pending",
    };
    const complaints = (...changes: readonly object[]) =>
      missingNames(changes.map((change) => ({ file, name, representative, ...change })));
    expect(complaints({})).toEqual([]);
    expect(complaints({ file: "sim/nothing.ci.test.ts" })).toEqual(["sim/nothing.ci.test.ts is not there any more"]);
    expect(complaints({ name: "mistakes that were built in > seeks dates-by-utc" })).toHaveLength(1);
    expect(complaints({ name: "mistakes that were built in > finds dates-by-mars" })).toHaveLength(1);
    expect(complaints({ representative: { ...representative, name: "xyzzy > finds net-pending" } })).toHaveLength(1);
    expect(complaints({ representative: { file, name } })).toEqual([
      `${file} is not run by npm test and represents "${name}"`,
    ]);
  });
});
