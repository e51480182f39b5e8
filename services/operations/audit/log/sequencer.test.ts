// The sequencer on the memory world: order, batches, exactly once over lost answers and crashes, and the pen.
import { describe, expect, it } from "vitest";
import { memoryAuditLog } from "../../../../adapters/memory/audit-log.ts";
import type { AuditWorld } from "../../../../adapters/memory/audit-world.ts";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type AuditLife, auditRig, recordsOf } from "../../../../testkit/audit/service-rig.ts";
import { quietLog } from "../../../../testkit/global-setup.ts";
import { dice } from "../../../../testkit/virtual/dice.ts";
import type { AuditWish } from "./append-request.ts";
import { type Appended, createSequencer, type SequencerLimits } from "./sequencer.ts";

function wish(n: number, more: Partial<AuditWish> = {}): AuditWish {
  return {
    eventId: `event-${n}`,
    actor: "service:oms",
    action: "order.created",
    subjectId: `order-${n % 3}`,
    data: { n },
    ...more,
  };
}

function mustBeAChain(disk: AuditWorld, from = 0): void {
  const prevHash = from === 0 ? {} : { prevHash: recordsOf(disk)[from - 1]?.hash ?? "" };
  const chain = createChainCheck({ sha256: systemSha256OfBytes, from, ...prevHash });
  for (const { text } of disk.rows.slice(from)) expect(chain.next(text)).toBeUndefined();
  expect(chain.hash).toBe(disk.head.hash);
  expect(chain.sequence).toBe(disk.head.size);
}

/** Every acknowledged event stands in the log exactly once, where its caller was told. */
function mustBeOnce(disk: AuditWorld, told: ReadonlyMap<string, number>): void {
  const ids = disk.rows.map((row) => row.eventId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [id, sequence] of told) expect(disk.rows[sequence]?.eventId).toBe(id);
}

/** A sequencer by itself on the memory world, without checkpoints and intake. */
async function bareSequencer(seed: number, limits: Partial<SequencerLimits>, remembersAll = false) {
  const rig = auditRig({ seed });
  const auditLog = memoryAuditLog({
    process: rig.world.process("operations"),
    timers: rig.time.timers,
    audit: rig.disk,
  });
  const { pen, head } = await rig.finish(auditLog.takePen("one"));
  const { clock, timers } = rig.time;
  const fails = (thrown: Error): never => {
    throw thrown;
  };
  const subjects = new Set<string>();
  const sequencer = createSequencer({
    hasNone: remembersAll ? (subjectId) => !subjects.has(subjectId) : undefined,
    onDurable: (rows) => {
      for (const { subjectId } of rows) subjects.add(subjectId);
    },
    ...{ auditLog, clock, timers, log: quietLog, sha256: systemSha256OfBytes, incarnation: "one", pen, head, limits },
    ...{ onTakenOver: fails, onDefect: fails },
  });
  return { rig, sequencer, batches: () => rig.commits.get("audit.append") ?? 0 };
}

/** What a log would be that takes one entry at a time and remembers everything. */
function appendedOneByOne(asked: readonly AuditWish[]) {
  const ids = new Map<string, number>();
  const newest = new Map<string, number>();
  const links: (number | null)[] = [];
  const sequences = asked.map(({ eventId, subjectId }) => {
    const there = ids.get(eventId);
    if (there !== undefined) return there;
    const sequence = links.length;
    ids.set(eventId, sequence);
    links.push(newest.get(subjectId) ?? null);
    newest.set(subjectId, sequence);
    return sequence;
  });
  return { sequences, links };
}

describe("sequencer", () => {
  it("1, 2: begins with entry 0, keeps the order and writes many appends in one batch", async () => {
    const rig = auditRig({ seed: 1 });
    const { audit } = await rig.start();
    expect(recordsOf(rig.disk)[0]).toMatchObject({ action: "chain.genesis", sequence: 0 });
    const before = rig.commits.get("audit.append") ?? 0;
    const appended = await rig.finish(Promise.all(Array.from({ length: 1_010 }, (_, n) => audit.append(wish(n)))));
    expect(appended.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1_010 }, (_, n) => n + 1));
    expect((rig.commits.get("audit.append") ?? 0) - before).toBe(2);
    expect(rig.disk.head.size).toBe(1_011);
    mustBeAChain(rig.disk);
    await rig.finish(audit.stop());
  });

  it("3: an event id that is there already is told where, also within one batch and after a restart; another content is refused (A12)", async () => {
    const rig = auditRig({ seed: 2 });
    const first = await rig.start();
    const twice = await rig.finish(Promise.all([first.audit.append(wish(1)), first.audit.append(wish(1))]));
    expect(twice.map(({ sequence }) => sequence)).toEqual([1, 1]);
    await rig.finish(first.audit.stop());
    const { audit } = await rig.start();
    expect(await rig.finish(audit.append(wish(1)))).toEqual({ sequence: 1, entry: undefined });
    await expect(rig.finish(audit.append(wish(1, { data: { n: 2 } })))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(rig.disk.head.size).toBe(2);
  });

  it("4: a definite failure withdraws what waits as well, and what is asked for again stands in order", async () => {
    const rig = auditRig({ seed: 3 });
    const { audit } = await rig.start();
    rig.fates.set("audit.append", ["failed"]);
    const all = Array.from({ length: 1_010 }, (_, n) => audit.append(wish(n)));
    const settled = await rig.finish(Promise.allSettled(all));
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(settled[1_009]).toMatchObject({ reason: { code: "STORE_UNAVAILABLE", retry: "later" } });
    expect(rig.disk.head.size).toBe(1);
    expect((await rig.finish(audit.append(wish(0)))).sequence).toBe(1);
    mustBeAChain(rig.disk);
  });

  it.each(["lost, committed", "lost, not committed"] as const)(
    "5: %s: every append is there exactly once",
    async (fate) => {
      const rig = auditRig({ seed: 4 });
      const { audit } = await rig.start();
      rig.fates.set("audit.append", [fate, fate]);
      const told = new Map<string, number>();
      for (const n of [1, 2, 3]) told.set(`event-${n}`, (await rig.finish(audit.append(wish(n)))).sequence);
      expect([...told.values()]).toEqual([1, 2, 3]);
      mustBeOnce(rig.disk, told);
      mustBeAChain(rig.disk);
      expect(audit.status().state).toBe("open");
    },
  );

  const seed = 20_261_115;
  it(`5: crashes at any moment, lost answers and failures: acknowledged is there, exactly once (seed ${seed})`, async () => {
    const throwing = dice(seed);
    const rig = auditRig({ seed });
    const told = new Map<string, number>();
    let life: AuditLife = await rig.start();
    let n = 0;
    for (let round = 0; round < 30; round += 1) {
      const fate = (["committed", "failed", "lost, committed", "lost, not committed"] as const)[throwing.below(4)];
      rig.delays.answerMs = throwing.below(3);
      rig.fates.set("audit.append", [fate ?? "committed"]);
      for (let count = throwing.below(30); count > 0; count -= 1) {
        n += 1;
        const id = `event-${throwing.chance(0.1) ? throwing.below(n) : n}`;
        const asked = wish(n, { eventId: id, data: {}, subjectId: "order" });
        life.audit.append(asked).then(
          ({ sequence }) => told.set(id, sequence),
          () => undefined,
        );
      }
      await rig.time.run({ untilMs: rig.time.elapsedMs() + throwing.below(6) });
      if (!throwing.chance(0.5)) continue;
      life.process.kill();
      rig.fates.set("audit.append", []);
      life = await rig.start();
    }
    await rig.finish(life.audit.stop());
    expect(told.size).toBeGreaterThan(60);
    mustBeOnce(rig.disk, told);
    mustBeAChain(rig.disk);
  });

  it("6: a second writer ends the first, which says so and writes nothing any more (A15)", async () => {
    const rig = auditRig({ seed: 6 });
    const first = await rig.start();
    const second = await rig.start();
    await expect(rig.finish(first.audit.append(wish(1)))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(first.audit.status().state).toBe("taken over");
    expect((await rig.finish(second.audit.append(wish(2)))).sequence).toBe(1);
    await expect(rig.finish(first.audit.append(wish(3)))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await rig.time.run({ untilMs: rig.time.elapsedMs() + 5_000 });
    expect(rig.world.log.map(({ subject }) => subject)).toContain("svc.v1.operations.alarm.raised");
    expect(recordsOf(rig.disk).map(({ action }) => action)).toContain("alarm.raised");
    mustBeAChain(rig.disk);
  });

  it("7: every entry names the newest earlier one about its subject, within a batch and across restarts", async () => {
    const rig = auditRig({ seed: 7 });
    const first = await rig.start();
    await rig.finish(Promise.all([0, 1, 2, 3, 4].map((n) => first.audit.append(wish(n)))));
    await rig.finish(first.audit.stop());
    const { audit } = await rig.start();
    await rig.finish(Promise.all([5, 6, 7].map((n) => audit.append(wish(n)))));
    const links = recordsOf(rig.disk)
      .slice(1)
      .map(({ data }) => data["subject_previous"]);
    expect(links).toEqual([null, null, null, 1, 2, 3, 4, 5]);
  });

  it.each([1, 2, 3, 4].map((n) => [20_261_200 + n]))(
    "3, 7: in batches of any size, prepared ahead or not, with little memory, it is as if appended one by one (seed %i)",
    async (seed) => {
      const thrown = dice(seed);
      const limits = {
        batchEntriesMax: 1 + thrown.below(40),
        aheadEntriesMin: 1 + thrown.below(20),
        rememberedMax: 1 + thrown.below(30),
      };
      const { rig, sequencer, batches } = await bareSequencer(seed, limits, seed % 2 === 0);
      const asked: AuditWish[] = [];
      const told: Promise<Appended>[] = [];
      for (let burst = 0; burst < 60; burst += 1) {
        rig.delays.commitMs = thrown.below(4);
        rig.delays.answerMs = thrown.below(3);
        for (let count = thrown.below(60); count > 0; count -= 1) {
          const n = asked.length;
          const id = `event-${thrown.chance(0.2) ? thrown.below(n + 1) : n}`;
          const one = wish(n, { eventId: id, subjectId: `order-${thrown.below(25 + n)}` });
          asked.push(one);
          told.push(sequencer.append(one));
        }
        await rig.time.run({ untilMs: rig.time.elapsedMs() + thrown.below(8) });
      }
      const sequences = (await rig.finish(Promise.all(told))).map(({ sequence }) => sequence);
      const naive = appendedOneByOne(asked);
      expect(sequences).toEqual(naive.sequences);
      const links = recordsOf(rig.disk).map(({ data }) => data["subject_previous"]);
      expect(links).toEqual(naive.links);
      mustBeAChain(rig.disk, 1);
      expect(batches()).toBeGreaterThan(30);
    },
  );

  it("4: what was prepared ahead is withdrawn with the batch before it, and nothing of it appears later", async () => {
    const { rig, sequencer } = await bareSequencer(11, { batchEntriesMax: 4, aheadEntriesMin: 1 });
    for (const fate of ["failed", "lost, not committed", "lost, committed"] as const) {
      const before = rig.disk.head.size;
      rig.fates.set("audit.append", [fate]);
      const all = Array.from({ length: 10 }, (_, n) => sequencer.append(wish(before + n)));
      const settled = await rig.finish(Promise.allSettled(all));
      const isKept = fate !== "failed";
      expect(settled.every(({ status }) => (status === "fulfilled") === isKept)).toBe(true);
      await rig.time.run({ untilMs: rig.time.elapsedMs() + 100 });
      expect(rig.disk.head.size).toBe(isKept ? before + 10 : before);
    }
    mustBeAChain(rig.disk, 1);
  });

  it("refuses what is not an entry, what is the log's own, and more than may wait", async () => {
    const rig = auditRig({ seed: 8, settings: { queueMax: 10 } });
    const { audit } = await rig.start();
    const bad: readonly Partial<AuditWish>[] = [
      { data: { id: 2 ** 53 } },
      { data: new Map() as never },
      {
        data: {
          get price() {
            return 1;
          },
        },
      },
      { data: { text: "x".repeat(70_000) } },
      { subjectId: "" },
      { action: "chain.verified" },
      { action: "key.rotated" },
      { action: "subject.key_destroyed" },
      { data: { subject_previous: 1 } },
      { eventId: "" },
      { eventId: "x".repeat(513) },
    ];
    for (const more of bad) {
      await expect(rig.finish(audit.append(wish(1, more)))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const settled = await rig.finish(Promise.allSettled(Array.from({ length: 12 }, (_, n) => audit.append(wish(n)))));
    expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(2);
    expect(settled[11]).toMatchObject({ reason: { code: "RESOURCE_EXHAUSTED" } });
    expect(rig.disk.head.size).toBe(11);
  });

  it("never lets time run backwards (A30)", async () => {
    const rig = auditRig({ seed: 9 });
    const { audit } = await rig.start();
    await rig.finish(audit.append(wish(1)));
    rig.skew.us = -3_600_000_000;
    await rig.finish(audit.append(wish(2)));
    rig.skew.us = 3_600_000_000;
    await rig.finish(audit.append(wish(3)));
    const [, first, second, third] = recordsOf(rig.disk).map(({ timestamp }) => timestamp);
    expect(second).toBe(first);
    expect((third ?? "") > (second ?? "")).toBe(true);
    mustBeAChain(rig.disk);
  });
});
