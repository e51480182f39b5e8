// Witnesses and the log: what is counted after a restart, that nothing waits for them, and that a witness who knows another history is heard, while
// one whose answer was lost is not taken for that.
import { describe, expect, it } from "vitest";
import { createTreeHash } from "../../../../core/audit/merkle.ts";
import { readPolicy } from "../../../../core/audit/policy.ts";
import { sha256, verifySignature, witnessSigner } from "../../../../testkit/audit/keys.ts";
import { type MemoryWitness, memoryWitnesses } from "../../../../testkit/audit/memory-witness.ts";
import { origin, sampleLog } from "../../../../testkit/audit/sample-log.ts";
import { type AuditRig, auditRig, recordsOf, rewriteAndRechain } from "../../../../testkit/audit/service-rig.ts";
import { quietLog } from "../../../../testkit/global-setup.ts";
import { scheduler } from "../../../../testkit/virtual/scheduler.ts";
import { healthOf } from "../../operations.ts";
import type { RunningAudit } from "../audit-ports.ts";
import type { Contradiction } from "../checking/findings.ts";
import { startWitnessing } from "./witnessing.ts";

const later = (rig: AuditRig, ms = 20): Promise<void> => rig.time.run({ untilMs: rig.time.elapsedMs() + ms });

async function fill(rig: AuditRig, audit: RunningAudit, count: number, name: string): Promise<void> {
  const wishes = Array.from({ length: count }, (_, at) => ({
    ...{ eventId: `${name}-${at}`, actor: "service:oms", action: "a.b", subjectId: `s-${at % 3}`, data: { at } },
  }));
  await rig.finish(Promise.all(wishes.map((wish) => audit.append(wish))));
  await rig.finish(audit.flush());
  await later(rig);
}

function rigWith(seed: number, { count = 1, needed = 1 } = {}) {
  const rig = auditRig({ seed });
  const logVkey = (): string => {
    const keys = recordsOf(rig.disk)[0]?.data["keys"];
    return Array.isArray(keys) ? String(keys[0]) : "";
  };
  const { all, client } = memoryWitnesses({ count, needed, logVkey, nowUs: rig.time.clock.now });
  const [witness] = all;
  if (witness === undefined) throw new Error("no witness");
  const start = async () => {
    const life = await rig.start({ witnesses: client() });
    await later(rig);
    return life;
  };
  return { rig, start, all, witness };
}

/** The disk as it is now; what it gives puts the disk back to that. */
function backup({ disk }: AuditRig): () => void {
  const { followers: _followers, ...kept } = disk;
  const copy = structuredClone(kept);
  return () => {
    disk.head = { ...copy.head };
    disk.rows.splice(0, disk.rows.length, ...copy.rows);
    for (const name of ["byEvent", "bySubject", "checkpoints", "tiles"] as const) {
      const [there, then] = [disk[name], copy[name]] as readonly Map<unknown, unknown>[];
      there?.clear();
      for (const [key, value] of structuredClone(then) ?? []) there?.set(key, value);
    }
  };
}

interface Alarm {
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const alarms = (rig: AuditRig): Alarm[] =>
  rig.world.log
    .filter(({ subject }) => subject === "svc.v1.operations.alarm.raised")
    .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Alarm);

function isContradicted(rig: AuditRig, audit: RunningAudit, sentence: string): void {
  const status = audit.status();
  expect(status.broken).toContain(sentence);
  expect(status.complaint).toContain(sentence);
  expect(status).toMatchObject({ witnessedSize: 0, trust: expect.stringMatching(/^not witnessed: 1 of \d witnesses/) });
  expect(healthOf(audit)).toEqual({ status: "failing", complaint: expect.stringContaining(sentence) });
  expect(alarms(rig).at(-1)?.code).toBe("AUDIT_WITNESS_CONTRADICTS");
}

function isAtPeace(rig: AuditRig, audit: RunningAudit, witnessedSize: number): void {
  const trust = expect.stringContaining(`up to entry ${witnessedSize - 1}`);
  expect(audit.status()).toMatchObject({ broken: undefined, complaint: undefined, witnessedSize, trust });
  expect(healthOf(audit)).toEqual({ status: "ok" });
  expect(alarms(rig)).toEqual([]);
}

const cosignatures = (rig: AuditRig, size: number): number =>
  (rig.disk.checkpoints.get(size)?.note ?? "").split("\n").filter((line) => line.startsWith("— w")).length;

describe("a witness that knows another history", () => {
  it("finds a database that was put back from a backup, at the start, and still after the log has grown past it", async () => {
    const { rig, start, witness } = rigWith(701);
    const first = await start();
    await fill(rig, first.audit, 29, "a");
    const putBack = backup(rig);
    await fill(rig, first.audit, 10, "b");
    await rig.finish(first.audit.stop());
    expect(witness.state()?.size).toBe(40);
    const whole = backup(rig);
    putBack();
    const second = await start();
    isContradicted(
      rig,
      second.audit,
      "Rollback suspected: the witness at http://w1.example/ has cosigned this log with 40",
    );
    expect(alarms(rig)).toMatchObject([{ facts: { kind: "larger", witness_size: 40, log_size: 30 } }]);
    // The entries and the cosignatures that are left verify; nothing of it is called witnessed.
    expect(await rig.finish(second.audit.verify())).toMatchObject({ level: "L1" });
    expect(await rig.finish(second.audit.fsck())).toMatchObject({ fault: undefined, verified: { level: "L1" } });
    isContradicted(rig, second.audit, "Rollback suspected");
    await fill(rig, second.audit, 20, "c");
    isContradicted(rig, second.audit, "and its 5");
    expect(second.audit.status().broken).toContain("do not begin with those");
    expect(alarms(rig)).toHaveLength(1);
    await rig.finish(second.audit.stop());
    // The true one is cosigned again, and all is well.
    whole();
    const third = await start();
    expect(third.audit.status()).toMatchObject({ broken: undefined, trust: expect.stringMatching(/^witnessed by/) });
    expect(await rig.finish(third.audit.verify())).toMatchObject({ level: "L2" });
  });

  it("finds a log that was rewritten and signed anew, at the same size; another one that cosigns changes nothing", async () => {
    const { rig, start, all, witness } = rigWith(702, { count: 2, needed: 1 });
    const first = await start();
    await fill(rig, first.audit, 19, "a");
    const putBack = backup(rig);
    const [, other] = all;
    if (other !== undefined) other.fate = "away";
    await fill(rig, first.audit, 1, "b");
    await rig.finish(first.audit.stop());
    expect(witness.state()?.size).toBe(21);
    putBack();
    if (other !== undefined) other.fate = "heard";
    witness.fate = "away";
    const second = await start();
    await fill(rig, second.audit, 1, "c");
    witness.fate = "heard";
    await rig.finish(second.audit.stop());
    const third = await start();
    isContradicted(rig, third.audit, "another checkpoint of size 21");
    expect(alarms(rig)).toMatchObject([{ facts: { kind: "other root", witness_size: 21, log_size: 21 } }]);
    expect(other?.state()?.size).toBeGreaterThanOrEqual(21);
    expect(third.audit.status().trust).toBe("not witnessed: 1 of 2 witnesses knows another history of this log");
  });

  it("is not what a log is told whose tiles are wrong: it is a complaint that says what to do", async () => {
    const { rig, start } = rigWith(703);
    const { audit } = await start();
    await fill(rig, audit, 300, "a");
    await rig.finish(audit.stop());
    for (const [place, tile] of rig.disk.tiles) {
      rig.disk.tiles.set(place, { ...tile, hashes: tile.hashes.map((byte) => byte ^ 1) });
    }
    const next = await start();
    expect(next.audit.status()).toMatchObject({ broken: undefined });
    expect(next.audit.status().witnessComplaints.join()).toContain("fsck --rebuild");
    expect(alarms(rig)).toEqual([]);
  });

  it("takes it back by cosigning again, and only that does", async () => {
    const { rig, start, witness } = rigWith(704);
    const { audit } = await start();
    await fill(rig, audit, 9, "a");
    witness.fate = "lie";
    await fill(rig, audit, 5, "b");
    isContradicted(rig, audit, "with 9999 entries, and it has 15");
    witness.fate = "away";
    await fill(rig, audit, 5, "c");
    await rig.finish(audit.verify());
    isContradicted(rig, audit, "with 9999 entries, and it has 15");
    witness.fate = "heard";
    await fill(rig, audit, 5, "d");
    const { size } = rig.disk.head;
    expect(audit.status()).toMatchObject({ broken: undefined, witnessedSize: size, signedSize: size });
    expect(alarms(rig)).toHaveLength(1);
    witness.fate = "lie";
    await fill(rig, audit, 5, "e");
    expect(alarms(rig)).toHaveLength(2);
  });

  it.each([
    [26, 0],
    [25, 0],
    [24, 1],
  ])("is compared with what is stored, where another process may have written: %i entries", async (size, found) => {
    const time = scheduler({ seed: 705 });
    const { vkey } = witnessSigner("w1", 21).key;
    const heard: Contradiction[] = [];
    const told = { url: "http://w1.example/", vkey, kind: "larger", witnessSize: 25 } as const;
    const submit = async () => ({ lines: [], complaints: [], contradictions: [told] });
    const policy = readPolicy(`1 of ${vkey}`, sha256);
    if ("malformed" in policy) throw new Error(policy.malformed);
    const onDefect = (defect: Error): never => {
      throw defect;
    };
    const witnessing = startWitnessing({
      ...{ policy, origin, onDefect, witnesses: { policy: "", submit }, witnessedBefore: 0, verifySignature },
      auditLog: {
        head: async () => ({ size, hash: "", timestamp: "" }),
        readTiles: async (places) => places.map(() => undefined),
        putCheckpoint: async () => undefined,
      },
      findings: { contradicted: (by) => heard.push(by), agreed: () => undefined, contradictions: () => heard },
      ...{ clock: time.clock, timers: time.timers, log: quietLog, tree: createTreeHash(sha256), pen: () => 1 },
    });
    witnessing.signed({ size: 9, note: sampleLog(9).checkpoint(9) });
    await time.finish("what is asked", witnessing.stop(1_000), 10_000);
    expect(heard).toHaveLength(found);
  });
});

describe("a restart", () => {
  it("after an answer that was lost is no contradiction, and the witness is asked at once", async () => {
    const { rig, start, witness } = rigWith(711);
    const first = await start();
    await fill(rig, first.audit, 9, "a");
    witness.fate = "lost";
    await fill(rig, first.audit, 10, "b");
    expect(witness.state()?.size).toBe(20);
    isAtPeace(rig, first.audit, 10);
    first.process.kill();
    witness.fate = "heard";
    const asked = witness.statuses.length;
    const second = await start();
    expect(witness.statuses.slice(asked)).toEqual([409, 200]);
    isAtPeace(rig, second.audit, 20);
    expect(cosignatures(rig, 20)).toBe(1);
    expect(await rig.finish(second.audit.verify())).toMatchObject({ level: "L2", coveredSize: 20 });
  });

  it.each(["away", "never"] as const)(
    "counts what is stored and does not wait for a witness that is %s",
    async (fate) => {
      const { rig, start, witness } = rigWith(712);
      const first = await start();
      await fill(rig, first.audit, 9, "a");
      witness.fate = fate;
      await fill(rig, first.audit, 10, "b");
      first.process.kill();
      const before = rig.time.elapsedMs();
      const second = await start();
      expect(rig.time.elapsedMs() - before).toBeLessThan(100);
      isAtPeace(rig, second.audit, 10);
      expect(second.audit.status()).toMatchObject({ size: 20, signedSize: 20 });
      const ending = rig.time.elapsedMs();
      await rig.finish(second.audit.stop());
      expect(rig.time.elapsedMs() - ending).toBeLessThan(2_500);
    },
  );

  it("after a clean end counts at once, and writes no second cosignature of the same witness", async () => {
    const { rig, start, all } = rigWith(713, { count: 3, needed: 2 });
    const [, , third] = all as [MemoryWitness, MemoryWitness, MemoryWitness];
    third.fate = "away";
    const first = await start();
    await fill(rig, first.audit, 9, "a");
    await rig.finish(first.audit.stop());
    expect(cosignatures(rig, 10)).toBe(2);
    third.fate = "heard";
    for (const _start of [1, 2]) {
      const { audit } = await start();
      isAtPeace(rig, audit, 10);
      await rig.finish(audit.stop());
      expect(cosignatures(rig, 10)).toBe(3);
    }
  });

  it("adds a cosignature to those that are stored, and both count", async () => {
    const { rig, start, all } = rigWith(716, { count: 2, needed: 2 });
    const [one, two] = all as [MemoryWitness, MemoryWitness];
    two.fate = "away";
    const first = await start();
    await fill(rig, first.audit, 9, "a");
    await rig.finish(first.audit.stop());
    expect(cosignatures(rig, 10)).toBe(1);
    [one.fate, two.fate] = ["away", "heard"];
    const { audit } = await start();
    isAtPeace(rig, audit, 10);
    expect(cosignatures(rig, 10)).toBe(2);
  });

  it("does not count cosignatures that are not the witnesses', nor those of another tree", async () => {
    const { rig, start, witness } = rigWith(714);
    const first = await start();
    await fill(rig, first.audit, 9, "a");
    await rig.finish(first.audit.stop());
    witness.fate = "away";
    const stored = rig.disk.checkpoints.get(10);
    if (stored === undefined) throw new Error("no checkpoint");
    const forged = `${stored.note.slice(0, -20)}${stored.note.at(-20) === "A" ? "B" : "A"}${stored.note.slice(-19)}`;
    rig.disk.checkpoints.set(10, { ...stored, note: forged });
    expect((await start()).audit.status()).toMatchObject({
      witnessedSize: 0,
      trust: expect.stringMatching(/^operator-trusted: /),
    });
    rig.disk.checkpoints.set(10, stored);
    rewriteAndRechain(rig.disk, 4, { at: 99 });
    expect((await start()).audit.status()).toMatchObject({ state: "standing still", witnessedSize: 0 });
  });

  it("learns from the verification that follows what lies further back", async () => {
    const { rig, start, witness } = rigWith(715);
    const first = await start();
    await fill(rig, first.audit, 9, "a");
    witness.fate = "away";
    for (let n = 0; n < 60; n += 1) await fill(rig, first.audit, 1, `b${n}`);
    first.process.kill();
    const { audit } = await start();
    expect(audit.status().witnessedSize).toBe(0);
    expect(await rig.finish(audit.verify())).toMatchObject({ level: "L2", coveredSize: 10 });
    isAtPeace(rig, audit, 10);
  });
});
