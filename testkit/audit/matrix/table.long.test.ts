// The full counts on the stored log: every attack that can be rows, and 2,000 bits of them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { prng } from "../../virtual/prng.ts";
import { attacks } from "../attacks/index.ts";
import { flipStoredBits } from "./flip-stored-bits.ts";
import { lineOf } from "./on-the-table.ts";
import { answerOfRows, storedContent } from "./stored-content.ts";
import { openStoredLog, type StoredLog } from "./stored-log.ts";

const seed = 20_261_126;
let log: StoredLog;

beforeAll(async () => {
  log = await openStoredLog();
});
afterAll(() => log.close());

test("every attack on a bundle, as rows", async () => {
  let count = 0;
  for (const attack of attacks) {
    const content = storedContent(attack);
    if ("none" in content) continue;
    await log.store(content);
    expect(lineOf(await log.verify(attack.trust)), attack.name).toBe(answerOfRows(attack, content));
    count += 1;
  }
  process.stdout.write(`${count} of ${attacks.length} attacks as rows of the table, all found as they must be\n`);
  expect(count).toBeGreaterThan(200);
});

test(`A1 2,000 bits of the stored rows (seed ${seed})`, async () => {
  const missed = await flipStoredBits(log, prng(seed), 2_000);
  process.stdout.write(`2000 bits of stored rows flipped, ${missed.length} missed\n`);
  expect(missed).toEqual([]);
});
