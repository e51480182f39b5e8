// What strangers read of a halt: never its evidence or the typed word, and no sentence that names what a fund is worth where the fund hides that.
import { describe, expect, it } from "vitest";
import type { HaltRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { publicHalt, reasonKept, withChanges } from "./public-halts.ts";

const loss = "The loss of the day is 231032.05 USD, 2.3103 % of 10000000 USD; the limit is 2 %.";
const halt = {
  severity: "FUND_HALT",
  fund_id: "omega",
  reason: loss,
  requested_by: "riskengine",
  evidence: { nav: "9768967.95" },
  confirmation: "HALT",
  halt_id: "h-1",
  epoch: 1,
} as unknown as HaltRequest;

describe("a halt in public", () => {
  it("has neither evidence nor the typed word", () => {
    const shown = publicHalt(halt, () => false);
    expect(shown).toMatchObject({ fund_id: "omega", reason: loss, requested_by: "riskengine" });
    expect(Object.keys(shown)).not.toContain("evidence");
    expect(Object.keys(shown)).not.toContain("confirmation");
  });

  it("keeps a machine's sentence back where the fund hides what it is worth, and a person's never", () => {
    const hides = (fundId: string) => fundId === "omega";
    expect(publicHalt(halt, hides).reason).toBe(reasonKept);
    expect(publicHalt({ ...halt, fund_id: "alpha" }, hides).reason).toBe(loss);
    expect(publicHalt({ ...halt, requested_by: "operator:duty", reason: "a drill" }, hides).reason).toBe("a drill");
  });

  it("of the firm asks for all funds, whatever fund tripped it", () => {
    const asked: string[] = [];
    const hides = (fundId: string) => asked.push(fundId) > 0;
    expect(publicHalt({ ...halt, severity: "FIRM_HALT" }, hides).reason).toBe(reasonKept);
    expect(asked).toEqual([""]);
  });

  it("is kept back in what is replayed as well", () => {
    const changes = [{ epoch: 1, lifted: false, halts: [halt], at: "2026-11-15T13:30:00.000000Z" }];
    const shown = { policies: new Map(), hidesValue: () => true };
    const followed = withChanges(undefined, { epoch: 1, halts: [halt], changes }, shown);
    expect(JSON.stringify(followed)).not.toContain("231032");
    expect(followed.changes[0]?.halts[0]?.reason).toBe(reasonKept);
  });
});
