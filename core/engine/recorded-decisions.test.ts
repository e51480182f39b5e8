// What was recorded is decided again as it was: 500 committed decisions at least, in every form that is still read. Where one differs a gate decides
// something else from the same view, and whoever replays it would call that a change of the limits.
import { describe, expect, it } from "vitest";
import { type RecordedDecision, readRecordedDecisions } from "../../testkit/risk/recorded-decisions.ts";
import { compileEnvelope } from "../envelope/envelope.ts";
import { gateRules } from "../gates/rules.ts";
import { rulesOf } from "./fast/view-bytes.ts";
import { type NotReplayed, type Replayed, replayDecision } from "./replay.ts";

const records = readRecordedDecisions();
const raise =
  "a gate decides otherwise from the same view: raise gateRules in core/gates/rules.ts, and record anew (testkit/risk/recorded-decisions.ts)";

function replay({ order, decision, inputs, envelope }: RecordedDecision): Replayed | NotReplayed {
  return replayDecision({ order, decision: decision as never, inputs }, compileEnvelope(envelope));
}

/** Of two looks the second. */
const formOf = ({ inputs }: RecordedDecision): number => (inputs[0] === 0 ? (inputs[10] ?? 0) : (inputs[0] ?? 0));

describe("recorded decisions", () => {
  it("500 by today's rules come out as they were recorded", () => {
    const current = records.filter(({ inputs }) => rulesOf(inputs) === gateRules);
    expect(current.length, `record anew: ${raise}`).toBeGreaterThanOrEqual(500);
    for (const record of current) {
      const { approved, rejecting_gate: gate, code } = record.decision;
      const isUnjudged = gate === "idempotency" || gate === "schema";
      const again = replay(record);
      const found =
        typeof again === "string" ? again : { approved: again.approved, gate: again.gate, code: again.code };
      expect(found, `${record.order.order_id}: ${raise}`).toEqual(
        isUnjudged ? "NO_LIMIT_DECIDES" : { approved, gate, code },
      );
    }
  });

  it("by other rules are not decided again", () => {
    for (const record of records) {
      const other = new Uint8Array(record.inputs);
      if (formOf(record) !== 13 || other[0] === 0) continue;
      other[1] = gateRules + 1;
      const gate = record.decision.rejecting_gate;
      const expected = gate === "idempotency" || gate === "schema" ? "NO_LIMIT_DECIDES" : "EARLIER_RULES";
      expect(replay({ ...record, inputs: other })).toBe(expected);
    }
    const [old] = records.filter((record) => formOf(record) === 9 && record.inputs[0] === 9);
    if (old === undefined) throw new Error("no record of form 9");
    const eighth = { ...old, decision: { ...old.decision, rejecting_gate: "static" } };
    for (const form of [1, 8]) {
      expect(replay({ ...eighth, inputs: Uint8Array.of(form, ...old.inputs.subarray(1)) })).toBe("EARLIER_RULES");
    }
  });

  it("are there in every form that is read, and of every condition", () => {
    expect([...new Set(records.map(formOf))].sort((one, other) => one - other)).toEqual([9, 10, 11, 12, 13]);
    const seen = new Set(records.map(({ decision }) => decision.code));
    for (const code of ["DISK_LOW", "UNAUDITED_CHANGE", "AUDIT_UNAVAILABLE", "LOSS_NOT_JUDGED", "FILL_NOT_ACCEPTED"]) {
      expect(seen, code).toContain(code);
    }
    for (const code of ["SYMBOL_BLOCKED", "THROTTLE_TRIPPED", "NEWS_COOLDOWN", "RESTRICTIONS_UNKNOWN"]) {
      expect(seen, code).toContain(code);
    }
  });
});
