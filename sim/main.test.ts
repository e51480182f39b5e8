// The command line of the simulator: what it understands, what it refuses, and its exit codes.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { main } from "./main.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

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
    expect(await main(["--seed", "1", "--steps", "3000", "--canary"])).toBe(1);
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
