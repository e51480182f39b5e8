// Rotations and revocations of the log's key on the memory world: what is signed by which key, what is found after a crash at every step, and that
// everything before and after still verifies, here and by the offline verifier's own rules for bundles.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../../contracts/src/fault.ts";
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import { forged } from "../../../../testkit/audit/forged-note.ts";
import { type AuditRig, auditRig, recordsOf, truncate } from "../../../../testkit/audit/service-rig.ts";
import type { RunningAudit } from "../audit-ports.ts";

const actor = "operator:duty";

async function fill(rig: AuditRig, audit: RunningAudit, count: number, name: string): Promise<void> {
  const wishes = Array.from({ length: count }, (_, at) => ({
    ...{
      eventId: `${name}-${at}`,
      actor: "service:oms",
      action: "order.created",
      subjectId: `order-${at % 3}`,
      data: {},
    },
  }));
  await rig.finish(Promise.all(wishes.map((wish) => audit.append(wish))));
}

/** Key ids on the checkpoint of that size. */
function signersOf(rig: AuditRig, size: number): string[] {
  const signed = readCheckpointNote(rig.disk.checkpoints.get(size)?.note ?? "");
  return "malformed" in signed ? [] : signed.note.signatures.map(({ keyId }) => keyId);
}

const idOf = (vkey: string | undefined): string => vkey?.split("+")[1] ?? "";
const rotations = (rig: AuditRig) => recordsOf(rig.disk).filter(({ action }) => action === "key.rotated");

async function expectWhole(rig: AuditRig, audit: RunningAudit): Promise<void> {
  await rig.finish(audit.flush());
  const size = rig.disk.head.size;
  expect(await rig.finish(audit.fsck())).toMatchObject({
    fault: undefined,
    verified: { level: "L1", coveredSize: size },
  });
  for (const from of [1, Math.floor(size / 2), size - 1]) {
    expect(await rig.finish(audit.verify(from))).toMatchObject({ level: "L1", coveredSize: size });
  }
}

describe("a rotation", () => {
  it("is an entry and a handover that both keys sign; after it only the new key signs, before it only the old one", async () => {
    const rig = auditRig({ seed: 61 });
    const { audit } = await rig.start();
    await fill(rig, audit, 300, "a");
    await rig.finish(audit.flush());
    const [first] = audit.status().keys;
    const done = await rig.finish(audit.rotateKey(actor));
    expect(done).toMatchObject({ oldKey: first, trustedSize: done.sequence + 1 });
    expect(rotations(rig)).toMatchObject([
      { sequence: done.sequence, actor, subject_id: idOf(done.key), data: { new_key: done.key, old_key: first } },
    ]);
    expect(signersOf(rig, done.sequence + 1)).toEqual([idOf(first), idOf(done.key)]);
    await fill(rig, audit, 300, "b");
    await rig.finish(audit.flush());
    expect(signersOf(rig, rig.disk.head.size)).toEqual([idOf(done.key)]);
    expect(signersOf(rig, 301)).toEqual([idOf(first)]);
    expect(audit.status()).toMatchObject({
      keys: [done.key],
      keyTerms: [
        { fromSize: 0, toSize: done.sequence + 1, revoked: false },
        { fromSize: done.sequence + 1, revoked: false },
      ],
    });
    await expectWhole(rig, audit);
    await rig.finish(audit.stop());
    const again = await rig.start();
    expect(again.audit.status()).toMatchObject({ state: "open", keys: [done.key], complaint: undefined });
    await fill(rig, again.audit, 5, "c");
    await rig.finish(again.audit.rotateKey(actor));
    await expectWhole(rig, again.audit);
    // The old key's seed is not kept any longer.
    const kept = JSON.parse((await rig.secrets.get("secret/portcullis/audit/signing-key"))?.value ?? "") as object;
    expect(Object.keys(kept).sort()).toEqual(["begun", "keys", "origin", "seed"]);
  });

  it("among many appends covers exactly the entries up to itself, whoever came in the same batch", async () => {
    const rig = auditRig({ seed: 62 });
    const { audit } = await rig.start();
    // While the first batch is on its way the rotation is asked for, and then more: they all become durable together.
    rig.delays.commitMs = 50;
    const before = Promise.all(Array.from({ length: 40 }, (_, at) => audit.append(wish(`before-${at}`))));
    const rotated = audit.rotateKey(actor);
    let after: Promise<unknown> | undefined;
    rig.time.timers.after(10, () => {
      after = Promise.all(Array.from({ length: 40 }, (_, at) => audit.append(wish(`after-${at}`))));
    });
    const [, done] = await rig.finish(Promise.all([before, rotated]));
    await rig.finish(after ?? Promise.resolve());
    expect({ rotation: done.sequence, size: rig.disk.head.size }).toEqual({ rotation: 41, size: 82 });
    expect(rig.commits.get("audit.append")).toBe(3);
    expect(signersOf(rig, done.sequence + 1)).toHaveLength(2);
    await expectWhole(rig, audit);
  });

  it("that stands after the last checkpoint is no fault while its handover is on its way", async () => {
    const rig = auditRig({ seed: 63 });
    const { audit } = await rig.start();
    await fill(rig, audit, 3, "a");
    await rig.finish(audit.flush());
    rig.fates.set("audit.checkpoint", ["failed"]);
    await expect(rig.finish(audit.rotateKey(actor))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(await rig.finish(audit.verify())).toMatchObject({ level: "L1", unanchoredTail: 1 });
    // The same command again goes on where it stopped.
    await rig.finish(audit.rotateKey(actor));
    expect(rotations(rig)).toHaveLength(1);
    await expectWhole(rig, audit);
  });

  it("is refused while another one is under way, and without a key", async () => {
    const rig = auditRig({ seed: 64 });
    const { audit } = await rig.start();
    const both = await rig.finish(Promise.allSettled([audit.rotateKey(actor), audit.rotateKey(actor)]));
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(rotations(rig)).toHaveLength(1);
  });
});

const wish = (eventId: string) => ({ eventId, actor: "service:oms", action: "a.b", subjectId: "s", data: {} });

/** Every step at which a process may end: before the secret has the next key, and after each thing that becomes durable. */
const crashes = ["next key kept", "entry durable", "handover stored", "secret changed"] as const;

describe("a crash during a rotation", () => {
  for (const [which, at] of crashes.entries()) {
    it(`after "${at}" loses nothing and leaves one key that signs`, async () => {
      const rig = auditRig({ seed: 70 + which });
      const life = await rig.start();
      await fill(rig, life.audit, 30, "a");
      await rig.finish(life.audit.flush());
      const [first] = life.audit.status().keys;
      const put = rig.secrets.put;
      let puts = 0;
      rig.secrets.put = async (...given) => {
        const secret = await put(...given);
        puts += 1;
        if ((puts === 1 && at === "next key kept") || (puts === 2 && at === "secret changed")) life.process.kill();
        return secret;
      };
      rig.world.faults.commit = (name) => {
        if (at === "entry durable" && name === "audit.tiles") life.process.kill();
        if (at === "handover stored" && name === "audit.checkpoint") life.process.kill();
        return "committed";
      };
      void life.audit.rotateKey(actor).catch(() => undefined);
      await rig.time.run({ untilMs: rig.time.elapsedMs() + 2_000 });
      rig.secrets.put = put;
      rig.world.faults.commit = () => "committed";
      expect(life.process.isAlive()).toBe(false);

      const { audit } = await rig.start();
      expect(audit.status()).toMatchObject({ state: "open", complaint: undefined });
      await fill(rig, audit, 20, "b");
      await expectWhole(rig, audit);
      const isRotated = at !== "next key kept";
      expect(rotations(rig)).toHaveLength(isRotated ? 1 : 0);
      const { keys, keyTerms } = audit.status();
      expect(keys[0] === first).toBe(!isRotated);
      expect(keyTerms).toHaveLength(isRotated ? 2 : 1);
      expect(signersOf(rig, rig.disk.head.size)).toEqual([idOf(keys[0])]);
      const kept = (await rig.secrets.get("secret/portcullis/audit/signing-key"))?.value ?? "";
      expect(kept).not.toContain("next_seed");
      // And the key can be changed again.
      await rig.finish(audit.rotateKey(actor));
      await expectWhole(rig, audit);
    });
  }

  it("with a secret that was put back to before it signs nothing and says what to do; with the right one it goes on", async () => {
    const rig = auditRig({ seed: 79 });
    const path = "secret/portcullis/audit/signing-key";
    const life = await rig.start();
    await fill(rig, life.audit, 10, "a");
    await rig.finish(life.audit.flush());
    const before = (await rig.secrets.get(path))?.value ?? "";
    rig.fates.set("audit.checkpoint", ["failed", "failed", "failed"]);
    await rig.finish(life.audit.rotateKey(actor).catch(() => undefined));
    life.process.kill();
    rig.fates.clear();
    const during = (await rig.secrets.get(path))?.value ?? "";
    await rig.secrets.put(path, before);
    const without = await rig.start();
    await fill(rig, without.audit, 2, "b");
    await rig.finish(without.audit.flush());
    expect(without.audit.status().complaint).toContain("Put back the newest version of the secret");
    expect([...rig.disk.checkpoints.keys()].at(-1)).toBe(11);
    await expect(rig.finish(without.audit.rotateKey(actor))).rejects.toBeInstanceOf(Fault);
    without.process.kill();
    await rig.secrets.put(path, during);
    const { audit } = await rig.start();
    await expectWhole(rig, audit);
    expect(audit.status().keyTerms).toHaveLength(2);
  });
});

describe("what is compared with the log's own entries at the start", () => {
  const path = "secret/portcullis/audit/signing-key";
  /** A log with one rotation, stopped cleanly, and the secret as it was before. */
  async function rotatedLog(seed: number) {
    const rig = auditRig({ seed });
    const { audit } = await rig.start();
    await fill(rig, audit, 10, "a");
    await rig.finish(audit.flush());
    const before = (await rig.secrets.get(path))?.value ?? "";
    const { sequence } = await rig.finish(audit.rotateKey(actor));
    await fill(rig, audit, 10, "b");
    await rig.finish(audit.stop());
    return { rig, before, sequence, now: (await rig.secrets.get(path))?.value ?? "" };
  }

  it("a secret from before a rotation is no broken log: nothing is signed, and the newest secret is asked for", async () => {
    const { rig, before, now } = await rotatedLog(91);
    const signed = rig.disk.checkpoints.size;
    await rig.secrets.put(path, before);
    const { audit } = await rig.start();
    expect(audit.status()).toMatchObject({ state: "open", broken: undefined });
    expect(audit.status().complaint).toMatch(/is an older version: .*Put back the newest version of the secret/);
    await fill(rig, audit, 3, "c");
    await rig.finish(audit.flush());
    expect(rig.disk.checkpoints.size).toBe(signed);
    for (const from of [0, 15]) expect(await rig.finish(audit.verify(from))).toMatchObject({ level: "L1" });
    await rig.finish(audit.stop());
    await rig.secrets.put(path, now);
    const { audit: again } = await rig.start();
    expect(again.status().complaint).toBeUndefined();
    await expectWhole(rig, again);
  });

  it("deleted checkpoints are named as such, at the start and by verification; the secret is left alone", async () => {
    const { rig, sequence } = await rotatedLog(92);
    const kept = [...rig.disk.checkpoints];
    for (const gone of ["all", "handover"]) {
      if (gone === "all") rig.disk.checkpoints.clear();
      else rig.disk.checkpoints.delete(sequence + 1);
      const { audit } = await rig.start();
      expect(audit.status().complaint).toMatch(
        /checkpoints were deleted from the database.*anchor, a witness or a backup/,
      );
      expect(audit.status().complaint).toContain("Leave the secret as it is");
      expect(await rig.finish(audit.verify())).toMatchObject({
        fault: { code: "HANDOVER_INVALID", sequence, actual: expect.stringContaining("checkpoints are missing") },
      });
      await rig.finish(audit.stop());
      for (const [size, stored] of kept) rig.disk.checkpoints.set(size, stored);
    }
    const { audit } = await rig.start();
    expect(audit.status().complaint).toBeUndefined();
    await expectWhole(rig, audit);
  });

  it("a log that is shorter than the secret's newest key stands still", async () => {
    const { rig, sequence } = await rotatedLog(93);
    truncate(rig.disk, 11);
    for (const size of [...rig.disk.checkpoints.keys()]) if (size > 11) rig.disk.checkpoints.delete(size);
    const { audit } = await rig.start();
    expect(audit.status()).toMatchObject({ state: "standing still" });
    expect(audit.status().complaint).toContain(`TRUNCATED at 11: expected ${sequence + 1} entries`);
  });
});

describe("a revocation", () => {
  it("of the key that signs is a rotation first; of an older one an entry; of an unknown one refused", async () => {
    const rig = auditRig({ seed: 81 });
    const { audit } = await rig.start();
    await fill(rig, audit, 10, "a");
    const [first] = audit.status().keys;
    const done = await rig.finish(audit.revokeKey(actor, idOf(first)));
    const actions = recordsOf(rig.disk).slice(-2);
    expect(actions.map(({ action }) => action)).toEqual(["key.rotated", "key.revoked"]);
    expect(actions[1]).toMatchObject({
      actor,
      subject_id: idOf(first),
      data: { key: first, trusted_size: done.trustedSize },
    });
    expect(audit.status().keys).toEqual([done.key]);
    expect(audit.status().keyTerms.map(({ revoked }) => revoked)).toEqual([true, false]);
    await expectWhole(rig, audit);
    // Given again it is the same entry.
    const again = await rig.finish(audit.revokeKey(actor, idOf(first)));
    expect(again.sequence).toBe(done.sequence);
    await expect(rig.finish(audit.revokeKey(actor, "00000000"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await rig.finish(audit.stop());
    const { audit: next } = await rig.start();
    expect(next.status().keyTerms.map(({ revoked }) => revoked)).toEqual([true, false]);
    await expectWhole(rig, next);
  });

  it("makes a later checkpoint of the revoked key worth nothing, at the start and in verification", async () => {
    const rig = auditRig({ seed: 82 });
    const { audit } = await rig.start();
    const path = "secret/portcullis/audit/signing-key";
    const stolen = (await rig.secrets.get(path))?.value ?? "";
    await fill(rig, audit, 10, "a");
    const [first] = audit.status().keys;
    await rig.finish(audit.revokeKey(actor, idOf(first)));
    await fill(rig, audit, 10, "b");
    await rig.finish(audit.stop());
    // Whoever has the old seed signs the same tree: what is on the disk is true, and the signature counts for nothing.
    const size = rig.disk.head.size;
    const stored = rig.disk.checkpoints.get(size);
    if (stored === undefined) throw new Error("no checkpoint");
    const text = stored.note.slice(0, stored.note.indexOf("\n\n") + 1);
    rig.disk.checkpoints.set(size, { ...stored, note: forged(text, stolen) });
    const { audit: next } = await rig.start();
    expect(next.status()).toMatchObject({ state: "standing still" });
    expect(next.status().complaint).toContain("KEY_OUT_OF_FORCE");
    expect(await rig.finish(next.verify())).toMatchObject({ fault: { code: "KEY_OUT_OF_FORCE", sequence: size } });
    expect(await rig.finish(next.verify(size - 2))).toMatchObject({ fault: { code: "KEY_OUT_OF_FORCE" } });
  });
});
