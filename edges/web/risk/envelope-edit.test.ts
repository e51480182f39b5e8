// What is typed into the editor of limits: the exact number, or a sentence that names the field.
import { expect, it } from "vitest";
import { envelopeFields } from "../../words/envelope-fields.ts";
import type { Envelope } from "../../words/envelope-proposal.ts";
import { complaintOf, typedShare } from "../model/typed-refusal.ts";
import { proposalOf } from "./envelope-edit.ts";

const current = {
  fund_id: "alpha",
  version: 3,
  max_notional: 250_000,
  max_position_pct: 0.07,
  sector_limits_pct: { technology: 0.4, energy: 0.2 },
  allowed_brokers: ["paper"],
  updated_by: "operator:duty",
} as unknown as Envelope;

const proposed = (typed: Readonly<Record<string, string>>) => proposalOf(envelopeFields, typed, current);

it("proposes the next version with what was touched, and nothing that the engine writes", () => {
  const next = proposed({ max_notional: "240000", sector_limits_pct: "technology=0.3", max_position_pct: "0.07" });
  expect(next).toEqual({
    version: 4,
    max_notional: 240_000,
    max_position_pct: 0.07,
    sector_limits_pct: { technology: 0.3 },
    allowed_brokers: ["paper"],
  });
});

it("refuses what is no number by the field's own name, without a word of flags", () => {
  expect(() => proposed({ max_notional: "a lot" })).toThrow(
    'max_notional is an amount such as 250000, digits and a point only; "a lot" is not.',
  );
  expect(() => proposed({ max_position_pct: "7 %" })).toThrow(
    "max_position_pct is a fraction, not a percentage: 7 % is 0.07.",
  );
  expect(() => proposed({ max_position_pct: "0.07" })).toThrow("Nothing is changed yet");
  expect(() => proposed({ max_notional: "" })).toThrow("max_notional cannot be taken away");
});

it("complains of an allocation before anything is sent", () => {
  expect(complaintOf("Allocation", " 0.09 ", typedShare)).toBeUndefined();
  expect(complaintOf("Allocation", "10", typedShare)).toBe(
    'Allocation is a fraction from 0 to 1, where 0.1 is 10 %; "10" is not.',
  );
  expect(complaintOf("Allocation", "-0.1", typedShare)).toContain("from 0 to 1");
  expect(complaintOf("Allocation", "nine", typedShare)).toBe(
    'Allocation is a fraction such as 0.07, which is 7 %; "nine" is not.',
  );
});
