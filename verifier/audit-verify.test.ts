// The offline verifier against every attack on bundles and proofs, against single bits, and at its command line.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { attacks } from "../testkit/audit/attacks/index.ts";
import { fifty, fiftyCheckpoint, first, headerOf, twoOfThree, w1, w2 } from "../testkit/audit/attacks/shape.ts";
import { flipped, flips, isAtItsPlace } from "../testkit/audit/bit-flips.ts";
import { loadVerifier, run, verifierFile, wanted } from "../testkit/audit/run-attack.ts";
import {
  bundle,
  chain,
  checkpointOf,
  fileOf,
  leavesOf,
  log,
  ordinary,
  proof,
  subtrees,
  textOf,
} from "../testkit/audit/test-log.ts";
import { inputCount } from "../testkit/full-count.ts";

const verifier = await loadVerifier();
const folder = mkdtempSync(join(tmpdir(), "audit-verify-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("attacks", () => {
  test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
    expect(await run(verifier, attack)).toBe(wanted(attack));
  });

  test("no two attacks have the same name", () => {
    expect(new Set(attacks.map((attack) => attack.name)).size).toBe(attacks.length);
  });
});

describe("A1 single bits", () => {
  const seed = 20_261_115;

  test(`${inputCount(600)} bits of a witnessed bundle of fifty entries, seed ${seed}`, async () => {
    const sample = flips(bundle(fifty, fiftyCheckpoint), seed, inputCount(600));
    for (const flip of sample) {
      const result = await verifier.verifyBytes(flipped(flip), twoOfThree);
      expect(isAtItsPlace(flip, result), `bit ${flip.bit} of byte ${flip.at}: ${JSON.stringify(result)}`).toBe(true);
    }
  });

  test(`${inputCount(300)} bits of a proof, seed ${seed}`, async () => {
    const sample = flips(proof(fifty, 20, fiftyCheckpoint), seed, inputCount(300));
    for (const flip of sample) {
      const { verdict } = await verifier.verifyBytes(flipped(flip), twoOfThree);
      expect(verdict, `bit ${flip.bit} of byte ${flip.at}`).toBe("no");
    }
  });
});

test("a last line that stops anywhere is malformed, whatever was cut", async () => {
  const odd = chain([{ ...ordinary(1), data: { "\n": "\u0001😀" } }], fifty[0]);
  const lines = [...fifty.slice(0, 1), ...odd].map((entry) => Buffer.from(textOf(entry)));
  const [start = Buffer.alloc(0), last = Buffer.alloc(0)] = lines;
  for (let length = 0; length < last.length; length += 1) {
    const bytes = fileOf(headerOf([], fiftyCheckpoint, { entries: 2, right: subtrees(2, 50, leavesOf(fifty)) }), [
      start,
      last.subarray(0, length),
    ]);
    const result = await verifier.verifyBytes(bytes);
    expect(result, `cut at ${length}`).toMatchObject({ code: "ENTRY_MALFORMED", sequence: 1 });
  }
});

describe("the tree", () => {
  test("every range of every log up to nine entries, and every proof", async () => {
    const trust = { vkeys: [first.vkey] };
    for (let size = 0; size <= 9; size += 1) {
      const entries = log(9, first).slice(0, size);
      const checkpoint = checkpointOf(entries, size, [first]);
      for (let from = 0; from <= size; from += 1) {
        for (let to = from; to <= size; to += 1) {
          const result = await verifier.verifyBytes(bundle(entries, checkpoint, { from, to }), trust);
          expect(result, `${from} to ${to} of ${size}`).toMatchObject({
            verdict: "yes",
            level: "L1",
            from,
            covered: to - from,
          });
        }
        if (from === size) continue;
        const result = await verifier.verifyBytes(proof(entries, from, checkpoint), trust);
        expect(result, `${from} of ${size}`).toMatchObject({
          verdict: "yes",
          level: "L1",
          from,
          checkpoint_size: size,
        });
      }
    }
  });

  test("A8 the report counts what the checkpoint covers and what it does not", async () => {
    const bytes = bundle(fifty, checkpointOf(fifty, 40, [first]), { from: 5, size: 40 });
    const result = await verifier.verifyBytes(bytes, { vkeys: [first.vkey] });
    expect(result).toMatchObject({ level: "L1", entries: 45, from: 5, to: 49, covered: 35, unanchored_tail: 10 });
  });
});

describe("the command", () => {
  const path = join(folder, "log.bundle");
  const broken = join(folder, "broken.bundle");
  writeFileSync(path, bundle(fifty, fiftyCheckpoint));
  writeFileSync(broken, bundle(fifty, fiftyCheckpoint).subarray(0, -5));
  const command = (...list: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [fileURLToPath(verifierFile), ...list], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });

  test("says yes with what was covered, and 0", async () => {
    const { code, stdout, stderr } = await command(path, "--vkey", first.vkey);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^YES {2}L1: .*\n.*50 \(0 to 49\)\n.*origin.*\n.*checkpoint size +50\n.*tail +0\n$/);
  });

  test("names the witnesses at L2, as JSON too", async () => {
    const { code, stdout } = await command(
      path,
      `--vkey=${first.vkey}`,
      "--policy",
      `2 of ${w1.vkey}, ${w2.vkey}`,
      "--json",
    );
    expect(code).toBe(0);
    const witnesses = [w1, w2].map(({ name }) => ({ name, time: 1_700_000_000 }));
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "yes", level: "L2", entries: 50, witnesses });
  });

  test("says plainly that without a key nobody vouches for it", async () => {
    const { code, stdout } = await command(path);
    expect(code).toBe(0);
    expect(stdout).toContain("L0: consistent with itself; nobody vouches for it");
  });

  test("says no with code, sequence, expected and actual, and 10", async () => {
    const { code, stdout } = await command(broken, "--vkey", first.vkey);
    expect(code).toBe(10);
    expect(stdout).toBe(
      "NO  TRUNCATED at sequence 49\n  expected  50 entries\n  actual    49 and a line without its end\n",
    );
    const { stdout: json } = await command(broken, "--json");
    expect(JSON.parse(json)).toMatchObject({ verdict: "no", code: "TRUNCATED", sequence: 49 });
  });

  test("A9 a missing or unreadable file is 1, not a verdict", async () => {
    chmodSync(folder, 0o700);
    for (const missing of [join(folder, "missing"), folder]) {
      const { code, stdout, stderr } = await command(missing, "--vkey", first.vkey);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("Cannot verify");
    }
  });

  test("wrong usage is 2 and says what to do", async () => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [[], "Name exactly one file"],
      [[path, path], "Name exactly one file"],
      [[path, "--vkey"], "--vkey needs a value"],
      [[path, "--key", "x"], "--key is not an option"],
      [[path, "--vkey", "x"], "is not a vkey"],
    ];
    for (const [list, sentence] of wrong) {
      const { code, stdout, stderr } = await command(...list);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(sentence);
    }
    expect(await command("--help")).toMatchObject({ code: 0, stderr: "" });
  });
});
