// Halts at random moments, in small: every stored decision is held against every stored halt. random-halts.long.test.ts has a thousand of them.
import { test } from "vitest";
import { holdDecisionsAgainstHalts } from "./hold-decisions.ts";

test("no approval of new risk breaks one of thirty halts", { timeout: 60_000 }, () =>
  holdDecisionsAgainstHalts({ halts: 30, halters: 3, traders: 4 }),
);
