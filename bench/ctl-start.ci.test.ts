// The bench in small: it must keep running and keep its keys; its figures mean nothing at this size and are not judged here.
import { expect, test } from "vitest";
import { runCtlStart } from "./ctl-start.ts";

test("the start bench measures all of them and says what was promised", { timeout: 120_000 }, async () => {
  const { figures, table } = await runCtlStart({ rounds: 1, screens: 1 }, () => undefined);
  const figure = expect.any(Number);
  expect(figures).toMatchObject({ node_ms: figure, ctl_help_ms: figure, ratio: figure, limit_ms: figure, rounds: 1 });
  expect(figures).toMatchObject({ ctl_halts_list_ms: figure, tui_first_screen_ms: figure });
  expect(table).toContain("ctl --help");
  expect(table).toContain("first full screen");
});
