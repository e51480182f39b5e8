// The simulator of the whole platform: many short runs hold every invariant, one seed is one run, and planted bugs are caught.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { main } from "./main.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { describeReport, replayCommand } from "./report.ts";
import { shortRuns } from "./short-runs.ts";
import { type SimOptions, simulate } from "./simulate.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function reportFor(options: SimOptions): Promise<string> {
  return describeReport(options, await simulate(options));
}

describe("the whole platform, simulated", () => {
  it("holds every invariant over 40 seeds, and they do meet crashes, halts, losses, lifts, trades and stops", {
    timeout: 480_000,
  }, async () => {
    const { totals, unasked, broken } = await shortRuns(40);
    expect(broken).toBeUndefined();
    expect(unasked, "operations that nobody asked").toEqual([]);
    const least = {
      crashes: 12,
      orders: 80,
      approvals: 40,
      fills: 4,
      halts: 20,
      limits: 120,
      stops: 4,
      differences: 4,
      alerts: 12,
      "orders of alerts": 4,
      "losses that halted": 4,
      lifts: 4,
      "requests to lift all": 1,
      "exits in a halt": 4,
    };
    for (const [what, count] of Object.entries(least)) expect(totals[what], what).toBeGreaterThan(count);
  });

  it("gives the same report for the same seed, byte for byte, and another for another seed", async () => {
    const first = await reportFor({ seed: 42, steps: 300 });
    expect(await reportFor({ seed: 42, steps: 300 })).toBe(first);
    expect(await reportFor({ seed: 43, steps: 300, rests: false })).not.toBe(first);
  });

  it("fails with the canary and says how to replay it", async () => {
    const options = { seed: 2, steps: 3_000, canary: true };
    const report = await simulate(options);
    expect(report.violation?.invariant.name).toBe("canary");
    expect(describeReport(options, report)).toContain("npm run sim -- --seed 2 --steps 3000 --canary");
  });
});

/** The first seed that finds each of them, and by which invariants it may be found. Other services make other runs, so later seeds count as well. */
const found: Readonly<Record<string, readonly [seed: number, ...invariants: string[]]>> = {
  "skip-epoch-check": [18, "routed_with_approval"],
  "free-on-timeout": [7, "reserved_while_alive", "worst_case_within_envelope"],
  "net-pending": [14, "worst_case_within_envelope"],
  "drop-outbox-row": [1, "changes_are_audited", "one_life", "position_is_sum_of_fills"],
  "lose-one-booking": [1, "fills_reach_every_book"],
  "fire-stop-twice": [1, "stops_exit_once"],
  "lift-frees-higher": [13, "lift_leaves_higher"],
  "forget-latch": [93, "halts_are_sticky", "lift_leaves_higher"],
  "dates-by-utc": [1, "limits_are_judged"],
  "keep-unsent": [3, "unsent_approvals_expire"],
  "trust-the-log": [1, "no_audit_no_new_risk"],
  "prove-by-fund-only": [72, "exits_are_proven"],
  "blind-to-delta": [41, "options_count_their_underlying"],
  "keeps-old-prices": [15, "actions_keep_worth"],
  "drops-an-instrument": [3, "holdings_can_be_left"],
  "owed-to-others": [44, "comes_to_rest", "stops_exit_once"],
  "withdraw-anything": [31, "withdrawals_keep_limits"],
  "hears-no-loss": [3, "breaches_are_acted_on", "losses_halt"],
  "spend-twice": [2, "market_within_approved"],
  "nothing-stands": [19, "standing_keeps_reference"],
  "takes-key-late": [5, "alerts_trade_once"],
  // Seed 5 finds it too, by an alert that waits for ever, which takes longer.
  "loses-its-place": [37, "alerts_in_order", "comes_to_rest"],
};
const seedsMax = 100;

describe("mistakes that were built in", () => {
  it.each(plantedBugs.map((plantedBug) => [plantedBug.name, plantedBug] as const))(
    "finds %s",
    { timeout: 120_000 },
    async (name, plantedBug) => {
      const [first = 0, ...invariants] = found[name] ?? [];
      for (let seed = first; seed < first + seedsMax; seed += 1) {
        const options = { seed, steps: 900, plantedBug };
        const { violation } = await simulate(options);
        if (violation === undefined) continue;
        expect(invariants, replayCommand(options)).toContain(violation.invariant.name);
        expect(replayCommand(options)).toBe(`npm run sim -- --seed ${seed} --steps 900 --plant ${name}`);
        return;
      }
      expect.unreachable(`no seed from ${first} on finds ${name}`);
    },
  );
});

describe("the command line", () => {
  it("refuses what it does not understand with the usage and exit code 2", async () => {
    const wrong = [["--seed", "x"], ["--seed", "-1"], ["--steps", "0"], ["--speed", "1"], ["1"], ["--plant", "a-tree"]];
    for (const argv of wrong) expect(await main(argv), argv.join(" ")).toBe(2);
  });

  it("shows the usage when asked, and refuses a negative seed in one sentence", async () => {
    const written = { stdout: "", stderr: "" };
    const spies = (["stdout", "stderr"] as const).map((name) =>
      vi.spyOn(process[name], "write").mockImplementation((text) => {
        written[name] += String(text);
        return true;
      }),
    );
    try {
      expect(await main(["--help"])).toBe(0);
      expect(await main(["--seed", "-1"])).toBe(2);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(written.stdout).toMatch(/^usage: npm run sim -- --seed N/);
    const lines = written.stderr.trimEnd().split("\n");
    expect(lines[0]).toBe(`--seed takes a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, not "-1"`);
    expect(lines).toHaveLength(2);
  });

  it("exits 0 for a run that holds and 1 for one that does not, of the platform and of the transport alone", async () => {
    expect(await main(["--seed", "3", "--steps", "60"])).toBe(0);
    expect(await main(["--seed", "2", "--steps", "3000", "--canary"])).toBe(1);
    expect(await main(["--transport", "--seed", "3", "--steps", "200"])).toBe(0);
    expect(await main(["--transport", "--seed", "3", "--steps", "3000", "--canary"])).toBe(1);
  });

  it("runs the watchdogs alone, with what is planted in them", async () => {
    expect(await main(["--watchdogs", "--seed", "3"])).toBe(0);
    expect(await main(["--watchdogs", "--plant", "factor-again"])).toBe(1);
    expect(await main(["--watchdogs", "--plant", "lose-episode"])).toBe(1);
    for (const wrong of ["--transport", "--canary"]) expect(await main(["--watchdogs", wrong]), wrong).toBe(2);
    expect(await main(["--watchdogs", "--plant", "fire-stop-twice"])).toBe(2);
  });

  it("plants the bug that is named, and names those that there are", async () => {
    expect(await main(["--seed", "1", "--steps", "900", "--plant", "fire-stop-twice"])).toBe(1);
    const spy = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await main(["--plant", "a-tree"])).toBe(2);
    const [refused] = spy.mock.calls.map(([text]) => String(text));
    spy.mockRestore();
    expect(refused).toMatch(/^--plant takes one of .*fire-stop-twice.*, not "a-tree"$/m);
  });
});
