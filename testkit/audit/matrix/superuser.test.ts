// What the whole effort is about: somebody with every right on the database, and then even with the log's key, writes another history. The database
// alone cannot prevent it; the last checkpoint shows the first, and a witness in other hands the second.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../adapters/system/clock.ts";
import { systemRandom } from "../../../adapters/system/random.ts";
import { systemSigning } from "../../../adapters/system/signing.ts";
import { witnessClient } from "../../../adapters/witness/submit-checkpoints.ts";
import { openWitnessFolder } from "../../../adapters/witness/witness-folder.ts";
import { serveWitness } from "../../../adapters/witness/witness-server.ts";
import { base64OfHash } from "../../../core/audit/base64.ts";
import type { Witnesses } from "../../../ports/witnesses.ts";
import { quietLog } from "../../quiet-log.ts";
import { rechained } from "../bundle-edits.ts";
import { firstSigner, origin, type SampleLog, sampleLog } from "../sample-log.ts";
import { openStoredLog, type StoredLog } from "./stored-log.ts";

const honest = sampleLog(60);
const forged = rechained(50, 61);
const trust = { vkeys: [firstSigner.key.vkey], origin };

let log: StoredLog;
let witness: Witnesses;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  log = await openStoredLog();
  ends.push(() => log.close());
  const ports = { clock: systemClock(), random: systemRandom(), signing: systemSigning() };
  const path = await mkdtemp(join(tmpdir(), "witness-"));
  ends.push(() => rm(path, { recursive: true, force: true }));
  const folder = await openWitnessFolder(path, ports);
  ends.push(() => folder.close());
  const options = { name: "witness.example/w1", logs: [firstSigner.key], folder, host: "127.0.0.1", port: 0 };
  const server = await serveWitness({ ...options, ...ports, log: quietLog });
  ends.push(() => server.close());
  witness = witnessClient([{ url: server.url, vkey: server.vkey }], 1);
  expect((await submit(honest, 60)).lines).toHaveLength(1);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});
beforeEach(async () => {
  await log.store(contentOf(honest, 60));
  expect(await log.verify(trust)).toMatchObject({ level: "L1", entries: 60, coveredSize: 60 });
});

function contentOf(of: SampleLog, size: number) {
  const checkpoints = [20, 40, size].map((each) => ({ size: each, note: of.checkpoint(each) }));
  return { texts: of.entries.slice(0, size).map(({ text }) => text), checkpoints };
}

function submit(of: SampleLog, size: number) {
  const proofFrom = async (oldSize: number) => of.consistency(oldSize, size).map(base64OfHash);
  return witness.submit({ origin, size, note: of.checkpoint(size), proofFrom });
}

/** Rows from this one on are those of the forged log, and so is the head: hashes, links and numbers are in order. */
async function rewrite(from: number, size: number): Promise<void> {
  for (const [at, { text }] of forged.entries.slice(from, Math.min(size, 60)).entries()) {
    await log.query("update audit_entry set text = $2 where sequence = $1", [from + at, Buffer.from(text)]);
  }
  await log.query("update audit_head set hash = $1", [forged.entries[size - 1]?.hash]);
}

test("A7: the stored table truncated by the superuser is told from the last checkpoint", async () => {
  await log.query("delete from audit_entry where sequence >= 45");
  await log.query("update audit_head set size = 45, hash = $1", [honest.entries[44]?.hash]);
  expect(await log.verify(trust)).toMatchObject({
    code: "TRUNCATED",
    sequence: 45,
    expected: "60 entries",
    actual: "45",
  });
});

test("A4: the stored table rewritten and chained anew by the superuser is clean at L0 and reported at L1", async () => {
  await rewrite(50, 60);
  expect(await log.verify(trust)).toMatchObject({
    code: "ROOT_MISMATCH",
    sequence: 60,
    expected: base64OfHash(honest.root(60)),
    actual: base64OfHash(forged.root(60)),
  });
  await log.query("delete from audit_checkpoint");
  expect(await log.verify(trust)).toMatchObject({ verdict: "yes", level: "L0", entries: 60, unanchoredTail: 60 });
});

test("A5: the forged log's new head, signed with the real key, passes L1 and is refused by the witness", async () => {
  await log.store(contentOf(forged, 60));
  expect(await log.verify(trust)).toMatchObject({ verdict: "yes", level: "L1", coveredSize: 60 });
  expect(await log.verify({ ...trust, policy: witness.policy })).toMatchObject({ level: "L1" });
  // At the size that it knows, at a smaller one, and at a larger one, with the best proof there is.
  for (const [size, why] of [
    [60, "another checkpoint of size 60"],
    [45, "it has cosigned a checkpoint of size 60"],
    [61, "no proof leads from there"],
  ] as const) {
    const { lines, complaints } = await submit(forged, size);
    expect(lines).toEqual([]);
    expect(complaints[0]).toContain(why);
  }
});

test("A14: an older backup, whole and signed, is refused by the witness", async () => {
  await log.store({
    texts: honest.entries.slice(0, 40).map(({ text }) => text),
    checkpoints: contentOf(honest, 40).checkpoints.slice(0, 2),
  });
  expect(await log.verify(trust)).toMatchObject({ level: "L1", coveredSize: 40 });
  expect((await submit(honest, 40)).complaints[0]).toContain("it has cosigned a checkpoint of size 60");
});
