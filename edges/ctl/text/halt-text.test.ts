// How far what follows a halt has come, in one line for people: how many orders were cancelled, and that a log wakes nobody.
import { expect, it } from "vitest";
import { haltRows } from "./halt-text.ts";

const halt = { halt_id: "h-1", severity: "FIRM_HALT", fund_id: "", reason: "r", requested_by: "operator:duty" };
const stepsOf = (...steps: readonly (readonly [string, boolean, string])[]) => {
  const progress = [{ halt_id: "h-1", steps: steps.map(([step, proven, detail]) => ({ step, proven, detail })) }];
  return haltRows({ halts: [halt], progress } as unknown as Parameters<typeof haltRows>[0])[0]?.steps;
};

it("says how many orders were cancelled", () => {
  const detail = (gone: string) => `No order that it covers is with a broker; ${gone}. 2 proven exits stay.`;
  expect(stepsOf(["CANCELLED", true, detail("3 orders were cancelled")])).toBe("CANCELLED yes (3 orders)");
  expect(stepsOf(["CANCELLED", true, detail("1 order was cancelled")])).toBe("CANCELLED yes (1 order)");
  expect(stepsOf(["CANCELLED", true, "No order that it covers is with a broker."])).toBe("CANCELLED yes");
});

it("says that a message stands in the log alone, and what is not proven", () => {
  expect(stepsOf(["BLOCKED", true, ""], ["NOTIFIED", true, "log only: no chat is set up."])).toBe(
    "BLOCKED yes, NOTIFIED log only",
  );
  expect(stepsOf(["NOTIFIED", true, "discord took the message."])).toBe("NOTIFIED yes");
  expect(stepsOf(["NOTIFIED", false, "no token"])).toBe("NOTIFIED NOT YET (no token)");
});
