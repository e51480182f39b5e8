// Whatever the platform decided through crashes, halts and losses is the same when it is decided again from its record alone, and its entry of the audit log says so.
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemSha256OfBytes } from "../adapters/system/signing.ts";
import { compileEnvelope } from "../core/envelope/envelope.ts";
import type { RecordedDecision } from "../ports/replay-queries.ts";
import type { JournalRow } from "../ports/risk-store.ts";
import { judgeDecision } from "../services/operations/replay/judge-decision.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import type { Platform } from "./platform.ts";
import { simulate } from "./simulate.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

function recorded({ audit }: Platform, row: JournalRow): RecordedDecision {
  const decisionId = row.decisionId ?? "";
  const found = audit.rows.find(({ eventId }) => eventId === decisionId);
  return {
    id: row.id,
    decisionId,
    at: row.at,
    approved: row.approved ?? false,
    code: row.code ?? "",
    orderId: row.orderId,
    payload: row.payload,
    ...(found !== undefined && { entry: { sequence: found.sequence, action: found.action, text: found.text } }),
  };
}

it("every decision of ten simulated days is the same again, or skipped for a reason that is no difference", {
  timeout: 300_000,
}, async () => {
  let [judged, same] = [0, 0];
  for (let seed = 101; seed <= 110; seed += 1) {
    let platform: Platform | undefined;
    const watch = (made: Platform): void => {
      platform = made;
    };
    const { violation } = await simulate({ seed, steps: 400, watch });
    expect(violation).toBeUndefined();
    // Where entries of the log were taken away, that is what would be told.
    if (platform === undefined || platform.damage.sinceUs !== undefined) continue;
    const { journal, envelopes } = platform.tables.risk;
    for (const row of journal.filter(({ kind }) => kind === "decision")) {
      const envelopeOf = async (version: number | undefined) => {
        const kept = envelopes.get(row.fundId)?.find((one) => one.version === version);
        return version === undefined ? undefined : kept === undefined ? "unreadable" : compileEnvelope(kept);
      };
      const verdict = await judgeDecision(recorded(platform, row), { sha256: systemSha256OfBytes, envelopeOf });
      expect(verdict.kind === "different" ? verdict.difference : undefined, `seed ${seed}`).toBeUndefined();
      judged += 1;
      if (verdict.kind === "same") same += 1;
    }
  }
  expect(judged).toBeGreaterThan(100);
  expect(same).toBeGreaterThan(judged / 2);
});
