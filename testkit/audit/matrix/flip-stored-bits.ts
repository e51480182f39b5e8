// Attack A1 on the table: one bit of one stored text at a time, changed in place and put back.
import type { Prng } from "../../virtual/prng.ts";
import { trustFirst } from "../attacks/shape.ts";
import { honestContent } from "./on-the-table.ts";
import type { StoredLog } from "./stored-log.ts";

const flip = "update audit_entry set text = set_bit(text, $2, 1 - get_bit(text, $2)) where sequence = $1";

/** Where verification did not find the bit in the entry that has it. */
export async function flipStoredBits(log: StoredLog, random: Prng, count: number): Promise<readonly string[]> {
  await log.store(honestContent);
  const missed: string[] = [];
  for (let round = 0; round < count; round += 1) {
    const sequence = random.below(honestContent.texts.length);
    const bit = random.below((honestContent.texts[sequence]?.length ?? 0) * 8);
    await log.query(flip, [sequence, bit]);
    const { verdict, sequence: found } = await log.verify(trustFirst);
    await log.query(flip, [sequence, bit]);
    if (verdict === "yes" || found !== sequence) missed.push(`bit ${bit} of entry ${sequence}: ${verdict} at ${found}`);
  }
  return missed;
}
