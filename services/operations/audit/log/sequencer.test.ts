// The sequencer on the memory store: order, batches, exactly once over lost answers and crashes, and the writer epoch.
import { describe, expect, it } from "vitest";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type AuditLife, auditFixture, recordsOf } from "../../../../testkit/audit/service-fixture.ts";
import { memoryAuditLog } from "../../../../testkit/memory/audit-log.ts";
import type { AuditTables } from "../../../../testkit/memory/audit-tables.ts";
import { quietLog } from "../../../../testkit/quiet-log.ts";
import { prng } from "../../../../testkit/virtual/prng.ts";
import type { AppendRequest } from "./append-request.ts";
import { type Appended, createSequencer, type SequencerLimits } from "./sequencer.ts";

function request(n: number, more: Partial<AppendRequest> = {}): AppendRequest {
  return {
    eventId: `event-${n}`,
    actor: "service:oms",
    action: "order.created",
    subjectId: `order-${n % 3}`,
    data: { n },
    ...more,
  };
}

function mustBeAChain(disk: AuditTables, from = 0): void {
  const prevHash = from === 0 ? {} : { prevHash: recordsOf(disk)[from - 1]?.hash ?? "" };
  const chain = createChainCheck({ sha256: systemSha256OfBytes, from, ...prevHash });
  for (const { text } of disk.rows.slice(from)) expect(chain.next(text)).toBeUndefined();
  expect(chain.hash).toBe(disk.head.hash);
  expect(chain.sequence).toBe(disk.head.size);
}

/** Every acknowledged event stands in the log exactly once, where its caller was told. */
function mustBeOnce(disk: AuditTables, reported: ReadonlyMap<string, number>): void {
  const ids = disk.rows.map((row) => row.eventId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [id, sequence] of reported) expect(disk.rows[sequence]?.eventId).toBe(id);
}

/** A sequencer by itself on the memory store, without checkpoints and intake. */
async function bareSequencer(seed: number, limits: Partial<SequencerLimits>, remembersAll = false) {
  const fixture = auditFixture({ seed });
  const auditLog = memoryAuditLog({
    process: fixture.tables.process("operations"),
    timers: fixture.time.timers,
    audit: fixture.disk,
  });
  const { writerEpoch, head } = await fixture.finish(auditLog.takeWriterEpoch("one"));
  const { clock, timers } = fixture.time;
  const fails = (thrown: Error): never => {
    throw thrown;
  };
  const subjects = new Set<string>();
  const sequencer = createSequencer({
    hasNone: remembersAll ? (subjectId) => !subjects.has(subjectId) : undefined,
    onDurable: (rows) => {
      for (const { subjectId } of rows) subjects.add(subjectId);
    },
    auditLog,
    clock,
    timers,
    log: quietLog,
    sha256: systemSha256OfBytes,
    incarnation: "one",
    writerEpoch,
    head,
    limits,
    onTakenOver: fails,
    onDefect: fails,
  });
  return { fixture, sequencer, batches: () => fixture.commits.get("audit.append") ?? 0 };
}

/** What a log would be that takes one entry at a time and remembers everything. */
function appendedOneByOne(asked: readonly AppendRequest[]) {
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
    const fixture = auditFixture({ seed: 1 });
    const { audit } = await fixture.start();
    expect(recordsOf(fixture.disk)[0]).toMatchObject({ action: "chain.genesis", sequence: 0 });
    const before = fixture.commits.get("audit.append") ?? 0;
    const appended = await fixture.finish(
      Promise.all(Array.from({ length: 1_010 }, (_, n) => audit.append(request(n)))),
    );
    expect(appended.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1_010 }, (_, n) => n + 1));
    expect((fixture.commits.get("audit.append") ?? 0) - before).toBe(2);
    expect(fixture.disk.head.size).toBe(1_011);
    mustBeAChain(fixture.disk);
    await fixture.finish(audit.stop());
  });

  it("3: an event id that is there already is answered with where, also within one batch and after a restart; another content is refused (A12)", async () => {
    const fixture = auditFixture({ seed: 2 });
    const first = await fixture.start();
    const twice = await fixture.finish(Promise.all([first.audit.append(request(1)), first.audit.append(request(1))]));
    expect(twice.map(({ sequence }) => sequence)).toEqual([1, 1]);
    await fixture.finish(first.audit.stop());
    const { audit } = await fixture.start();
    expect(await fixture.finish(audit.append(request(1)))).toEqual({ sequence: 1, entry: undefined });
    await expect(fixture.finish(audit.append(request(1, { data: { n: 2 } })))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(fixture.disk.head.size).toBe(2);
  });

  it("4: a definite failure withdraws what waits as well, and what is asked for again stands in order", async () => {
    const fixture = auditFixture({ seed: 3 });
    const { audit } = await fixture.start();
    fixture.fates.set("audit.append", ["failed"]);
    const all = Array.from({ length: 1_010 }, (_, n) => audit.append(request(n)));
    const settled = await fixture.finish(Promise.allSettled(all));
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(settled[1_009]).toMatchObject({ reason: { code: "STORE_UNAVAILABLE", retry: "later" } });
    expect(fixture.disk.head.size).toBe(1);
    expect((await fixture.finish(audit.append(request(0)))).sequence).toBe(1);
    mustBeAChain(fixture.disk);
  });

  it.each(["lost, committed", "lost, not committed"] as const)(
    "5: %s: every append is there exactly once",
    async (fate) => {
      const fixture = auditFixture({ seed: 4 });
      const { audit } = await fixture.start();
      fixture.fates.set("audit.append", [fate, fate]);
      const reported = new Map<string, number>();
      for (const n of [1, 2, 3]) reported.set(`event-${n}`, (await fixture.finish(audit.append(request(n)))).sequence);
      expect([...reported.values()]).toEqual([1, 2, 3]);
      mustBeOnce(fixture.disk, reported);
      mustBeAChain(fixture.disk);
      expect(audit.status().state).toBe("open");
    },
  );

  const seed = 20_261_115;
  it(`5: crashes at any moment, lost answers and failures: acknowledged is there, exactly once (seed ${seed})`, async () => {
    const throwing = prng(seed);
    const fixture = auditFixture({ seed });
    const reported = new Map<string, number>();
    let life: AuditLife = await fixture.start();
    let n = 0;
    for (let round = 0; round < 30; round += 1) {
      const fate = (["committed", "failed", "lost, committed", "lost, not committed"] as const)[throwing.below(4)];
      fixture.delays.answerMs = throwing.below(3);
      fixture.fates.set("audit.append", [fate ?? "committed"]);
      for (let count = throwing.below(30); count > 0; count -= 1) {
        n += 1;
        const id = `event-${throwing.chance(0.1) ? throwing.below(n) : n}`;
        const asked = request(n, { eventId: id, data: {}, subjectId: "order" });
        life.audit.append(asked).then(
          ({ sequence }) => reported.set(id, sequence),
          () => undefined,
        );
      }
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + throwing.below(6) });
      if (!throwing.chance(0.5)) continue;
      life.process.kill();
      fixture.fates.set("audit.append", []);
      life = await fixture.start();
    }
    await fixture.finish(life.audit.stop());
    expect(reported.size).toBeGreaterThan(60);
    mustBeOnce(fixture.disk, reported);
    mustBeAChain(fixture.disk);
  });

  it("6: a second writer ends the first, which says so and writes nothing any more (A15)", async () => {
    const fixture = auditFixture({ seed: 6 });
    const first = await fixture.start();
    const second = await fixture.start();
    await expect(fixture.finish(first.audit.append(request(1)))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(first.audit.status().state).toBe("taken over");
    expect((await fixture.finish(second.audit.append(request(2)))).sequence).toBe(1);
    await expect(fixture.finish(first.audit.append(request(3)))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 5_000 });
    expect(fixture.tables.log.map(({ subject }) => subject)).toContain("svc.v1.operations.alarm.raised");
    expect(recordsOf(fixture.disk).map(({ action }) => action)).toContain("alarm.raised");
    mustBeAChain(fixture.disk);
  });

  it("7: every entry names the newest earlier one about its subject, within a batch and across restarts", async () => {
    const fixture = auditFixture({ seed: 7 });
    const first = await fixture.start();
    await fixture.finish(Promise.all([0, 1, 2, 3, 4].map((n) => first.audit.append(request(n)))));
    await fixture.finish(first.audit.stop());
    const { audit } = await fixture.start();
    await fixture.finish(Promise.all([5, 6, 7].map((n) => audit.append(request(n)))));
    const links = recordsOf(fixture.disk)
      .slice(1)
      .map(({ data }) => data["subject_previous"]);
    expect(links).toEqual([null, null, null, 1, 2, 3, 4, 5]);
  });

  it.each([1, 2, 3, 4].map((n) => [20_261_200 + n]))(
    "3, 7: in batches of any size, prepared ahead or not, with little memory, it is as if appended one by one (seed %i)",
    async (seed) => {
      const thrown = prng(seed);
      const limits = {
        batchEntriesMax: 1 + thrown.below(40),
        aheadEntriesMin: 1 + thrown.below(20),
        rememberedMax: 1 + thrown.below(30),
      };
      const { fixture, sequencer, batches } = await bareSequencer(seed, limits, seed % 2 === 0);
      const asked: AppendRequest[] = [];
      const reported: Promise<Appended>[] = [];
      for (let burst = 0; burst < 60; burst += 1) {
        fixture.delays.commitMs = thrown.below(4);
        fixture.delays.answerMs = thrown.below(3);
        for (let count = thrown.below(60); count > 0; count -= 1) {
          const n = asked.length;
          const id = `event-${thrown.chance(0.2) ? thrown.below(n + 1) : n}`;
          const one = request(n, { eventId: id, subjectId: `order-${thrown.below(25 + n)}` });
          asked.push(one);
          reported.push(sequencer.append(one));
        }
        await fixture.time.run({ untilMs: fixture.time.elapsedMs() + thrown.below(8) });
      }
      const sequences = (await fixture.finish(Promise.all(reported))).map(({ sequence }) => sequence);
      const naive = appendedOneByOne(asked);
      expect(sequences).toEqual(naive.sequences);
      const links = recordsOf(fixture.disk).map(({ data }) => data["subject_previous"]);
      expect(links).toEqual(naive.links);
      mustBeAChain(fixture.disk, 1);
      expect(batches()).toBeGreaterThan(30);
    },
  );

  it("4: what was prepared ahead is withdrawn with the batch before it, and nothing of it appears later", async () => {
    const { fixture, sequencer } = await bareSequencer(11, { batchEntriesMax: 4, aheadEntriesMin: 1 });
    for (const fate of ["failed", "lost, not committed", "lost, committed"] as const) {
      const before = fixture.disk.head.size;
      fixture.fates.set("audit.append", [fate]);
      const all = Array.from({ length: 10 }, (_, n) => sequencer.append(request(before + n)));
      const settled = await fixture.finish(Promise.allSettled(all));
      const isKept = fate !== "failed";
      expect(settled.every(({ status }) => (status === "fulfilled") === isKept)).toBe(true);
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 100 });
      expect(fixture.disk.head.size).toBe(isKept ? before + 10 : before);
    }
    mustBeAChain(fixture.disk, 1);
  });

  it("refuses what is not an entry, what is the log's own, and more than may wait", async () => {
    const fixture = auditFixture({ seed: 8, settings: { queueMax: 10 } });
    const { audit } = await fixture.start();
    const bad: readonly Partial<AppendRequest>[] = [
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
      await expect(fixture.finish(audit.append(request(1, more)))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const settled = await fixture.finish(
      Promise.allSettled(Array.from({ length: 12 }, (_, n) => audit.append(request(n)))),
    );
    expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(2);
    expect(settled[11]).toMatchObject({ reason: { code: "RESOURCE_EXHAUSTED" } });
    expect(fixture.disk.head.size).toBe(11);
  });

  it("never lets time run backwards (A30)", async () => {
    const fixture = auditFixture({ seed: 9 });
    const { audit } = await fixture.start();
    await fixture.finish(audit.append(request(1)));
    fixture.skew.us = -3_600_000_000;
    await fixture.finish(audit.append(request(2)));
    fixture.skew.us = 3_600_000_000;
    await fixture.finish(audit.append(request(3)));
    const [, first, second, third] = recordsOf(fixture.disk).map(({ timestamp }) => timestamp);
    expect(second).toBe(first);
    expect((third ?? "") > (second ?? "")).toBe(true);
    mustBeAChain(fixture.disk);
  });
});
