// Long verifications: they say how far they are, end as one call would, and do not outlive who asked for them.
import { describe, expect, it } from "vitest";
import { type AuditFixture, auditFixture, rewriteAndRechain } from "../../../../testkit/audit/service-fixture.ts";
import { scheduler } from "../../../../testkit/virtual/scheduler.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { createRuns, runningMax } from "./runs.ts";

function fixture() {
  const time = scheduler({ seed: 101 });
  const runs = createRuns<string>({ timers: time.timers, random: time.prng.fork("runs") });
  const later = (ms: number): Promise<void> => time.run({ untilMs: time.elapsedMs() + ms });
  const watch = (runId: string) => time.finish("watch", runs.watch(runId), 100_000);
  return { time, runs, later, watch };
}

describe("a run", () => {
  it("tells how far it is while it goes on, and what came of it, also when that is asked twice", async () => {
    const { time, runs, watch } = fixture();
    const begun = runs.begin(900, async (signal, progress) => {
      for (let at = 100; at <= 900; at += 100) {
        await time.timers.sleep(1_000, signal);
        progress(at);
      }
      return "whole";
    });
    expect(begun).toMatchObject({ nextSequence: 0, size: 900, result: undefined });
    const first = await watch(begun.runId);
    expect(first.result).toBeUndefined();
    expect(first.nextSequence).toBeGreaterThanOrEqual(400);
    expect(await watch(begun.runId)).toMatchObject({ nextSequence: 900, result: "whole" });
    expect(await watch(begun.runId)).toMatchObject({ result: "whole" });
  });

  it("is given up when nobody asks about it for a minute, and forgotten", async () => {
    const { runs, later, watch } = fixture();
    let given: AbortSignal | undefined;
    const { runId } = runs.begin(1, (signal) => {
      given = signal;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    });
    await later(50_000);
    expect((await watch(runId)).result).toBeUndefined();
    await later(50_000);
    expect(given?.aborted).toBe(false);
    await later(11_000);
    expect(given?.aborted).toBe(true);
    await expect(watch(runId)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(watch("nonsense")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("is one of two at most, and one that failed says why and makes room", async () => {
    const { runs, watch, later } = fixture();
    const ids = Array.from({ length: runningMax }, () => {
      const work = () => Promise.reject(new Error("the disk"));
      return runs.begin(1, work).runId;
    });
    expect(() => runs.begin(1, async () => "x")).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED" }));
    await later(1);
    await expect(watch(ids[0] ?? "")).rejects.toThrow("the disk");
    for (let count = 0; count < 100; count += 1) {
      runs.begin(1, async () => "x");
      await later(1);
    }
    await expect(watch(ids[1] ?? "")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

async function ended(log: AuditFixture, audit: RunningAudit, runId: string) {
  for (;;) {
    const { result } = await log.finish(audit.watchRun(runId));
    if (result !== undefined) return result;
  }
}

describe("a verification in a run", () => {
  it("says exactly what one call says: of a whole log, from any entry on, and of a broken one", async () => {
    const log = auditFixture({ seed: 102 });
    const { audit } = await log.start();
    const request = (at: number) => ({
      eventId: `e-${at}`,
      actor: "service:oms",
      action: "a.b",
      subjectId: "s",
      data: { at },
    });
    await log.finish(Promise.all(Array.from({ length: 2_500 }, (_, at) => audit.append(request(at)))));
    await log.finish(audit.flush());
    await log.finish(Promise.all([9_001, 9_002].map((at) => audit.append(request(at)))));
    for (const from of [0, 700, 2_502]) {
      const { runId } = await audit.beginVerification(from);
      const verdict = await log.finish(audit.verify(from));
      expect(verdict).toMatchObject({ gaps: 0, entries: 2_503 - from });
      expect(await ended(log, audit, runId)).toEqual({ kind: "verified", verdict });
    }
    const { runId } = await audit.beginInspection(false);
    const report = await log.finish(audit.fsck());
    expect(await ended(log, audit, runId)).toEqual({ kind: "inspected", report });
    rewriteAndRechain(log.disk, 1_200, { at: -1 });
    const broken = await audit.beginVerification(0);
    expect(await ended(log, audit, broken.runId)).toMatchObject({ verdict: { fault: { code: "ROOT_MISMATCH" } } });
    await log.finish(audit.stop());
  });
});
