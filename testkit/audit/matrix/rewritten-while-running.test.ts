// The stored table is rewritten by the database's owner while the log runs, far from its end: the server's own counts of changed rows give it away within
// seconds, and where those were switched off, the next whole verification.
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openClient } from "../../../adapters/postgres/connection.ts";
import { systemCipher } from "../../../adapters/system/cipher.ts";
import { systemClock } from "../../../adapters/system/clock.ts";
import { systemRandom } from "../../../adapters/system/random.ts";
import { systemSha256OfBytes, systemSigning } from "../../../adapters/system/signing.ts";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { startAudit } from "../../../services/operations/audit/audit.ts";
import type { RunningAudit } from "../../../services/operations/audit/audit-ports.ts";
import { auditFixture, type PostgresAuditFixture } from "../../audit-fixtures.ts";
import { memorySubjectKeys } from "../../memory/subject-keys.ts";
import { noMetrics } from "../../no-telemetry.ts";
import { plainSecrets } from "../../plain-secrets.ts";
import { quietLog } from "../../quiet-log.ts";

const database = auditFixture();
const entries = 60;
/** Before those that are read every second. */
const middle = 20;
let fixture: PostgresAuditFixture;
let audit: RunningAudit;

beforeEach(async () => {
  fixture = await database.open();
  audit = await startAudit({
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
    store: fixture.peer.store,
    bus: fixture.peer.bus,
    auditLog: fixture.audit,
    secrets: plainSecrets(),
    signing: systemSigning(),
    sha256OfBytes: systemSha256OfBytes,
    cipher: systemCipher,
    witnesses: undefined,
    anchors: [],
    subjectKeys: memorySubjectKeys(),
    crash: {
      die(defect) {
        throw defect;
      },
    },
    // Reports, and verifications of a broken log, come several times a second.
    auditSettings: { signingKeyPath: "secret/x/audit/signing-key", verifyFirstAfterMs: 86_400_000, behindMaxMs: 500 },
  });
  const requests = Array.from({ length: entries }, (_, n) => ({
    eventId: `event-${n}`,
    actor: "service:oms",
    action: "order.noted",
    subjectId: `order-${n}`,
    data: { n },
  }));
  await Promise.all(requests.map((request) => audit.append(request)));
  // The server tells what it has counted a moment later; the log has seen it when two looks agree.
  let before = "";
  await vi.waitFor(
    async () => {
      const now = await fixture.audit.rewrites();
      const isSame = now === before;
      before = now;
      expect(isSame).toBe(true);
    },
    { timeout: 5_000, interval: 250 },
  );
});
afterEach(async () => {
  await audit.stop();
  await fixture.close();
});
afterAll(() => database.close());

/** As the owner, with the trigger out of the way while it lasts. */
async function attack(statements: string): Promise<void> {
  const owner = await openClient(fixture.database.address.owner, { log: quietLog, applicationName: "owner" });
  const [off, on] = ["disable", "enable always"].map((word) => `alter table audit_entry ${word} trigger append_only;`);
  await owner.query(`begin; ${off} ${statements}; ${on} commit`).finally(() => owner.end());
}

const altered = (from: string, to: string): string =>
  `update audit_entry set text = convert_to(replace(convert_from(text, 'UTF8'), '${from}', '${to}'), 'UTF8') where sequence = ${middle}`;
const lie = altered("service:oms", "service:ops");
const isBroken = (word: RegExp) =>
  vi.waitFor(() => expect(audit.status().broken).toMatch(word), { timeout: 5_000, interval: 50 });
const isWhole = () => vi.waitFor(() => expect(audit.status().broken).toBeUndefined(), { timeout: 5_000, interval: 50 });

describe("22.3: entries far from the end", () => {
  test("an altered one is found within five seconds, and taken back when it is as it was", async () => {
    await attack(lie);
    await isBroken(/^HASH_MISMATCH at 20/);
    await attack(altered("service:ops", "service:oms"));
    await isWhole();
  });

  test("a deleted one is found within five seconds", async () => {
    const counted = await fixture.audit.rewrites();
    await attack(`delete from audit_entry where sequence = ${middle}`);
    await isBroken(/^SEQUENCE_MISMATCH at 20/);
    expect(await fixture.audit.rewrites()).not.toBe(counted);
  });

  test("one that was altered before the counts were set back is found all the same", async () => {
    const setBack = "select pg_stat_reset_single_table_counters('audit_entry'::regclass)";
    await attack(setBack);
    const counted = await fixture.audit.rewrites();
    await attack(lie);
    await attack(setBack);
    expect(await fixture.audit.rewrites()).not.toBe(counted);
    await isBroken(/^HASH_MISMATCH at 20/);
  });

  test("one that was altered while nothing was counted is found by the next whole verification", async () => {
    await attack(`set local track_counts = off; ${lie}`);
    const { fault } = await audit.verifySelf();
    expect(fault).toMatchObject({ code: "HASH_MISMATCH", sequence: middle });
    await isBroken(/^HASH_MISMATCH at 20/);
  });
});
