// The long forms: every single bit of a bundle of fifty entries and of a proof (A1), and a bundle large enough for several threads.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fifty, fiftyCheckpoint, first, second, twoOfThree } from "../testkit/audit/attacks/shape.ts";
import { flipped, flips, isAtItsPlace } from "../testkit/audit/bit-flips.ts";
import { loadVerifier } from "../testkit/audit/run-attack.ts";
import {
  bundle,
  chain,
  checkpointOf,
  type Entry,
  type Fields,
  genesis,
  ordinary,
  proof,
  textOf,
} from "../testkit/audit/test-log.ts";

const verifier = await loadVerifier();
const folder = mkdtempSync(join(tmpdir(), "audit-verify-long-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("A1 every single bit", () => {
  test("of a witnessed bundle of fifty entries is found, those of an entry at that entry", async () => {
    const missed: string[] = [];
    let count = 0;
    for (const flip of flips(bundle(fifty, fiftyCheckpoint))) {
      const result = await verifier.verifyBytes(flipped(flip), twoOfThree);
      if (!isAtItsPlace(flip, result)) missed.push(`bit ${flip.bit} of byte ${flip.at}: ${JSON.stringify(result)}`);
      count += 1;
    }
    process.stdout.write(`${count} bits flipped, ${missed.length} missed\n`);
    expect(missed).toEqual([]);
  });

  test("of a proof is found", async () => {
    for (const flip of flips(proof(fifty, 20, fiftyCheckpoint))) {
      const { verdict } = await verifier.verifyBytes(flipped(flip), twoOfThree);
      expect(verdict, `bit ${flip.bit} of byte ${flip.at}`).toBe("no");
    }
  });
});

describe("several threads answer as one would", () => {
  const count = 30_000;
  const rotation: Fields = {
    ...ordinary(13_333),
    action: "key.rotated",
    subject_id: second.id,
    data: { new_key: second.vkey, old_key: first.vkey },
  };
  const special = new Map([
    [0, genesis(first)],
    [13_333, rotation],
  ]);
  const entries = chain(Array.from({ length: count }, (_, n) => special.get(n) ?? ordinary(n)));
  const honest = bundle(entries, checkpointOf(entries, count, [second]), {
    handovers: [checkpointOf(entries, 13_334, [first, second])],
  });
  const path = join(folder, "large.bundle");
  const verify = async (bytes: Uint8Array): Promise<unknown> => {
    writeFileSync(path, bytes);
    return await verifier.verifyFile(path, { vkeys: [first.vkey] });
  };
  const swapped = (entry: Entry, change: Partial<Entry>): Buffer => {
    const [before, after] = [entry, { ...entry, ...change }].map((one) => Buffer.from(textOf(one))) as [Buffer, Buffer];
    const at = honest.indexOf(before);
    return Buffer.concat([honest.subarray(0, at), after, honest.subarray(at + before.length)]);
  };

  test("an honest log with a handover in the middle of a block", async () => {
    expect(await verify(honest)).toMatchObject({ verdict: "yes", level: "L1", entries: count, covered: count });
  });

  test("the first of two faults, wherever the blocks end", async () => {
    for (const entry of entries.slice(2_000, 2_000 + 23_000).filter((_, n) => n % 1_931 === 0)) {
      const { sequence } = entry;
      expect(await verify(swapped(entry, { actor: "eve" }))).toMatchObject({ code: "HASH_MISMATCH", sequence });
      const bad = { prev_hash: "ab".repeat(32), hash: "cd".repeat(32) };
      expect(await verify(swapped(entry, bad))).toMatchObject({ code: "LINK_MISMATCH", sequence });
    }
  });

  test("a cut and an addition", async () => {
    expect(await verify(honest.subarray(0, -10))).toMatchObject({ code: "TRUNCATED", sequence: count - 1 });
    expect(await verify(Buffer.concat([honest, Buffer.from("x\n")]))).toMatchObject({ code: "BUNDLE_MALFORMED" });
  });
});
