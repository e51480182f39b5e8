// Every command that a page shows or copies, with hostile values wherever an address or a row can put one: a shell reads it as one command, and each value
// as one of its words.

import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import {
  acceptBlockAsk,
  cancelAllAsk,
  cosignAsk,
  endStopAsk,
  haltAsk,
  reconcileAsk,
  releaseThrottleAsk,
  resumeScopeAsk,
} from "../danger/asks.ts";
import { type ListName, lists } from "./lists.ts";

const hostile = "x; touch /tmp/owned #\n`id` $(id) 'q' \u202e";

function wordsOf(command: string): readonly string[] {
  execFileSync("sh", ["-n", "-c", command]);
  const printed = execFileSync(
    "sh",
    ["-c", `words() { printf '%s\\0' "$@"; }; ${command.replace(/^(ctl|curl) /, "words ")}`],
    { encoding: "utf8" },
  );
  return printed.split("\0").slice(0, -1);
}

describe("commands of pages", () => {
  it.each(Object.keys(lists) as ListName[])("of the list %s", (name) => {
    const asked = { fund: hostile, symbol: hostile, of: hostile, from: hostile, to: hostile };
    const words = wordsOf(lists[name].command(asked));
    expect(words.length).toBeGreaterThan(0);
    for (const word of words) expect(word === hostile || /^[a-z0-9/-]+$/.test(word), word).toBe(true);
  });

  const halt = { severity: "FUND_HALT", fund_id: hostile, halt_id: hostile, reason: hostile };
  const status = { halts: [halt], restarts: [], request_id: hostile };
  it.each([
    ["halt", haltAsk(hostile)],
    ["resume", resumeScopeAsk(halt as never, status as never, fromUnixMs(0))],
    ["cosign", cosignAsk(status as never, fromUnixMs(0))],
    ["cancel", cancelAllAsk(hostile)],
    ["reconcile", reconcileAsk(hostile)],
    ["end a stop", endStopAsk({ stop_id: hostile, fund_id: "alpha", symbol: "AAPL", quantity: "1" } as never)],
    ["release a throttle", releaseThrottleAsk(hostile)],
    ["accept a block", acceptBlockAsk(hostile, "alpha", [])],
  ])("of the question %s", (_name, ask) => {
    expect(wordsOf(ask.command)).toContain(hostile);
  });
});
