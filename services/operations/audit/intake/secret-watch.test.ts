// Every version of a secret becomes an entry: reported by its writer, or noticed later when it was not reported. Never its value.
import { describe, expect, it } from "vitest";
import { auditedSecrets } from "../../../../adapters/secrets/audited-secrets.ts";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { auditFixture, recordsOf } from "../../../../testkit/audit/service-fixture.ts";
import { memoryAuditLog } from "../../../../testkit/memory/audit-log.ts";
import { memoryStore } from "../../../../testkit/memory/store.ts";
import { quietLog } from "../../../../testkit/quiet-log.ts";
import { startSecretWatch } from "./secret-watch.ts";

const path = "secret/portcullis/tradingview/alpha";
const value = "hunter2-hunter2";

async function openFixture(seed: number) {
  const fixture = auditFixture({ seed });
  const life = await fixture.start();
  const process = fixture.tables.process("operations");
  const { clock, timers, prng } = fixture.time;
  const store = memoryStore({ process, clock, timers, random: prng.fork("watch") });
  const auditLog = memoryAuditLog({ process, timers, audit: fixture.disk });
  const { secrets } = fixture;
  const base = { clock, timers, log: quietLog, store };
  const watch = startSecretWatch({
    ...base,
    secrets,
    auditLog,
    sha256OfBytes: systemSha256OfBytes,
    folder: "secret/portcullis",
    crash: {
      die: (defect) => {
        throw defect;
      },
    },
  });
  const entries = () =>
    recordsOf(fixture.disk)
      .filter(({ action, subject_id: id }) => action === "secret.changed" && id === path)
      .map(({ actor, data }) => {
        const { version, noticed } = data["payload"] as { version: number; noticed?: true };
        return { actor, version, ...(noticed === undefined ? {} : { noticed }) };
      });
  const wait = (ms: number) => fixture.time.run({ untilMs: fixture.time.elapsedMs() + ms });
  const close = async () => {
    await fixture.finish(watch.stop());
    await fixture.finish(life.audit.stop());
  };
  return { fixture, base, secrets, entries, wait, close, all: () => JSON.stringify(recordsOf(fixture.disk)) };
}

// Half an hour of virtual time is seconds of computing, and more on a machine with much to do.
describe("secrets", { timeout: 120_000 }, () => {
  it("are reported by whoever writes them, with path and version and without the value", async () => {
    const { fixture, base, secrets, entries, wait, close, all } = await openFixture(61);
    const reported = auditedSecrets(secrets, { ...base, source: "gateway" });
    expect(await fixture.finish(reported.put(path, value))).toMatchObject({ version: 1, value });
    expect(await fixture.finish(reported.rotate(path, () => `${value}-2`))).toMatchObject({ version: 2 });
    await wait(2_000_000);
    expect(entries()).toEqual([
      { actor: "service:gateway", version: 1 },
      { actor: "service:gateway", version: 2 },
    ]);
    expect(all()).not.toContain("hunter2");
    await close();
  });

  it("that changed without a report are noticed, once, and again when they change again", async () => {
    const { secrets, entries, wait, close, all } = await openFixture(62);
    await secrets.put(path, value);
    await wait(15_000);
    expect(entries()).toEqual([]);
    await wait(2_000_000);
    expect(entries()).toEqual([{ actor: "service:operations", version: 1, noticed: true }]);
    await secrets.put(path, value);
    await secrets.put(path, value);
    await wait(2_000_000);
    expect(entries().slice(1)).toEqual([{ actor: "service:operations", version: 3, noticed: true }]);
    expect(all()).not.toContain("hunter2");
    await close();
  });

  it("that were written when the store did not answer are written all the same, and noticed", async () => {
    const { fixture, base, secrets, entries, wait, close } = await openFixture(63);
    const store = {
      transact: () => Promise.reject(new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" })),
    };
    const reported = auditedSecrets(secrets, { ...base, store, source: "gateway" });
    expect(await fixture.finish(reported.put(path, value))).toMatchObject({ version: 1 });
    await wait(60_000);
    expect(entries()).toEqual([{ actor: "service:operations", version: 1, noticed: true }]);
    await close();
  });

  it("are noticed although a stranger claims to have reported", async () => {
    const { fixture, secrets, entries, wait, close } = await openFixture(64);
    await secrets.put(path, value);
    const claim = { path, version: 9, actor: "service:gateway", at: "2026-11-15T09:30:00.000000Z" };
    await fixture.publish("foreign", subjects.secretChanged, claim);
    await wait(60_000);
    expect(entries()).toEqual([
      { actor: "foreign", version: 9 },
      { actor: "service:operations", version: 1, noticed: true },
    ]);
    await close();
  });
});
