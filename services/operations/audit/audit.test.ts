// The audit log's shell as a whole: what is signed and when, what is found when somebody rewrites the store, trails, fsck and self-verification.
import { describe, expect, it } from "vitest";
import { subjects } from "../../../contracts/src/subjects.ts";
import { base64OfHash } from "../../../core/audit/base64.ts";
import { readCheckpointNote } from "../../../core/audit/checkpoint.ts";
import { createTreeHash } from "../../../core/audit/merkle.ts";
import { readVerifierKey } from "../../../core/audit/signed-note.ts";
import { addCheckpointBody, decideAddCheckpoint, type WitnessedState } from "../../../core/audit/witness.ts";
import type { AuditLog, NewAuditRow } from "../../../ports/audit-log.ts";
import type { Witnesses } from "../../../ports/witnesses.ts";
import { sha256, verifySignature, witnessSigner } from "../../../testkit/audit/keys.ts";
import {
  type AuditFixture,
  auditFixture,
  recordsOf,
  rewriteAndRechain,
  truncate,
} from "../../../testkit/audit/service-fixture.ts";
import type { RunningAudit } from "./audit-ports.ts";
import { readConsistencyProof } from "./log/growing-tree.ts";

const later = (fixture: AuditFixture, ms: number): Promise<void> =>
  fixture.time.run({ untilMs: fixture.time.elapsedMs() + ms });

async function fill(fixture: AuditFixture, audit: RunningAudit, count: number, from = 0): Promise<void> {
  const requests = Array.from({ length: count }, (_, at) => {
    const n = from + at;
    return {
      eventId: `event-${n}`,
      actor: "service:oms",
      action: "order.created",
      subjectId: `order-${n % 5}`,
      data: { n },
    };
  });
  await fixture.finish(Promise.all(requests.map((request) => audit.append(request))));
}

/** A log of so many entries that was stopped cleanly, and so is signed to its end. */
async function signedLog(seed: number, count: number): Promise<AuditFixture> {
  const fixture = auditFixture({ seed });
  const { audit } = await fixture.start();
  await fill(fixture, audit, count - 1);
  await fixture.finish(audit.stop());
  expect([...fixture.disk.checkpoints.keys()].at(-1)).toBe(count);
  return fixture;
}

const sizes = (fixture: AuditFixture): number[] => [...fixture.disk.checkpoints.keys()];
const alarms = (fixture: AuditFixture): string[] =>
  fixture.tables.log
    .filter(({ subject }) => subject === "svc.v1.operations.alarm.raised")
    .map(({ bytes }) => (JSON.parse(new TextDecoder().decode(bytes)) as { code: string }).code);

/** Another digit of base64 at that place. */
function flipped(note: string, place: number): string {
  const at = note.length + place;
  return `${note.slice(0, at)}${note[at] === "A" ? "B" : "A"}${note.slice(at + 1)}`;
}

describe("checkpoints", () => {
  it("are signed after a second when something is new, after 1,000 entries at once, and at a clean stop", async () => {
    const fixture = auditFixture({ seed: 11 });
    const { audit } = await fixture.start();
    await later(fixture, 999);
    expect(sizes(fixture)).toEqual([]);
    await later(fixture, 20);
    expect(sizes(fixture)).toEqual([1]);
    await later(fixture, 10_000);
    expect(sizes(fixture)).toEqual([1]);
    await fill(fixture, audit, 1_000);
    await later(fixture, 20);
    expect(sizes(fixture)).toEqual([1, 1_001]);
    await fill(fixture, audit, 5, 1_000);
    expect(audit.status()).toMatchObject({
      size: 1_006,
      signedSize: 1_001,
      trust: "operator-trusted",
      complaint: undefined,
    });
    await fixture.finish(audit.stop());
    expect(sizes(fixture)).toEqual([1, 1_001, 1_006]);
  });

  it("go on after a store that took longer than the pause between two of them", async () => {
    const fixture = auditFixture({ seed: 12 });
    const { audit } = await fixture.start();
    await later(fixture, 1_100);
    expect(sizes(fixture)).toEqual([1]);
    fixture.delays.commitMs = 1_500;
    for (let n = 0; n < 4; n += 1) await fill(fixture, audit, 1, n);
    await later(fixture, 10_000);
    fixture.delays.commitMs = 1;
    await fill(fixture, audit, 1, 4);
    await later(fixture, 2_000);
    expect(audit.status().signedSize).toBe(6);
    await fixture.finish(audit.stop());
  });

  it("go on after crashes at any place, always consistent, from tiles that are wider than the last checkpoint", async () => {
    const fixture = auditFixture({ seed: 12 });
    for (let round = 0; round < 6; round += 1) {
      const { audit, process } = await fixture.start();
      await fill(fixture, audit, 70, round * 70);
      if (round % 2 === 0) fixture.fates.set("audit.checkpoint", ["failed"]);
      await later(fixture, 1_001 + round);
      process.kill();
    }
    const { audit } = await fixture.start();
    const verdict = await fixture.finish(audit.verify());
    expect(verdict).toMatchObject({ entries: 421, level: "L1" });
    await fixture.finish(audit.flush());
    expect(await fixture.finish(audit.fsck())).toMatchObject({
      fault: undefined,
      tilesWrong: [],
      verified: { coveredSize: 421 },
    });
    expect(sizes(fixture).length).toBeGreaterThan(2);
  });

  it("are never signed over a log that is not what was signed: truncated, rewritten, emptied, of another origin", async () => {
    const spoilt: readonly ((fixture: AuditFixture) => void)[] = [
      (fixture) => truncate(fixture.disk, 30),
      (fixture) => truncate(fixture.disk, 0),
      (fixture) => rewriteAndRechain(fixture.disk, 39, { n: 999 }),
      (fixture) => {
        rewriteAndRechain(fixture.disk, 7, { n: 999 });
        fixture.disk.tiles.clear();
      },
      (fixture) => {
        truncate(fixture.disk, 0);
        fixture.disk.checkpoints.clear();
        fixture.disk.tiles.clear();
      },
      (fixture) => {
        fixture.disk.head = { ...fixture.disk.head, hash: "ab".repeat(32) };
      },
    ];
    for (const [which, spoil] of spoilt.entries()) {
      const fixture = await signedLog(100 + which, 40);
      spoil(fixture);
      const before = sizes(fixture);
      const { audit } = await fixture.start();
      expect(audit.status().state).toBe("standing still");
      if (which < 2) expect(audit.status().complaint).toContain("TRUNCATED");
      await expect(
        fixture.finish(audit.append({ eventId: "e", actor: "a", action: "b", subjectId: "c", data: {} })),
      ).rejects.toMatchObject({
        code: "SERVICE_UNAVAILABLE",
      });
      await later(fixture, 5_000);
      await fixture.finish(audit.stop());
      expect(sizes(fixture)).toEqual(before);
      expect(alarms(fixture)).toContain("AUDIT_CHAIN_BROKEN");
      expect(await fixture.finish(audit.verify())).toHaveProperty("fault");
    }
  });

  it("are not signed when the stored tiles do not prove the continuation, and again after they were rebuilt", async () => {
    const fixture = auditFixture({ seed: 13 });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 300);
    await fixture.finish(audit.flush());
    const tile = fixture.disk.tiles.get("0/0");
    if (tile === undefined) throw new Error("no tile");
    fixture.disk.tiles.set("0/0", { ...tile, hashes: tile.hashes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) });
    await fill(fixture, audit, 10, 300);
    await fixture.finish(audit.flush());
    // Leaf 1 is below a hash that level 1 has stored by itself, so this proof does not need it.
    expect(sizes(fixture).at(-1)).toBe(311);
    const edge = fixture.disk.tiles.get("0/1");
    if (edge === undefined) throw new Error("no tile");
    fixture.disk.tiles.set("0/1", { ...edge, hashes: edge.hashes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) });
    fixture.disk.tiles.delete("1/0");
    await fill(fixture, audit, 1, 310);
    await fixture.finish(audit.flush());
    expect(sizes(fixture).at(-1)).toBe(311);
    expect(audit.status().complaint).toContain("is not signed");
    expect(await fixture.finish(audit.fsck({ rebuild: true }))).toMatchObject({ fault: undefined, tilesRebuilt: 2 });
    await fixture.finish(audit.flush());
    expect(sizes(fixture).at(-1)).toBe(fixture.disk.head.size);
    expect(await fixture.finish(audit.fsck())).toMatchObject({ tilesWrong: [] });
  });

  it("are not signed by who lost the writer epoch", async () => {
    const fixture = auditFixture({ seed: 14 });
    const first = await fixture.start();
    await fill(fixture, first.audit, 3);
    await fixture.start();
    await later(fixture, 10);
    const before = sizes(fixture).length;
    await fixture.finish(first.audit.flush());
    expect(first.audit.status().state).toBe("taken over");
    expect(sizes(fixture).length).toBe(before);
  });
});

function vkeyOf(fixture: AuditFixture): string {
  const keys = recordsOf(fixture.disk)[0]?.data["keys"];
  return Array.isArray(keys) ? String(keys[0]) : "";
}

async function proofFromDisk({ disk }: AuditFixture, old: number, size: number): Promise<readonly string[]> {
  const readTiles: AuditLog["readTiles"] = async (places) =>
    places.map(({ level, index }) => disk.tiles.get(`${level}/${index}`)?.hashes);
  const proof = await readConsistencyProof({ readTiles }, createTreeHash(sha256), old, size);
  return (proof ?? []).map(base64OfHash);
}

/** A witness in memory, as core/audit/witness.ts decides. */
function memoryWitness(name: string, seedByte: number) {
  const signer = witnessSigner(name, seedByte);
  let state: WitnessedState | undefined;
  const answers: number[] = [];
  const tree = createTreeHash(sha256);
  return {
    signer,
    answers,
    async add(vkey: string, note: string, nowUs: number, proofFrom: (old: number) => Promise<readonly string[]>) {
      const key = readVerifierKey(vkey, sha256);
      const body = addCheckpointBody(state?.size ?? 0, await proofFrom(state?.size ?? 0), note);
      const logOf = () => ({ keys: key === undefined ? [] : [key], state });
      const answer = decideAddCheckpoint(body, { logOf, witness: signer, tree, verifySignature, nowUs });
      answers.push(answer.status);
      if (answer.status === 200) state = answer.keep;
      return answer;
    },
  };
}

describe("witnesses", () => {
  it("cosign what continues, the level becomes L2, and they refuse a rewritten log", async () => {
    const fixture = auditFixture({ seed: 15 });
    const [one, two] = [memoryWitness("w1", 21), memoryWitness("w2", 22)];
    const witnesses: Witnesses = {
      policy: `2 of ${one.signer.key.vkey},${two.signer.key.vkey}`,
      async submit({ note, proofFrom }) {
        const vkey = vkeyOf(fixture);
        const given = await Promise.all(
          [one, two].map((each) => each.add(vkey, note, fixture.time.clock.now(), proofFrom)),
        );
        const lines = given.flatMap((each) => (each.status === 200 ? [each.body] : []));
        return { lines, complaints: [], contradictions: [] };
      },
    };
    const { audit } = await fixture.start({ witnesses });
    for (const from of [0, 100, 200]) {
      await fill(fixture, audit, 100, from);
      await fixture.finish(audit.flush());
      await later(fixture, 10);
    }
    expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L2", coveredSize: 301, unanchoredTail: 0 });
    expect(audit.status()).toMatchObject({ trust: "witnessed by 2 of 2 up to entry 300", witnessedSize: 301 });
    expect([...one.answers, ...two.answers]).toEqual([200, 200, 200, 200, 200, 200]);
    await fill(fixture, audit, 2, 300);
    expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L2", unanchoredTail: 2 });
    // The same key, another history, and the best proof that its tiles give: the witness has seen the first one. The true one it takes.
    const rewritten = await signedLog(15, 303);
    expect(vkeyOf(rewritten)).toBe(vkeyOf(fixture));
    const offer = (from: AuditFixture) => {
      const note = [...from.disk.checkpoints.values()].at(-1)?.note ?? "";
      return one.add(vkeyOf(fixture), note, fixture.time.clock.now(), (old) => proofFromDisk(from, old, 303));
    };
    expect((await offer(rewritten)).status).toBe(422);
    await fixture.finish(audit.stop());
    expect(sizes(fixture).at(-1)).toBe(303);
    expect(one.answers.slice(3)).toEqual([422, 200]);
  });
});

describe("verify", () => {
  it("says how far it reaches, from any entry on", async () => {
    const fixture = await signedLog(21, 600);
    const { audit } = await fixture.start();
    await fill(fixture, audit, 7, 1_000);
    expect(await fixture.finish(audit.verify())).toMatchObject({
      from: 0,
      entries: 607,
      level: "L1",
      coveredSize: 600,
      gaps: 0,
      unanchoredTail: 7,
    });
    expect(await fixture.finish(audit.verify(555))).toMatchObject({
      from: 555,
      entries: 52,
      level: "L1",
      coveredSize: 600,
    });
    expect(await fixture.finish(audit.verify(603))).toMatchObject({ entries: 4, level: "L0", unanchoredTail: 4 });
    expect(await fixture.finish(audit.verify(607))).toMatchObject({ entries: 0 });
  });

  it("finds a truncated log at L1, at a checkpoint's edge too (A7)", async () => {
    for (const size of [299, 256, 1]) {
      const fixture = await signedLog(22, 300);
      const { audit } = await fixture.start();
      truncate(fixture.disk, size);
      expect(await fixture.finish(audit.verify())).toMatchObject({ fault: { code: "TRUNCATED", sequence: size } });
      expect(await fixture.finish(audit.verify(size - 1))).toHaveProperty("fault");
    }
  });

  it("finds a rewritten and re-chained log at L1 from the last checkpoint, at L0 it would pass (A4)", async () => {
    for (const sequence of [1, 299]) {
      const fixture = await signedLog(23, 300);
      const { audit } = await fixture.start();
      rewriteAndRechain(fixture.disk, sequence, { n: 777 });
      for (const from of [0, Math.max(0, sequence - 1)]) {
        expect(await fixture.finish(audit.verify(from))).toMatchObject({
          fault: { code: "ROOT_MISMATCH", sequence: 300 },
        });
      }
      fixture.disk.checkpoints.clear();
      expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L0", unanchoredTail: 300 });
    }
  });

  it("finds what was edited without its hash, at its place, and a forged checkpoint", async () => {
    const fixture = await signedLog(24, 50);
    const { audit } = await fixture.start();
    const row = fixture.disk.rows[20];
    if (row === undefined) throw new Error("no row");
    fixture.disk.rows[20] = { ...row, text: row.text.map((byte, at) => (at === 12 ? byte ^ 1 : byte)) };
    expect(await fixture.finish(audit.verify())).toMatchObject({ fault: { code: "HASH_MISMATCH", sequence: 20 } });
    fixture.disk.rows[20] = row;
    const stored = fixture.disk.checkpoints.get(50);
    const signed = readCheckpointNote(stored?.note ?? "");
    if (stored === undefined || "malformed" in signed) throw new Error("no checkpoint");
    fixture.disk.checkpoints.set(50, { ...stored, note: stored.note.replace("\n50\n", "\n49\n") });
    expect(await fixture.finish(audit.verify())).toMatchObject({ fault: { code: "CHECKPOINT_MALFORMED" } });
    fixture.disk.checkpoints.set(50, { ...stored, note: flipped(stored.note, -30) });
    expect(await fixture.finish(audit.verify())).toMatchObject({ fault: { code: "SIGNATURE_INVALID", sequence: 50 } });
  });

  it("does not take a corrupt tile for a broken log (A21)", async () => {
    const fixture = await signedLog(25, 600);
    const { audit } = await fixture.start();
    const tile = fixture.disk.tiles.get("1/0");
    if (tile === undefined) throw new Error("no tile");
    fixture.disk.tiles.set("1/0", { ...tile, hashes: tile.hashes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)) });
    expect(await fixture.finish(audit.verify(590))).toMatchObject({ level: "L1", entries: 10 });
    expect(await fixture.finish(audit.fsck())).toMatchObject({
      fault: undefined,
      tilesWrong: ["tile/1/000.p/2"],
      tilesRebuilt: 0,
    });
    expect(await fixture.finish(audit.fsck({ rebuild: true }))).toMatchObject({ tilesRebuilt: 1 });
    expect(await fixture.finish(audit.fsck())).toMatchObject({ tilesWrong: [] });
  });
});

describe("fsck", () => {
  it("finds a tile with more hashes than there are entries, and writes it anew", async () => {
    const fixture = await signedLog(26, 100);
    const { audit } = await fixture.start();
    const tile = fixture.disk.tiles.get("0/0");
    if (tile === undefined) throw new Error("no tile");
    const wide = new Uint8Array(120 * 32);
    wide.set(tile.hashes);
    fixture.disk.tiles.set("0/0", { ...tile, hashes: wide });
    expect(await fixture.finish(audit.fsck())).toMatchObject({ fault: undefined, tilesWrong: ["tile/0/000.p/100"] });
    expect(await fixture.finish(audit.fsck({ rebuild: true }))).toMatchObject({ tilesRebuilt: 1 });
    expect(await fixture.finish(audit.fsck())).toMatchObject({ tilesWrong: [] });
    expect(fixture.disk.tiles.get("0/0")?.hashes).toEqual(tile.hashes);
  });
});

const attempt = {
  operator: "operator:ada",
  verb: "SetEnvelope",
  target: "alpha",
  allowed: false,
  reason: "no",
  at: "2026-01-02T00:00:00.000000Z",
};

describe("trail and index (A22)", () => {
  it("is complete and in order; an entry that is left out, at the end too, added or misattributed is found", async () => {
    const fixture = await signedLog(31, 61);
    const { audit } = await fixture.start();
    const listed = fixture.disk.bySubject.get("order-2") ?? [];
    const trail = await fixture.finish(audit.trail("order-2"));
    expect(trail).toMatchObject({ isComplete: false });
    expect("entries" in trail && trail.entries.map(({ sequence }) => sequence)).toEqual(listed);
    const attempt = async (lie: readonly number[]) => {
      fixture.disk.bySubject.set("order-2", [...lie]);
      return fixture.finish(audit.trail("order-2"));
    };
    for (const left of [0, 3, 6]) {
      const lie = listed.filter((_, place) => place !== left);
      expect(await attempt(lie)).toMatchObject({ fault: { code: "INDEX_MISMATCH", sequence: listed[left + 1] } });
    }
    expect(await attempt([...listed, 61])).toMatchObject({ entries: { length: 12 } });
    expect(await attempt([...listed.slice(0, 2), 10, ...listed.slice(2)])).toMatchObject({
      fault: { code: "INDEX_MISMATCH", sequence: 10 },
    });
    await attempt(listed);
    fixture.disk.bySubject.set("order-none", [1]);
    expect(await fixture.finish(audit.trail("order-none"))).toMatchObject({
      fault: { code: "INDEX_MISMATCH", sequence: 1 },
    });
    await fill(fixture, audit, 1, 62);
    const whole = fixture.disk.bySubject.get("order-2") ?? [];
    expect(await attempt(whole)).toMatchObject({ isComplete: true, entries: { length: 13 } });
    expect(await attempt(whole.slice(0, -1))).toMatchObject({ fault: { code: "INDEX_MISMATCH", sequence: 61 } });
  });

  it("after a start says that it is not proven yet, then finds whatever was left out, also when it was all of it", async () => {
    const fixture = await signedLog(33, 61);
    const lie = fixture.disk.bySubject.get("order-2") ?? [];
    fixture.disk.bySubject.set("order-2", []);
    const { audit } = await fixture.start();
    expect(await fixture.finish(audit.trail("order-2"))).toEqual({ entries: [], isComplete: false });
    await fixture.finish(audit.verifySelf());
    expect(await fixture.finish(audit.trail("order-2"))).toMatchObject({
      fault: { code: "INDEX_MISMATCH", sequence: lie.at(-1), actual: "none" },
    });
    for (const left of [0, 5, lie.length - 1]) {
      fixture.disk.bySubject.set(
        "order-2",
        lie.filter((_, place) => place !== left),
      );
      expect(await fixture.finish(audit.trail("order-2"))).toMatchObject({ fault: { code: "INDEX_MISMATCH" } });
    }
    fixture.disk.bySubject.set("order-2", lie);
    expect(await fixture.finish(audit.trail("order-2"))).toMatchObject({ isComplete: true, entries: { length: 12 } });
    expect(await fixture.finish(audit.trail("nobody"))).toEqual({ entries: [], isComplete: true });
    await fill(fixture, audit, 1, 62);
    expect(await fixture.finish(audit.trail("order-2"))).toMatchObject({ isComplete: true, entries: { length: 13 } });
  });

  it("fsck names every lie of the index, and puts it right when asked to", async () => {
    const fixture = await signedLog(34, 61);
    const { audit } = await fixture.start();
    const reported = await fixture.publish("operations", subjects.operatorAttempted, attempt);
    await later(fixture, 1_000);
    const from = fixture.disk.rows.find((row) => row.eventId === reported)?.sequence ?? 0;
    const lies: readonly [number, Partial<NewAuditRow>][] = [
      [20, { subjectId: "order-x" }],
      [30, { action: "x.y" }],
      [40, { timestamp: "2020-01-01T00:00:00.000000Z" }],
      [from, { eventId: "another" }],
    ];
    for (const [sequence, lie] of lies) {
      const row = fixture.disk.rows[sequence];
      if (row !== undefined) fixture.disk.rows[sequence] = { ...row, ...lie };
    }
    const expected = lies.map(([sequence]) => ({ code: "INDEX_MISMATCH", sequence }));
    const looked = await fixture.finish(audit.fsck());
    expect(looked).toMatchObject({ fault: expected[0], indexFaults: expected, indexWrong: 4, indexRepaired: 0 });
    expect(audit.status().broken).toContain("INDEX_MISMATCH at 20");
    expect(await fixture.finish(audit.fsck({ rebuild: true }))).toMatchObject({ indexWrong: 4, indexRepaired: 4 });
    expect(await fixture.finish(audit.fsck())).toMatchObject({ fault: undefined, indexWrong: 0 });
    expect(audit.status().broken).toBeUndefined();
    expect(fixture.disk.byEvent.get(reported)).toBe(from);
  });

  it("fsck finds a lie of the index anywhere", async () => {
    const fixture = await signedLog(32, 61);
    const { audit } = await fixture.start();
    const row = fixture.disk.rows[60];
    if (row === undefined) throw new Error("no row");
    fixture.disk.rows[60] = { ...row, subjectId: "order-x" };
    expect(await fixture.finish(audit.fsck())).toMatchObject({ fault: { code: "INDEX_MISMATCH", sequence: 60 } });
  });
});

describe("self-verification", () => {
  it("writes its result as an entry, and raises the alarm when it fails", async () => {
    const fixture = auditFixture({ seed: 41, settings: { verifyFirstAfterMs: 10_000, verifyEveryMs: 60_000 } });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 20);
    await later(fixture, 11_000);
    const [done] = recordsOf(fixture.disk).filter(({ action }) => action === "chain.verified");
    expect(done).toMatchObject({
      actor: "service:operations",
      data: { result: "verified", level: "L1", entries: 21, covered_size: 21, subject_previous: 0 },
    });
    expect(alarms(fixture)).toEqual([]);
    rewriteAndRechain(fixture.disk, 5, { n: 5_000 });
    await later(fixture, 61_000);
    const [, broken] = recordsOf(fixture.disk).filter(({ action }) => action === "chain.verified");
    expect(broken).toMatchObject({ data: { result: "broken", fault: { code: "ROOT_MISMATCH" } } });
    expect(alarms(fixture)).toEqual(["AUDIT_CHAIN_BROKEN"]);
    expect(audit.status().complaint).toContain("ROOT_MISMATCH");
    await fixture.finish(audit.stop());
  });
});
