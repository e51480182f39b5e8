// Witnesses and the log: what is counted after a restart, that nothing waits for them, and that a witness who knows another history is heard, while
// one whose answer was lost is not taken for that.
import { describe, expect, it } from "vitest";
import { createTreeHash } from "../../../../core/audit/merkle.ts";
import { readPolicy } from "../../../../core/audit/policy.ts";
import { sha256, verifySignature, witnessSigner } from "../../../../testkit/audit/keys.ts";
import { type MemoryWitness, memoryWitnesses } from "../../../../testkit/audit/memory-witness.ts";
import { origin, sampleLog } from "../../../../testkit/audit/sample-log.ts";
import {
  type AuditFixture,
  auditFixture,
  recordsOf,
  rewriteAndRechain,
} from "../../../../testkit/audit/service-fixture.ts";
import { quietLog } from "../../../../testkit/quiet-log.ts";
import { scheduler } from "../../../../testkit/virtual/scheduler.ts";
import { healthOf } from "../../operations.ts";
import type { RunningAudit } from "../audit-ports.ts";
import type { Contradiction } from "../checking/findings.ts";
import { startWitnessing } from "./witnessing.ts";

const later = (fixture: AuditFixture, ms = 20): Promise<void> =>
  fixture.time.run({ untilMs: fixture.time.elapsedMs() + ms });

async function fill(fixture: AuditFixture, audit: RunningAudit, count: number, name: string): Promise<void> {
  const requests = Array.from({ length: count }, (_, at) => ({
    eventId: `${name}-${at}`,
    actor: "service:oms",
    action: "a.b",
    subjectId: `s-${at % 3}`,
    data: { at },
  }));
  await fixture.finish(Promise.all(requests.map((request) => audit.append(request))));
  await fixture.finish(audit.flush());
  await later(fixture);
}

function fixtureWith(seed: number, { count = 1, needed = 1 } = {}) {
  const fixture = auditFixture({ seed });
  const logVkey = (): string => {
    const keys = recordsOf(fixture.disk)[0]?.data["keys"];
    return Array.isArray(keys) ? String(keys[0]) : "";
  };
  const { all, client } = memoryWitnesses({ count, needed, logVkey, nowUs: fixture.time.clock.now });
  const [witness] = all;
  if (witness === undefined) throw new Error("no witness");
  const start = async () => {
    const life = await fixture.start({ witnesses: client() });
    await later(fixture);
    return life;
  };
  return { fixture, start, all, witness };
}

/** The disk as it is now; what it gives puts the disk back to that. */
function backup({ disk }: AuditFixture): () => void {
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

const alarms = (fixture: AuditFixture): Alarm[] =>
  fixture.tables.log
    .filter(({ subject }) => subject === "svc.v1.operations.alarm.raised")
    .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Alarm);

function isContradicted(fixture: AuditFixture, audit: RunningAudit, sentence: string): void {
  const status = audit.status();
  expect(status.broken).toContain(sentence);
  expect(status.complaint).toContain(sentence);
  expect(status).toMatchObject({ witnessedSize: 0, trust: expect.stringMatching(/^not witnessed: 1 of \d witnesses/) });
  expect(healthOf(audit)).toEqual({ status: "failing", complaint: expect.stringContaining(sentence) });
  expect(alarms(fixture).at(-1)?.code).toBe("AUDIT_WITNESS_CONTRADICTS");
}

function isAtPeace(fixture: AuditFixture, audit: RunningAudit, witnessedSize: number): void {
  const trust = expect.stringContaining(`up to entry ${witnessedSize - 1}`);
  expect(audit.status()).toMatchObject({ broken: undefined, complaint: undefined, witnessedSize, trust });
  expect(healthOf(audit)).toEqual({ status: "ok" });
  expect(alarms(fixture)).toEqual([]);
}

const cosignatures = (fixture: AuditFixture, size: number): number =>
  (fixture.disk.checkpoints.get(size)?.note ?? "").split("\n").filter((line) => line.startsWith("— w")).length;

describe("a witness that knows another history", () => {
  it("finds a database that was put back from a backup, at the start, and still after the log has grown past it", async () => {
    const { fixture, start, witness } = fixtureWith(701);
    const first = await start();
    await fill(fixture, first.audit, 29, "a");
    const putBack = backup(fixture);
    await fill(fixture, first.audit, 10, "b");
    await fixture.finish(first.audit.stop());
    expect(witness.state()?.size).toBe(40);
    const whole = backup(fixture);
    putBack();
    const second = await start();
    isContradicted(
      fixture,
      second.audit,
      "Rollback suspected: the witness at http://w1.example/ has cosigned this log with 40",
    );
    expect(alarms(fixture)).toMatchObject([{ facts: { kind: "larger", witness_size: 40, log_size: 30 } }]);
    // The entries and the cosignatures that are left verify; nothing of it is called witnessed.
    expect(await fixture.finish(second.audit.verify())).toMatchObject({ level: "L1" });
    expect(await fixture.finish(second.audit.fsck())).toMatchObject({ fault: undefined, verified: { level: "L1" } });
    isContradicted(fixture, second.audit, "Rollback suspected");
    await fill(fixture, second.audit, 20, "c");
    isContradicted(fixture, second.audit, "and its 5");
    expect(second.audit.status().broken).toContain("do not begin with those");
    expect(alarms(fixture)).toHaveLength(1);
    await fixture.finish(second.audit.stop());
    // The true one is cosigned again, and all is well.
    whole();
    const third = await start();
    expect(third.audit.status()).toMatchObject({ broken: undefined, trust: expect.stringMatching(/^witnessed by/) });
    expect(await fixture.finish(third.audit.verify())).toMatchObject({ level: "L2" });
  });

  it("finds a log that was rewritten and signed anew, at the same size; another one that cosigns changes nothing", async () => {
    const { fixture, start, all, witness } = fixtureWith(702, { count: 2, needed: 1 });
    const first = await start();
    await fill(fixture, first.audit, 19, "a");
    const putBack = backup(fixture);
    const [, other] = all;
    if (other !== undefined) other.fate = "away";
    await fill(fixture, first.audit, 1, "b");
    await fixture.finish(first.audit.stop());
    expect(witness.state()?.size).toBe(21);
    putBack();
    if (other !== undefined) other.fate = "heard";
    witness.fate = "away";
    const second = await start();
    await fill(fixture, second.audit, 1, "c");
    witness.fate = "heard";
    await fixture.finish(second.audit.stop());
    const third = await start();
    isContradicted(fixture, third.audit, "another checkpoint of size 21");
    expect(alarms(fixture)).toMatchObject([{ facts: { kind: "other root", witness_size: 21, log_size: 21 } }]);
    expect(other?.state()?.size).toBeGreaterThanOrEqual(21);
    expect(third.audit.status().trust).toBe("not witnessed: 1 of 2 witnesses knows another history of this log");
  });

  it("is not what a log is told whose tiles are wrong: it is a complaint that says what to do", async () => {
    const { fixture, start } = fixtureWith(703);
    const { audit } = await start();
    await fill(fixture, audit, 300, "a");
    await fixture.finish(audit.stop());
    for (const [place, tile] of fixture.disk.tiles) {
      fixture.disk.tiles.set(place, { ...tile, hashes: tile.hashes.map((byte) => byte ^ 1) });
    }
    const next = await start();
    expect(next.audit.status()).toMatchObject({ broken: undefined });
    expect(next.audit.status().witnessComplaints.join()).toContain("fsck --rebuild");
    expect(alarms(fixture)).toEqual([]);
  });

  it("takes it back by cosigning again, and only that does", async () => {
    const { fixture, start, witness } = fixtureWith(704);
    const { audit } = await start();
    await fill(fixture, audit, 9, "a");
    witness.fate = "lie";
    await fill(fixture, audit, 5, "b");
    isContradicted(fixture, audit, "with 9999 entries, and it has 15");
    witness.fate = "away";
    await fill(fixture, audit, 5, "c");
    await fixture.finish(audit.verify());
    isContradicted(fixture, audit, "with 9999 entries, and it has 15");
    witness.fate = "heard";
    await fill(fixture, audit, 5, "d");
    const { size } = fixture.disk.head;
    expect(audit.status()).toMatchObject({ broken: undefined, witnessedSize: size, signedSize: size });
    expect(alarms(fixture)).toHaveLength(1);
    witness.fate = "lie";
    await fill(fixture, audit, 5, "e");
    expect(alarms(fixture)).toHaveLength(2);
  });

  it.each([
    [26, 0],
    [25, 0],
    [24, 1],
  ])("is compared with what is stored, where another process may have written: %i entries", async (size, found) => {
    const time = scheduler({ seed: 705 });
    const { vkey } = witnessSigner("w1", 21).key;
    const heard: Contradiction[] = [];
    const reported = { url: "http://w1.example/", vkey, kind: "larger", witnessSize: 25 } as const;
    const submit = async () => ({ lines: [], complaints: [], contradictions: [reported] });
    const policy = readPolicy(`1 of ${vkey}`, sha256);
    if ("malformed" in policy) throw new Error(policy.malformed);
    const onDefect = (defect: Error): never => {
      throw defect;
    };
    const witnessing = startWitnessing({
      policy,
      origin,
      onDefect,
      witnesses: { policy: "", submit },
      witnessedBefore: 0,
      verifySignature,
      auditLog: {
        head: async () => ({ size, hash: "", timestamp: "" }),
        readTiles: async (places) => places.map(() => undefined),
        putCheckpoint: async () => undefined,
      },
      findings: { contradicted: (by) => heard.push(by), agreed: () => undefined, contradictions: () => heard },
      clock: time.clock,
      timers: time.timers,
      log: quietLog,
      tree: createTreeHash(sha256),
      writerEpoch: () => 1,
    });
    witnessing.signed({ size: 9, note: sampleLog(9).checkpoint(9) });
    await time.finish("what is asked", witnessing.stop(1_000), 10_000);
    expect(heard).toHaveLength(found);
  });
});

describe("a restart", () => {
  it("after an answer that was lost is no contradiction, and the witness is asked at once", async () => {
    const { fixture, start, witness } = fixtureWith(711);
    const first = await start();
    await fill(fixture, first.audit, 9, "a");
    witness.fate = "lost";
    await fill(fixture, first.audit, 10, "b");
    expect(witness.state()?.size).toBe(20);
    isAtPeace(fixture, first.audit, 10);
    first.process.kill();
    witness.fate = "heard";
    const asked = witness.statuses.length;
    const second = await start();
    expect(witness.statuses.slice(asked)).toEqual([409, 200]);
    isAtPeace(fixture, second.audit, 20);
    expect(cosignatures(fixture, 20)).toBe(1);
    expect(await fixture.finish(second.audit.verify())).toMatchObject({ level: "L2", coveredSize: 20 });
  });

  it.each(["away", "never"] as const)(
    "counts what is stored and does not wait for a witness that is %s",
    async (fate) => {
      const { fixture, start, witness } = fixtureWith(712);
      const first = await start();
      await fill(fixture, first.audit, 9, "a");
      witness.fate = fate;
      await fill(fixture, first.audit, 10, "b");
      first.process.kill();
      const before = fixture.time.elapsedMs();
      const second = await start();
      expect(fixture.time.elapsedMs() - before).toBeLessThan(100);
      isAtPeace(fixture, second.audit, 10);
      expect(second.audit.status()).toMatchObject({ size: 20, signedSize: 20 });
      const ending = fixture.time.elapsedMs();
      await fixture.finish(second.audit.stop());
      expect(fixture.time.elapsedMs() - ending).toBeLessThan(2_500);
    },
  );

  it("after a clean end counts at once, and writes no second cosignature of the same witness", async () => {
    const { fixture, start, all } = fixtureWith(713, { count: 3, needed: 2 });
    const [, , third] = all as [MemoryWitness, MemoryWitness, MemoryWitness];
    third.fate = "away";
    const first = await start();
    await fill(fixture, first.audit, 9, "a");
    await fixture.finish(first.audit.stop());
    expect(cosignatures(fixture, 10)).toBe(2);
    third.fate = "heard";
    for (const _start of [1, 2]) {
      const { audit } = await start();
      isAtPeace(fixture, audit, 10);
      await fixture.finish(audit.stop());
      expect(cosignatures(fixture, 10)).toBe(3);
    }
  });

  it("adds a cosignature to those that are stored, and both count", async () => {
    const { fixture, start, all } = fixtureWith(716, { count: 2, needed: 2 });
    const [one, two] = all as [MemoryWitness, MemoryWitness];
    two.fate = "away";
    const first = await start();
    await fill(fixture, first.audit, 9, "a");
    await fixture.finish(first.audit.stop());
    expect(cosignatures(fixture, 10)).toBe(1);
    [one.fate, two.fate] = ["away", "heard"];
    const { audit } = await start();
    isAtPeace(fixture, audit, 10);
    expect(cosignatures(fixture, 10)).toBe(2);
  });

  it("does not count cosignatures that are not the witnesses', nor those of another tree", async () => {
    const { fixture, start, witness } = fixtureWith(714);
    const first = await start();
    await fill(fixture, first.audit, 9, "a");
    await fixture.finish(first.audit.stop());
    witness.fate = "away";
    const stored = fixture.disk.checkpoints.get(10);
    if (stored === undefined) throw new Error("no checkpoint");
    const forged = `${stored.note.slice(0, -20)}${stored.note.at(-20) === "A" ? "B" : "A"}${stored.note.slice(-19)}`;
    fixture.disk.checkpoints.set(10, { ...stored, note: forged });
    expect((await start()).audit.status()).toMatchObject({
      witnessedSize: 0,
      trust: expect.stringMatching(/^operator-trusted: /),
    });
    fixture.disk.checkpoints.set(10, stored);
    rewriteAndRechain(fixture.disk, 4, { at: 99 });
    expect((await start()).audit.status()).toMatchObject({ state: "standing still", witnessedSize: 0 });
  });

  it("learns from the verification that follows what lies further back", async () => {
    const { fixture, start, witness } = fixtureWith(715);
    const first = await start();
    await fill(fixture, first.audit, 9, "a");
    witness.fate = "away";
    for (let n = 0; n < 60; n += 1) await fill(fixture, first.audit, 1, `b${n}`);
    first.process.kill();
    const { audit } = await start();
    expect(audit.status().witnessedSize).toBe(0);
    expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L2", coveredSize: 10 });
    isAtPeace(fixture, audit, 10);
  });
});
