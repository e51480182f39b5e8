// 22.11: malformed and oversized requests are counted per caller, and no crowd of callers makes the metrics grow without bound.
import { describe, expect, it } from "vitest";
import type { Labels } from "../../ports/metrics.ts";
import { badRequests } from "./bad-requests.ts";

function counting() {
  const added: Labels[] = [];
  const instrument = { add: (_count: number, labels?: Labels) => void added.push(labels ?? {}) };
  const unused = (): never => {
    throw new Error("not asked for");
  };
  const bad = badRequests({ counter: () => instrument, gauge: unused, histogram: unused }, "http");
  return { bad, added };
}

describe("22.11: bad requests", () => {
  it("are counted under who was proved, and as nobody's where nothing was", () => {
    const { bad, added } = counting();
    bad.count("malformed", "operator:duty");
    bad.count("oversized", undefined);
    expect(added).toEqual([
      { face: "http", caller: "operator:duty", kind: "malformed" },
      { face: "http", caller: "nobody", kind: "oversized" },
    ]);
  });

  it("keep at most a hundred callers apart, whoever comes, and those for good", () => {
    const { bad, added } = counting();
    for (let n = 0; n < 1_000; n += 1) bad.count("malformed", `operator:${n}${"x".repeat(n)}`);
    bad.count("malformed", "operator:0");
    const callers = new Set(added.map(({ caller }) => caller));
    expect(callers.size).toBe(101);
    expect(callers).toContain("other");
    expect(added.at(-1)).toMatchObject({ caller: "operator:0" });
    expect(Math.max(...[...callers].map((caller) => caller?.length ?? 0))).toBeLessThanOrEqual(128);
  });
});
