// Several workers that need the same thing of a run at once: one makes it, all have it, and all hear why it could not be made.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { onceInRun } from "./once-in-run.ts";

const folder = mkdtempSync(join(tmpdir(), "portcullis-once-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what is made once in a run", () => {
  it("is made by one of those who ask at once, and all get it", async () => {
    let made = 0;
    const make = async () => {
      made += 1;
      return { number: made };
    };
    const all = await Promise.all([1, 2, 3].map(() => onceInRun("one", make, folder)));
    expect(all).toEqual([{ number: 1 }, { number: 1 }, { number: 1 }]);
    expect(made).toBe(1);
  });

  it("fails for all of them when it could not be made, with the reason", async () => {
    const make = () => Promise.reject(new Error("no room"));
    const all = await Promise.allSettled([1, 2].map(() => onceInRun("two", make, folder)));
    expect(all.map((one) => one.status === "rejected" && String(one.reason))).toEqual([
      expect.stringContaining("two could not be made for this run: Error: no room"),
      expect.stringContaining("two could not be made for this run: Error: no room"),
    ]);
  });

  it("is not waited for when the process that made it has ended", async () => {
    // No process has such a number: Linux ends at 4,194,304.
    writeFileSync(join(folder, "three.lock"), "4194999");
    await expect(onceInRun("three", async () => 3, folder)).rejects.toThrow("process 4194999");
  });
});
