// docs/ctl.md is what the list of verbs says; `npm run gen` writes it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { ctlReference } from "../../scripts/documents/ctl.ts";
import { exitCodeRows } from "./text/pages.ts";
import { verbs } from "./verbs/index.ts";

it("docs/ctl.md is fresh", () => {
  const written = readFileSync(join(import.meta.dirname, "..", "..", "docs", "ctl.md"), "utf8");
  expect(written === ctlReference(), "run `npm run gen`").toBe(true);
});

it("has every verb and every exit code", () => {
  const text = ctlReference();
  for (const { name, sentence } of verbs) {
    expect(text).toContain(`### ctl ${name}\n`);
    expect(text).toContain(sentence);
  }
  expect(exitCodeRows.map((row) => row.exit_code)).toEqual([...Object.values(exitCodes), 130]);
});
