// Whose event it is, asked of payloads that may be anything.
import { expect, it } from "vitest";
import { fundLane } from "./fund-lane.ts";

it("23.5: names the fund of whatever says one, and of nothing else", () => {
  expect(fundLane({ fund_id: "alpha", quantity: "a lot" })).toBe("fund alpha");
  const nobodys = [undefined, null, "alpha", 7, [], ["alpha"], {}, { fund_id: 7 }, { fund_id: "" }, { fund_id: null }];
  expect([...nobodys, { fund_id: "a".repeat(201) }].map(fundLane).filter((lane) => lane !== undefined)).toEqual([]);
});
