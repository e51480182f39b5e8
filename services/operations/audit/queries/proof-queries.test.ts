// The proof that the log only grew: it verifies between any two sizes, ends in a signed checkpoint, and is not handed out when the tiles lie.
import { describe, expect, it } from "vitest";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import type { AuditConsistency } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { hashOfBase64 } from "../../../../core/audit/base64.ts";
import { asHash, type Hash } from "../../../../core/audit/hash.ts";
import { createTreeHash } from "../../../../core/audit/merkle.ts";
import { verifyConsistency } from "../../../../core/audit/proof.ts";
import { auditFixture } from "../../../../testkit/audit/service-fixture.ts";
import { memoryAuditLog } from "../../../../testkit/memory/audit-log.ts";
import { consistencyOf } from "./proof-queries.ts";

const tree = createTreeHash(systemSha256OfBytes);
const noHash = asHash("\u0000".repeat(32));
const read = (text: string): Hash => hashOfBase64(text) ?? noHash;

async function logOf(seed: number, entries: number) {
  const fixture = auditFixture({ seed });
  const { audit, process } = await fixture.start();
  const auditLog = memoryAuditLog({ process, timers: fixture.time.timers, audit: fixture.disk });
  let made = 0;
  const append = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      made += 1;
      const request = { eventId: `e-${made}`, actor: "service:oms", action: "note.made", subjectId: "o-1", data: {} };
      await fixture.finish(audit.append(request));
    }
  };
  // The log began with an entry of its own.
  await append(entries - 1);
  const ask = (first_size: number, second_size = 0): Promise<AuditConsistency> =>
    fixture.finish(consistencyOf({ auditLog, flush: audit.flush }, tree, { first_size, second_size }));
  return { fixture, audit, append, ask };
}

const verifies = (reported: AuditConsistency, firstRoot = reported.first_root): boolean =>
  verifyConsistency(tree, {
    first: reported.first_size,
    firstRoot: read(firstRoot),
    second: reported.second_size,
    secondRoot: read(reported.second_root),
    proof: reported.proof.map(read),
  });

describe("GetAuditConsistency", () => {
  it("proves every earlier size against the newest checkpoint, and two sizes against each other", async () => {
    const { append, ask } = await logOf(71, 6);
    const kept = await ask(6);
    expect(kept).toMatchObject({ first_size: 6, second_size: 6, proof: [], second_root: kept.first_root });
    await append(7);
    for (let first = 0; first <= 13; first += 1) {
      const reported = await ask(first, first < 13 ? 0 : 13);
      const signedRoot = reported.checkpoint.split("\n")[2];
      expect([reported.first_size, reported.second_size >= first, signedRoot]).toEqual([
        first,
        true,
        reported.second_root,
      ]);
      expect(verifies(reported), `${first}`).toBe(true);
    }
    const later = await ask(6, 13);
    expect(later.first_root).toBe(kept.second_root);
    expect(verifies(later, kept.second_root)).toBe(true);
    expect(verifies(later, later.second_root)).toBe(false);
    const unsigned = await ask(2, 9);
    expect([unsigned.checkpoint, verifies(unsigned)]).toEqual(["", true]);
  });

  it("refuses sizes that there are not", async () => {
    const { ask } = await logOf(72, 4);
    await expect(ask(5)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("has 4") });
    await expect(ask(1, 5)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask(3, 2)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("hands out nothing when the tiles are not what was signed", async () => {
    const { fixture, audit, ask } = await logOf(73, 5);
    await fixture.finish(audit.flush());
    for (const { hashes } of fixture.disk.tiles.values()) hashes[0] = (hashes[0] ?? 0) ^ 1;
    await expect(ask(2)).rejects.toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining("fsck --rebuild"),
    });
    fixture.disk.tiles.clear();
    await expect(ask(2)).rejects.toMatchObject({ code: "INTERNAL", message: expect.stringContaining("missing") });
  });
});
