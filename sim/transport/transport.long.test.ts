// The long form: two thousand seeds. A seed that fails is named with the command that replays it.
import { expect, it } from "vitest";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";
import { replayCommand } from "./report.ts";
import { simulate } from "./simulate.ts";

it("holds every invariant over 2,000 seeds", { timeout: 1_200_000 }, async () => {
  const restore = ignoreEndedIncarnations();
  try {
    for (let seed = 1_000; seed < 3_000; seed += 1) {
      const options = { seed, steps: 400 };
      const { violation } = await simulate(options);
      expect(violation, replayCommand(options)).toBeUndefined();
    }
  } finally {
    restore();
  }
});
