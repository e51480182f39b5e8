// The table of attacks on bundles and proofs against the core's verifier. The offline one has the same table in verifier/audit-verify.test.ts.
import { describe, expect, test } from "vitest";
import { attacks } from "../attacks/index.ts";
import { verifyWithCore } from "./core-verifier.ts";
import { lineOf } from "./on-the-table.ts";

/** Wrong usage is of the offline program's command line. */
const files = attacks.filter(({ answer }) => answer !== "usage");

describe("the core's verifier", () => {
  test.each(files.map((attack) => [attack.name, attack] as const))("%s", (_, { bytes, trust, answer, sequence }) => {
    const wanted = /^L[0-2]$/.test(answer) ? answer : `${answer} at ${sequence}`;
    expect(lineOf(verifyWithCore(Uint8Array.from(bytes), trust))).toBe(wanted);
  });
});
