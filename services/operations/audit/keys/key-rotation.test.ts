// Rotations and revocations of the log's key on the memory store: what is signed by which key, what is found after a crash at every step, and that
// everything before and after still verifies, here and by the offline verifier's own rules for bundles.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../../contracts/src/fault.ts";
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import { forged } from "../../../../testkit/audit/forged-note.ts";
import { type AuditFixture, auditFixture, recordsOf, truncate } from "../../../../testkit/audit/service-fixture.ts";
import type { RunningAudit } from "../audit-ports.ts";

const actor = "operator:duty";

async function fill(fixture: AuditFixture, audit: RunningAudit, count: number, name: string): Promise<void> {
  const requests = Array.from({ length: count }, (_, at) => ({
    eventId: `${name}-${at}`,
    actor: "service:oms",
    action: "order.created",
    subjectId: `order-${at % 3}`,
    data: {},
  }));
  await fixture.finish(Promise.all(requests.map((request) => audit.append(request))));
}

/** Key ids on the checkpoint of that size. */
function signersOf(fixture: AuditFixture, size: number): string[] {
  const signed = readCheckpointNote(fixture.disk.checkpoints.get(size)?.note ?? "");
  return "malformed" in signed ? [] : signed.note.signatures.map(({ keyId }) => keyId);
}

const idOf = (vkey: string | undefined): string => vkey?.split("+")[1] ?? "";
const rotations = (fixture: AuditFixture) => recordsOf(fixture.disk).filter(({ action }) => action === "key.rotated");

async function expectWhole(fixture: AuditFixture, audit: RunningAudit): Promise<void> {
  await fixture.finish(audit.flush());
  const size = fixture.disk.head.size;
  expect(await fixture.finish(audit.fsck())).toMatchObject({
    fault: undefined,
    verified: { level: "L1", coveredSize: size },
  });
  for (const from of [1, Math.floor(size / 2), size - 1]) {
    expect(await fixture.finish(audit.verify(from))).toMatchObject({ level: "L1", coveredSize: size });
  }
}

describe("a rotation", () => {
  it("is an entry and a handover that both keys sign; after it only the new key signs, before it only the old one", async () => {
    const fixture = auditFixture({ seed: 61 });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 300, "a");
    await fixture.finish(audit.flush());
    const [first] = audit.status().keys;
    const done = await fixture.finish(audit.rotateKey(actor));
    expect(done).toMatchObject({ oldKey: first, trustedSize: done.sequence + 1 });
    expect(rotations(fixture)).toMatchObject([
      { sequence: done.sequence, actor, subject_id: idOf(done.key), data: { new_key: done.key, old_key: first } },
    ]);
    expect(signersOf(fixture, done.sequence + 1)).toEqual([idOf(first), idOf(done.key)]);
    await fill(fixture, audit, 300, "b");
    await fixture.finish(audit.flush());
    expect(signersOf(fixture, fixture.disk.head.size)).toEqual([idOf(done.key)]);
    expect(signersOf(fixture, 301)).toEqual([idOf(first)]);
    expect(audit.status()).toMatchObject({
      keys: [done.key],
      keyTerms: [
        { fromSize: 0, toSize: done.sequence + 1, revoked: false },
        { fromSize: done.sequence + 1, revoked: false },
      ],
    });
    await expectWhole(fixture, audit);
    await fixture.finish(audit.stop());
    const again = await fixture.start();
    expect(again.audit.status()).toMatchObject({ state: "open", keys: [done.key], complaint: undefined });
    await fill(fixture, again.audit, 5, "c");
    await fixture.finish(again.audit.rotateKey(actor));
    await expectWhole(fixture, again.audit);
    // The old key's seed is not kept any longer.
    const kept = JSON.parse((await fixture.secrets.get("secret/portcullis/audit/signing-key"))?.value ?? "") as object;
    expect(Object.keys(kept).sort()).toEqual(["begun", "keys", "origin", "seed"]);
  });

  it("among many appends covers exactly the entries up to itself, whoever came in the same batch", async () => {
    const fixture = auditFixture({ seed: 62 });
    const { audit } = await fixture.start();
    // While the first batch is on its way the rotation is asked for, and then more: they all become durable together.
    fixture.delays.commitMs = 50;
    const before = Promise.all(Array.from({ length: 40 }, (_, at) => audit.append(request(`before-${at}`))));
    const rotated = audit.rotateKey(actor);
    let after: Promise<unknown> | undefined;
    fixture.time.timers.after(10, () => {
      after = Promise.all(Array.from({ length: 40 }, (_, at) => audit.append(request(`after-${at}`))));
    });
    const [, done] = await fixture.finish(Promise.all([before, rotated]));
    await fixture.finish(after ?? Promise.resolve());
    expect({ rotation: done.sequence, size: fixture.disk.head.size }).toEqual({ rotation: 41, size: 82 });
    expect(fixture.commits.get("audit.append")).toBe(3);
    expect(signersOf(fixture, done.sequence + 1)).toHaveLength(2);
    await expectWhole(fixture, audit);
  });

  it("that stands after the last checkpoint is no fault while its handover is on its way", async () => {
    const fixture = auditFixture({ seed: 63 });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 3, "a");
    await fixture.finish(audit.flush());
    fixture.fates.set("audit.checkpoint", ["failed"]);
    await expect(fixture.finish(audit.rotateKey(actor))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L1", unanchoredTail: 1 });
    // The same command again goes on where it stopped.
    await fixture.finish(audit.rotateKey(actor));
    expect(rotations(fixture)).toHaveLength(1);
    await expectWhole(fixture, audit);
  });

  it("is refused while another one is under way, and without a key", async () => {
    const fixture = auditFixture({ seed: 64 });
    const { audit } = await fixture.start();
    const both = await fixture.finish(Promise.allSettled([audit.rotateKey(actor), audit.rotateKey(actor)]));
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(rotations(fixture)).toHaveLength(1);
  });
});

const request = (eventId: string) => ({ eventId, actor: "service:oms", action: "a.b", subjectId: "s", data: {} });

/** Every step at which a process may end: before the secret has the next key, and after each thing that becomes durable. */
const crashes = ["next key kept", "entry durable", "handover stored", "secret changed"] as const;

describe("a crash during a rotation", () => {
  for (const [which, at] of crashes.entries()) {
    it(`after "${at}" loses nothing and leaves one key that signs`, async () => {
      const fixture = auditFixture({ seed: 70 + which });
      const life = await fixture.start();
      await fill(fixture, life.audit, 30, "a");
      await fixture.finish(life.audit.flush());
      const [first] = life.audit.status().keys;
      const put = fixture.secrets.put;
      let puts = 0;
      fixture.secrets.put = async (...given) => {
        const secret = await put(...given);
        puts += 1;
        if ((puts === 1 && at === "next key kept") || (puts === 2 && at === "secret changed")) life.process.kill();
        return secret;
      };
      fixture.tables.faults.commit = (name) => {
        if (at === "entry durable" && name === "audit.tiles") life.process.kill();
        if (at === "handover stored" && name === "audit.checkpoint") life.process.kill();
        return "committed";
      };
      void life.audit.rotateKey(actor).catch(() => undefined);
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 2_000 });
      fixture.secrets.put = put;
      fixture.tables.faults.commit = () => "committed";
      expect(life.process.isAlive()).toBe(false);

      const { audit } = await fixture.start();
      expect(audit.status()).toMatchObject({ state: "open", complaint: undefined });
      await fill(fixture, audit, 20, "b");
      await expectWhole(fixture, audit);
      const isRotated = at !== "next key kept";
      expect(rotations(fixture)).toHaveLength(isRotated ? 1 : 0);
      const { keys, keyTerms } = audit.status();
      expect(keys[0] === first).toBe(!isRotated);
      expect(keyTerms).toHaveLength(isRotated ? 2 : 1);
      expect(signersOf(fixture, fixture.disk.head.size)).toEqual([idOf(keys[0])]);
      const kept = (await fixture.secrets.get("secret/portcullis/audit/signing-key"))?.value ?? "";
      expect(kept).not.toContain("next_seed");
      // And the key can be changed again.
      await fixture.finish(audit.rotateKey(actor));
      await expectWhole(fixture, audit);
    });
  }

  it("with a secret that was put back to before it signs nothing and says what to do; with the right one it goes on", async () => {
    const fixture = auditFixture({ seed: 79 });
    const path = "secret/portcullis/audit/signing-key";
    const life = await fixture.start();
    await fill(fixture, life.audit, 10, "a");
    await fixture.finish(life.audit.flush());
    const before = (await fixture.secrets.get(path))?.value ?? "";
    fixture.fates.set("audit.checkpoint", ["failed", "failed", "failed"]);
    await fixture.finish(life.audit.rotateKey(actor).catch(() => undefined));
    life.process.kill();
    fixture.fates.clear();
    const during = (await fixture.secrets.get(path))?.value ?? "";
    await fixture.secrets.put(path, before);
    const without = await fixture.start();
    await fill(fixture, without.audit, 2, "b");
    await fixture.finish(without.audit.flush());
    expect(without.audit.status().complaint).toContain("Put back the newest version of the secret");
    expect([...fixture.disk.checkpoints.keys()].at(-1)).toBe(11);
    await expect(fixture.finish(without.audit.rotateKey(actor))).rejects.toBeInstanceOf(Fault);
    without.process.kill();
    await fixture.secrets.put(path, during);
    const { audit } = await fixture.start();
    await expectWhole(fixture, audit);
    expect(audit.status().keyTerms).toHaveLength(2);
  });
});

describe("what is compared with the log's own entries at the start", () => {
  const path = "secret/portcullis/audit/signing-key";
  /** A log with one rotation, stopped cleanly, and the secret as it was before. */
  async function rotatedLog(seed: number) {
    const fixture = auditFixture({ seed });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 10, "a");
    await fixture.finish(audit.flush());
    const before = (await fixture.secrets.get(path))?.value ?? "";
    const { sequence } = await fixture.finish(audit.rotateKey(actor));
    await fill(fixture, audit, 10, "b");
    await fixture.finish(audit.stop());
    return { fixture, before, sequence, now: (await fixture.secrets.get(path))?.value ?? "" };
  }

  it("a secret from before a rotation is no broken log: nothing is signed, and the newest secret is asked for", async () => {
    const { fixture, before, now } = await rotatedLog(91);
    const signed = fixture.disk.checkpoints.size;
    await fixture.secrets.put(path, before);
    const { audit } = await fixture.start();
    expect(audit.status()).toMatchObject({ state: "open", broken: undefined });
    expect(audit.status().complaint).toMatch(/is an older version: .*Put back the newest version of the secret/);
    await fill(fixture, audit, 3, "c");
    await fixture.finish(audit.flush());
    expect(fixture.disk.checkpoints.size).toBe(signed);
    for (const from of [0, 15]) expect(await fixture.finish(audit.verify(from))).toMatchObject({ level: "L1" });
    await fixture.finish(audit.stop());
    await fixture.secrets.put(path, now);
    const { audit: again } = await fixture.start();
    expect(again.status().complaint).toBeUndefined();
    await expectWhole(fixture, again);
  });

  it("deleted checkpoints are named as such, at the start and by verification; the secret is left alone", async () => {
    const { fixture, sequence } = await rotatedLog(92);
    const kept = [...fixture.disk.checkpoints];
    for (const gone of ["all", "handover"]) {
      if (gone === "all") fixture.disk.checkpoints.clear();
      else fixture.disk.checkpoints.delete(sequence + 1);
      const { audit } = await fixture.start();
      expect(audit.status().complaint).toMatch(
        /checkpoints were deleted from the database.*anchor, a witness or a backup/,
      );
      expect(audit.status().complaint).toContain("Leave the secret as it is");
      expect(await fixture.finish(audit.verify())).toMatchObject({
        fault: { code: "HANDOVER_INVALID", sequence, actual: expect.stringContaining("checkpoints are missing") },
      });
      await fixture.finish(audit.stop());
      for (const [size, stored] of kept) fixture.disk.checkpoints.set(size, stored);
    }
    const { audit } = await fixture.start();
    expect(audit.status().complaint).toBeUndefined();
    await expectWhole(fixture, audit);
  });

  it("a log that is shorter than the secret's newest key stands still", async () => {
    const { fixture, sequence } = await rotatedLog(93);
    truncate(fixture.disk, 11);
    for (const size of [...fixture.disk.checkpoints.keys()]) if (size > 11) fixture.disk.checkpoints.delete(size);
    const { audit } = await fixture.start();
    expect(audit.status()).toMatchObject({ state: "standing still" });
    expect(audit.status().complaint).toContain(`TRUNCATED at 11: expected ${sequence + 1} entries`);
  });
});

describe("a revocation", () => {
  it("of the key that signs is a rotation first; of an older one an entry; of an unknown one refused", async () => {
    const fixture = auditFixture({ seed: 81 });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 10, "a");
    const [first] = audit.status().keys;
    const done = await fixture.finish(audit.revokeKey(actor, idOf(first)));
    const actions = recordsOf(fixture.disk).slice(-2);
    expect(actions.map(({ action }) => action)).toEqual(["key.rotated", "key.revoked"]);
    expect(actions[1]).toMatchObject({
      actor,
      subject_id: idOf(first),
      data: { key: first, trusted_size: done.trustedSize },
    });
    expect(audit.status().keys).toEqual([done.key]);
    expect(audit.status().keyTerms.map(({ revoked }) => revoked)).toEqual([true, false]);
    await expectWhole(fixture, audit);
    // Given again it is the same entry.
    const again = await fixture.finish(audit.revokeKey(actor, idOf(first)));
    expect(again.sequence).toBe(done.sequence);
    await expect(fixture.finish(audit.revokeKey(actor, "00000000"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await fixture.finish(audit.stop());
    const { audit: next } = await fixture.start();
    expect(next.status().keyTerms.map(({ revoked }) => revoked)).toEqual([true, false]);
    await expectWhole(fixture, next);
  });

  it("makes a later checkpoint of the revoked key worth nothing, at the start and in verification", async () => {
    const fixture = auditFixture({ seed: 82 });
    const { audit } = await fixture.start();
    const path = "secret/portcullis/audit/signing-key";
    const stolen = (await fixture.secrets.get(path))?.value ?? "";
    await fill(fixture, audit, 10, "a");
    const [first] = audit.status().keys;
    await fixture.finish(audit.revokeKey(actor, idOf(first)));
    await fill(fixture, audit, 10, "b");
    await fixture.finish(audit.stop());
    // Whoever has the old seed signs the same tree: what is on the disk is true, and the signature counts for nothing.
    const size = fixture.disk.head.size;
    const stored = fixture.disk.checkpoints.get(size);
    if (stored === undefined) throw new Error("no checkpoint");
    const text = stored.note.slice(0, stored.note.indexOf("\n\n") + 1);
    fixture.disk.checkpoints.set(size, { ...stored, note: forged(text, stolen) });
    const { audit: next } = await fixture.start();
    expect(next.status()).toMatchObject({ state: "standing still" });
    expect(next.status().complaint).toContain("KEY_OUT_OF_FORCE");
    expect(await fixture.finish(next.verify())).toMatchObject({ fault: { code: "KEY_OUT_OF_FORCE", sequence: size } });
    expect(await fixture.finish(next.verify(size - 2))).toMatchObject({ fault: { code: "KEY_OUT_OF_FORCE" } });
  });
});
