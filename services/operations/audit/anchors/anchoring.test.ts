// Anchors and the log: what is shown to them and when, that nothing waits for them, and what is found when the log does not fit what they have.
import { describe, expect, it } from "vitest";
import type { Anchor, AnchoredCheckpoint } from "../../../../ports/anchors.ts";
import {
  type AuditFixture,
  auditFixture,
  rewriteAndRechain,
  truncate,
} from "../../../../testkit/audit/service-fixture.ts";
import { scheduler } from "../../../../testkit/virtual/scheduler.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { startAnchoring } from "./anchoring.ts";

type Kept = Map<string, AnchoredCheckpoint>;

async function fill(fixture: AuditFixture, audit: RunningAudit, count: number, name = "e"): Promise<void> {
  const requests = Array.from({ length: count }, (_, at) => ({
    eventId: `${name}-${at}`,
    actor: "service:oms",
    action: "a.b",
    subjectId: `s-${at % 3}`,
    data: { at },
  }));
  await fixture.finish(Promise.all(requests.map((request) => audit.append(request))));
}

/** A log of so many entries that is signed and anchored to its end. */
async function anchoredLog(seed: number, count: number): Promise<{ fixture: AuditFixture; kept: Kept }> {
  const kept: Kept = new Map();
  const fixture = auditFixture({ seed, anchor: kept });
  const { audit } = await fixture.start();
  await fill(fixture, audit, count - 1);
  await fixture.finish(audit.stop());
  expect([...kept.values()].at(-1)?.size).toBe(count);
  return { fixture, kept };
}

/** What somebody with the whole database does: the store forgets that anything was signed. */
function forgetCheckpoints({ disk }: AuditFixture): void {
  disk.checkpoints.clear();
  disk.tiles.clear();
}

describe("anchors", () => {
  it("have every signed checkpoint soon after, and the status says what they add and what they do not", async () => {
    const kept: Kept = new Map();
    const fixture = auditFixture({ seed: 91, anchor: kept });
    const { audit } = await fixture.start();
    await fill(fixture, audit, 20);
    await fixture.finish(audit.flush());
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 10 });
    expect([...kept.values()].map(({ size }) => size)).toEqual([21]);
    expect(audit.status()).toMatchObject({
      trust: "operator-trusted, anchored in 1 place",
      anchors: [{ name: "memory", size: 21, behindMs: 0, complaint: undefined }],
    });
  });

  it.each([
    ["cut", (fixture: AuditFixture) => truncate(fixture.disk, 30), { code: "TRUNCATED", sequence: 30 }],
    ["emptied", (fixture: AuditFixture) => truncate(fixture.disk, 1), { code: "TRUNCATED", sequence: 1 }],
    [
      "rewritten and re-chained",
      (fixture: AuditFixture) => rewriteAndRechain(fixture.disk, 7, { at: 999 }),
      { code: "ROOT_MISMATCH", sequence: 40 },
    ],
  ])(
    "find a log that was %s without a checkpoint left, at the start and in verification",
    async (_how, spoil, fault) => {
      const { fixture } = await anchoredLog(92, 40);
      forgetCheckpoints(fixture);
      spoil(fixture);
      const { audit } = await fixture.start();
      const status = audit.status();
      expect(status.state).toBe("standing still");
      expect(status.complaint).toContain(`${fault.code} at ${fault.sequence}`);
      expect(status.complaint).toContain("as the anchor memory has it");
      expect(await fixture.finish(audit.verify())).toMatchObject({ fault });
      expect(await fixture.finish(audit.fsck())).toMatchObject({ fault });
      expect(fixture.disk.checkpoints.size).toBe(0);
    },
  );

  it("find what was rewritten behind tiles that still say the old thing, in verification", async () => {
    const { fixture } = await anchoredLog(93, 40);
    fixture.disk.checkpoints.clear();
    const { audit } = await fixture.start();
    rewriteAndRechain(fixture.disk, 7, { at: 999 });
    expect(await fixture.finish(audit.verify())).toMatchObject({ fault: { code: "ROOT_MISMATCH" } });
  });

  it("that somebody else filled break nothing and are complained about", async () => {
    const { fixture, kept } = await anchoredLog(94, 10);
    const [origin = ""] = [...kept.values()].map((each) => each.origin);
    const note = [...kept.values()].at(-1)?.note.replace("\n10\n", "\n5000\n") ?? "";
    kept.set(`${origin} 5000`, { origin, size: 5_000, note });
    const { audit } = await fixture.start();
    expect(audit.status()).toMatchObject({ state: "open", complaint: undefined });
    expect(audit.status().anchors[0]?.complaint).toContain("is not this log's");
    expect(await fixture.finish(audit.verify())).toMatchObject({ level: "L1" });
  });

  it("follow the log's keys", async () => {
    const { fixture } = await anchoredLog(95, 10);
    const { audit } = await fixture.start();
    await fixture.finish(audit.rotateKey("operator:duty"));
    await fill(fixture, audit, 5, "more");
    await fixture.finish(audit.stop());
    const next = await fixture.start();
    expect(next.audit.status()).toMatchObject({ state: "open", anchors: [{ size: 16, complaint: undefined }] });
    expect(await fixture.finish(next.audit.verify())).toMatchObject({ level: "L1", coveredSize: 16 });
  });
});

describe("an anchor that is away", () => {
  function keeping(keep: Anchor["keep"]) {
    const time = scheduler({ seed: 96 });
    const raised: string[] = [];
    const silence = (): void => undefined;
    const log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };
    const alarms = {
      raise: (code: string, sentence: string) => void raised.push(`${code} ${sentence}`),
      clear: (code: string) => void raised.push(`clear ${code}`),
      stop: async () => undefined,
    };
    const anchor: Anchor = { name: "a", keep, newest: async () => undefined, close: async () => undefined };
    const anchoring = startAnchoring({
      anchors: [anchor],
      origin: "log",
      known: [],
      clock: time.clock,
      timers: time.timers,
      log,
      alarms,
      onDefect: (defect) => {
        throw defect;
      },
    });
    const later = (ms: number): Promise<void> => time.run({ untilMs: time.elapsedMs() + ms });
    return { anchoring, raised, later, time };
  }

  it("is asked less and less often for the newest, raises the alarm after five minutes, and is well again afterwards", async () => {
    const asked: number[] = [];
    let isAway = true;
    const { anchoring, raised, later } = keeping(async ({ size }) => {
      asked.push(size);
      if (isAway) throw new Error("away");
    });
    anchoring.signed({ size: 1, note: "1" });
    await later(10);
    for (let size = 2; size <= 400; size += 1) anchoring.signed({ size, note: `${size}` });
    await later(200_000);
    expect(asked[0]).toBe(1);
    expect(asked.slice(1).every((size) => size === 400)).toBe(true);
    expect(asked.length).toBeLessThan(12);
    expect(raised).toEqual([]);
    await later(150_000);
    expect(raised[0]).toContain("AUDIT_ANCHOR_BEHIND The anchor a has kept nothing for 5 minutes: away");
    expect(anchoring.states()).toMatchObject([{ size: 0, behindMs: 350_010, complaint: "away" }]);
    isAway = false;
    await later(60_000);
    expect(anchoring.states()).toMatchObject([{ size: 400, behindMs: 0, complaint: undefined }]);
    expect(raised.at(-1)).toBe("clear AUDIT_ANCHOR_BEHIND");
  });

  it("that hangs is given up and asked again, and does not hold up the end", async () => {
    const { anchoring, later, time } = keeping(() => new Promise(() => undefined));
    anchoring.signed({ size: 1, note: "1" });
    await later(11_000);
    expect(anchoring.states()[0]?.complaint).toContain("did not answer within");
    const before = time.elapsedMs();
    await time.finish("stop", anchoring.stop(2_000), 100_000);
    expect(time.elapsedMs() - before).toBeLessThanOrEqual(2_000);
  });
});
