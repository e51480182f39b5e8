// The bench in small: it must keep running and keep its keys; its figures mean nothing at this size and are not judged here.
import { expect, test } from "vitest";
import { runCtlStart } from "./ctl-start.ts";

test("the start bench measures both and says what was promised", { timeout: 60_000 }, () => {
  const { figures, table } = runCtlStart({ rounds: 1 }, () => undefined);
  const figure = expect.any(Number);
  expect(figures).toMatchObject({ node_ms: figure, ctl_help_ms: figure, ratio: figure, limit_ms: figure, rounds: 1 });
  expect(table).toContain("ctl --help");
});
