// Which attack of the threat list is run against which target; what cannot be run says why. Nobody can forget one: a number without a test and
// without a sentence fails here.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { attacks } from "../attacks/index.ts";
import { tableAttacks } from "./on-the-table.ts";
import { storedContent } from "./stored-content.ts";

type Target = "database" | "core" | "offline";
const targets: readonly Target[] = ["database", "core", "offline"];

const isFile = "It is about what the platform does with its database, not about bytes that leave the house.";
const isCrash = "It is about a process that dies: the crash rounds kill it and verify what is left.";
const witnessOnly = "It is between a log and its witness: adapters/witness/witness.test.ts.";

/** Tests that are not rows of a table, by the file that has them. */
const elsewhere: Readonly<Record<string, Partial<Record<Target, string>>>> = {
  A1: {
    database: "testkit/audit/matrix/table.long.test.ts",
    core: "testkit/audit/verify-bundle.long.test.ts",
    offline: "verifier/audit-verify.long.test.ts",
  },
  A17: { database: "adapters/witness/witness.test.ts" },
};

const reasons: Readonly<Record<string, Partial<Record<Target, string>>>> = {
  A17: { core: witnessOnly, offline: witnessOnly },
  A19: { database: "Proofs are files of their own; the table has nothing like them." },
  A22: {
    core: "The index by subject is no part of what is exported.",
    offline: "The index by subject is no part of what is exported.",
  },
  C1: { database: isCrash, core: isFile, offline: isFile },
  C2: { database: isCrash, core: isFile, offline: isFile },
  C3: { core: isFile, offline: isFile },
  C7: { database: isCrash, core: isFile, offline: isFile },
};

const list = [
  ...Array.from({ length: 30 }, (_, n) => `A${n + 1}`),
  ...Array.from({ length: 7 }, (_, n) => `C${n + 1}`),
];

function numbersOf(name: string): readonly string[] {
  return name.match(/\b[AC][0-9]+\b/g) ?? [];
}

/** How many tests there are, by number and target. */
function countTests(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, target: Target): void => {
    for (const number of numbersOf(name))
      counts.set(`${number} ${target}`, (counts.get(`${number} ${target}`) ?? 0) + 1);
  };
  for (const attack of attacks) {
    add(attack.name, "offline");
    if (attack.answer !== "usage") add(attack.name, "core");
    if (!("none" in storedContent(attack))) add(attack.name, "database");
  }
  for (const { name } of tableAttacks) add(name, "database");
  return counts;
}

test("every attack of the list is run against every target, or says why not", () => {
  const counts = countTests();
  const lines: string[] = [];
  const missing: string[] = [];
  for (const number of list) {
    const cells = targets.map((target) => {
      const file = elsewhere[number]?.[target];
      const count = (counts.get(`${number} ${target}`) ?? 0) + (file === undefined ? 0 : 1);
      const reason = reasons[number]?.[target];
      if (count === 0 && reason === undefined) missing.push(`${number} ${target}`);
      // A sentence beside a test would be a lie.
      if (count > 0 && reason !== undefined) missing.push(`${number} ${target} has a test and a reason`);
      return `${target} ${count > 0 ? count : "-"}`;
    });
    lines.push(`${number}: ${cells.join(", ")}`);
  }
  process.stdout.write(`${lines.join("\n")}\n`);
  expect(missing).toEqual([]);
});

test("the tests elsewhere are there", () => {
  for (const [number, files] of Object.entries(elsewhere)) {
    for (const file of Object.values(files)) {
      expect(readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"), `${number} in ${file}`).toContain(
        number,
      );
    }
  }
});
