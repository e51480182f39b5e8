// What one verification finds is everybody's business: the alarm, the status and the health, until a later whole one finds nothing.
import { describe, expect, it } from "vitest";
import type { RpcCall } from "../../../../ports/rpc.ts";
import { witnessSigner } from "../../../../testkit/audit/keys.ts";
import { type AuditFixture, auditFixture } from "../../../../testkit/audit/service-fixture.ts";
import { healthOf } from "../../operations.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { createFindings } from "./findings.ts";

const alarms = (fixture: AuditFixture): number =>
  fixture.tables.log.filter(({ subject }) => subject === "svc.v1.operations.alarm.raised").length;

async function started(seed: number) {
  const fixture = auditFixture({ seed });
  const { audit } = await fixture.start();
  const request = (n: number) => ({
    eventId: `event-${n}`,
    actor: "service:oms",
    action: "order.created",
    subjectId: "order",
    data: { n },
  });
  await fixture.finish(Promise.all(Array.from({ length: 20 }, (_, n) => audit.append(request(n)))));
  await fixture.finish(audit.flush());
  const good = fixture.disk.rows[7];
  if (good === undefined) throw new Error("no row");
  const spoil = (): void => {
    fixture.disk.rows[7] = { ...good, text: good.text.map((byte, at) => (at === 12 ? byte ^ 1 : byte)) };
  };
  const mend = (): void => {
    fixture.disk.rows[7] = good;
  };
  return { fixture, audit, good, spoil, mend };
}

function isBroken(audit: RunningAudit, code = "HASH_MISMATCH at 7"): void {
  expect(audit.status()).toMatchObject({ state: "open", complaint: expect.stringContaining(code) });
  expect(healthOf(audit)).toEqual({ status: "failing", complaint: expect.stringContaining(code) });
}

function isWhole(audit: RunningAudit): void {
  expect(audit.status()).toMatchObject({ broken: undefined, complaint: undefined });
  expect(healthOf(audit)).toEqual({ status: "ok" });
}

describe("a log that somebody's verification found broken", () => {
  it("is broken for everybody, whichever way it was asked, until a whole one is clean", async () => {
    const { fixture, audit, spoil, mend } = await started(401);
    const run = async (begin: Promise<{ readonly runId: string }>): Promise<void> => {
      const { runId } = await fixture.finish(begin);
      await fixture.finish(audit.watchRun(runId));
    };
    const verifyRpc = async (): Promise<void> => {
      const call = { signal: new AbortController().signal } as RpcCall;
      const asked = Promise.resolve(audit.rpcHandlers["VerifyAudit"]?.({ from_sequence: 0 } as never, call));
      await expect(fixture.finish(asked)).rejects.toMatchObject({ code: "CHAIN_INTEGRITY" });
    };
    const ways: readonly (() => Promise<unknown>)[] = [
      verifyRpc,
      () => fixture.finish(audit.verify(5)),
      () => fixture.finish(audit.fsck()),
      () => fixture.finish(audit.verifySelf()),
      () => run(audit.beginVerification(0)),
      () => run(audit.beginInspection(false)),
    ];
    for (const [which, way] of ways.entries()) {
      isWhole(audit);
      spoil();
      await way();
      isBroken(audit);
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 100 });
      expect(alarms(fixture)).toBe(which + 1);
      mend();
      await fixture.finish(audit.verify(5));
      isBroken(audit);
      await fixture.finish<unknown>(which % 2 === 0 ? audit.verify() : audit.fsck());
    }
    isWhole(audit);
    await fixture.finish(audit.stop());
  });

  it("stays so for a lie of the index until the index was read again", async () => {
    const { fixture, audit, good, mend } = await started(402);
    fixture.disk.rows[7] = { ...good, subjectId: "order-x" };
    await fixture.finish(audit.fsck());
    isBroken(audit, "INDEX_MISMATCH at 7");
    mend();
    await fixture.finish(audit.verify());
    isBroken(audit, "INDEX_MISMATCH at 7");
    await fixture.finish(audit.fsck());
    isWhole(audit);
    await fixture.finish(audit.stop());
  });

  it("is not taken back by a verification that began before", () => {
    const heard: string[] = [];
    const findings = createFindings({ raise: (code) => heard.push(code), clear: () => heard.push("clear") });
    const fault = { code: "HASH_MISMATCH", sequence: 1, expected: "a", actual: "b" } as const;
    const [early, late] = [findings.begin("everything"), findings.begin("entries")];
    late(fault);
    early(undefined);
    expect(findings.broken()).toEqual(fault);
    expect(heard).toEqual(["AUDIT_CHAIN_BROKEN"]);
    findings.begin("entries")(undefined);
    expect(findings.broken()).toBeUndefined();
    expect(heard).toEqual(["AUDIT_CHAIN_BROKEN", "clear"]);
  });
});

describe("trust", () => {
  it("says that witnesses vouch only when enough have cosigned", async () => {
    const { vkey } = witnessSigner("w1", 21).key;
    const fixture = auditFixture({ seed: 403 });
    const witnesses = {
      policy: `1 of ${vkey}`,
      submit: async () => ({ lines: [], complaints: [], contradictions: [] }),
    };
    const { audit } = await fixture.start({ witnesses });
    await fixture.finish(audit.flush());
    const trust = "operator-trusted: 1 of 1 witnesses needed, none has cosigned";
    expect(audit.status()).toMatchObject({ trust, witnessedSize: 0, witnessesNeeded: 1 });
    await fixture.finish(audit.stop());
  });
});
