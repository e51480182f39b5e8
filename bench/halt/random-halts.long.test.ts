// A thousand halts of every level at random moments, through both services, with orders flowing all the time.
import { expect, test } from "vitest";
import { compareRandomHalts, holdDecisionsAgainstHalts } from "./hold-decisions.ts";

test("no approval of new risk breaks one of a thousand halts", { timeout: 1_500_000 }, () =>
  holdDecisionsAgainstHalts({ halts: 1_000, halters: 3, traders: 8 }),
);

// The moment of an acknowledgement is not stored, so it is the traders who see this one.
test("an engine that is said to block before it does is found", { timeout: 300_000 }, async () => {
  const planted = { halts: 60, halters: 1, traders: 8, planted: "confirmed unasked" } as const;
  expect((await compareRandomHalts(planted)).approvedAfterwards).toBeGreaterThan(0);
});
