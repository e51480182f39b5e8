// The attacks on the stored log: those of bundles whose entries and notes can be rows as well, and those that only a database knows. The superuser
// does them, the running platform's verification finds them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prng } from "../../virtual/prng.ts";
import { attacks } from "../attacks/index.ts";
import { trustFirst } from "../attacks/shape.ts";
import { flipStoredBits } from "./flip-stored-bits.ts";
import { honestContent, lineOf, tableAttacks } from "./on-the-table.ts";
import { answerOfRows, storedContent } from "./stored-content.ts";
import { openStoredLog, type StoredLog } from "./stored-log.ts";

const seed = 20_261_125;
let log: StoredLog;

beforeAll(async () => {
  log = await openStoredLog();
});
afterAll(() => log.close());

test("the honest log, as it is before each attack", async () => {
  await log.store(honestContent);
  expect(lineOf(await log.verify(trustFirst))).toBe("L1");
});

describe("only in a database", () => {
  test.each(tableAttacks.map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
    await log.store(honestContent);
    expect(await attack.run(log)).toBe(attack.answer);
  });
});

describe("as rows what is known as a bundle", () => {
  /** The first of each number; the others are in the long form. */
  const sample = new Map<string, (typeof attacks)[number]>();
  for (const attack of attacks) {
    const [number = ""] = /A[0-9]+/.exec(attack.name) ?? [];
    if (number !== "" && !sample.has(number) && !("none" in storedContent(attack))) sample.set(number, attack);
  }
  test.each([...sample.values()].map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
    const content = storedContent(attack);
    if ("none" in content) throw new Error(content.none);
    await log.store(content);
    expect(lineOf(await log.verify(attack.trust))).toBe(answerOfRows(attack, content));
  });
});

test(`A1 50 bits of the stored rows (seed ${seed})`, async () => {
  expect(await flipStoredBits(log, prng(seed), 50)).toEqual([]);
});
