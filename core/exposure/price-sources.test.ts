// Whose prices of a symbol count, by its numbered invariants.
import { describe, expect, it } from "vitest";
import { format, type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { createPriceSources, type PriceTurn, staleMsMax } from "./price-sources.ts";

const start = parse("2026-11-16T14:30:00.000000Z");
const markAgeMsMax = 10_000;
const outMs = markAgeMsMax + staleMsMax;

function heard(named?: readonly string[]) {
  const turns: PriceTurn[] = [];
  const turned = (turn: PriceTurn) => void turns.push(turn);
  const sources = createPriceSources({ namedFor: () => named, markAgeMsMax, turned });
  const at = (ms: number): Instant => plusMilliseconds(start, ms);
  /** A price of that moment, heard `lateMs` later. */
  const price = (source: string, ms: number, lateMs = 0) =>
    sources.judge({ symbol: "ACME", source, at: format(at(ms)) }, at(ms + lateMs));
  return {
    sources,
    turns,
    at,
    price,
    kind: (source: string, ms: number, lateMs = 0) => price(source, ms, lateMs).kind,
  };
}

describe("sources that are named", () => {
  it("1, 2: count in their order: the next takes over once the one before was stale for a minute, and gives way when it is back", () => {
    const { price, kind } = heard(["a", "b", "c"]);
    expect([kind("a", 0), kind("b", 1), kind("stranger", 2)]).toEqual(["COUNTS", "WAITS", "NOT_YOURS"]);
    expect(kind("b", outMs - 1)).toBe("WAITS");
    expect(price("b", outMs)).toEqual({ kind: "COUNTS", whose: ["a", "b", "c"], insteadOf: "a" });
    expect(kind("c", outMs + 1)).toBe("WAITS");
    expect(kind("c", 2 * outMs)).toBe("COUNTS");
    expect(price("b", 2 * outMs + 1)).toMatchObject({ kind: "COUNTS", insteadOf: "a" });
    expect(kind("c", 2 * outMs + 2)).toBe("WAITS");
    expect(price("a", 2 * outMs + 3)).toEqual({ kind: "COUNTS", whose: ["a", "b", "c"], insteadOf: undefined });
    expect(kind("b", 2 * outMs + 4)).toBe("WAITS");
  });

  it("2: that were never heard are out when the symbol has been watched for as long, and an old price does not make them heard", () => {
    const { kind } = heard(["a", "b"]);
    expect(kind("b", 0)).toBe("WAITS");
    expect(kind("a", -outMs, outMs + 1)).toBe("COUNTS");
    expect(kind("b", 2)).toBe("COUNTS");
  });

  it("count no other name, also when all are out, and a clock that was set back keeps none for longer", () => {
    const { kind } = heard(["a", "b"]);
    expect(kind("a", 1_000_000)).toBe("COUNTS");
    expect(kind("b", 0)).toBe("WAITS");
    expect(kind("stranger", 5 * outMs)).toBe("NOT_YOURS");
  });
});

describe("where none is named", () => {
  it("3: the first whose price is fresh is it, another takes over once it was stale for a minute, and gives way when it is back", () => {
    const { price, kind } = heard();
    expect([kind("a", 0), kind("b", 1)]).toEqual(["COUNTS", "NOT_YOURS"]);
    expect(price("b", outMs - 1)).toEqual({ kind: "NOT_YOURS", whose: ["a"] });
    expect(price("b", outMs)).toEqual({ kind: "COUNTS", whose: ["b"], insteadOf: "a" });
    expect(price("c", outMs + 1)).toEqual({ kind: "NOT_YOURS", whose: ["b"] });
    expect(kind("c", 2 * outMs)).toBe("COUNTS");
    expect(kind("b", 2 * outMs + 1)).toBe("NOT_YOURS");
    expect(price("a", 2 * outMs + 2)).toEqual({ kind: "COUNTS", whose: ["a"] });
    expect(kind("c", 2 * outMs + 3)).toBe("NOT_YOURS");
  });

  it("3: an old price counts and makes nobody the first, and takes over from nobody", () => {
    const { kind } = heard();
    expect([kind("old", 0, markAgeMsMax + 1), kind("a", 1), kind("old", 2)]).toEqual(["COUNTS", "COUNTS", "NOT_YOURS"]);
    expect(kind("old", outMs, markAgeMsMax + 1)).toBe("NOT_YOURS");
    // The first is not back with what it said long ago.
    expect(kind("b", 2 * outMs)).toBe("COUNTS");
    expect(kind("a", outMs, outMs + 2)).toBe("WAITS");
  });
});

describe("a turn that is kept", () => {
  it("5: is told when somebody else begins to count, and never with a price", () => {
    const { turns, kind } = heard();
    for (const ms of [0, 1, 2]) kind("a", ms);
    kind("b", outMs + 2);
    kind("b", outMs + 3);
    kind("a", outMs + 4);
    const a = { symbol: "ACME", first: "a" };
    expect(turns).toEqual([a, { ...a, second: "b" }, a]);
    expect(heard(["a"]).turns).toEqual([]);
  });

  it("5: is in force after a restart: no stranger comes first, and another takes over a minute later at the earliest", () => {
    const { sources, kind, at } = heard();
    sources.restore({ symbol: "ACME", first: "feed" }, at(0));
    expect([kind("stranger", 1), kind("feed", 2), kind("stranger", 3)]).toEqual(["NOT_YOURS", "COUNTS", "NOT_YOURS"]);
    const silent = heard();
    silent.sources.restore({ symbol: "ACME", first: "feed", second: "other" }, at(0));
    expect([silent.kind("stranger", outMs - 1), silent.kind("other", outMs - 1)]).toEqual(["NOT_YOURS", "COUNTS"]);
    expect(silent.kind("stranger", outMs)).toBe("NOT_YOURS");
    expect(silent.kind("feed", outMs + 1)).toBe("COUNTS");
    const gone = heard();
    gone.sources.restore({ symbol: "ACME", first: "feed" }, at(0));
    expect(gone.price("other", outMs)).toEqual({ kind: "COUNTS", whose: ["other"], insteadOf: "feed" });
  });

  it("5: that somebody else judged takes the place of what was heard first here, and the same again changes nothing", () => {
    const { sources, kind, at } = heard();
    expect(kind("stranger", 0)).toBe("COUNTS");
    sources.restore({ symbol: "ACME", first: "feed" }, at(1));
    expect([kind("stranger", 2), kind("feed", 3)]).toEqual(["NOT_YOURS", "COUNTS"]);
    sources.restore({ symbol: "ACME", first: "feed" }, at(2 * outMs));
    expect(kind("stranger", 3 + outMs)).toBe("COUNTS");
  });
});

it("the simulated market is judged elsewhere, whoever is named", () => {
  for (const named of [undefined, ["a"]]) expect(heard(named).kind("paper", 0)).toBe("COUNTS");
});

it("1, 4: of any sources in any order one counts at a time, and what does not count changes nothing", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = prng(seed);
    const named = [undefined, ["a"], ["a", "b"], ["b", "c", "a"]][random.below(4)];
    const [all, without] = [heard(named), heard(named)];
    let ms = 0;
    const counted: { source: string; ms: number }[] = [];
    for (let step = 0; step < 60; step += 1) {
      ms += random.below(4) === 0 ? random.below(2 * outMs) : random.below(markAgeMsMax);
      const source = ["a", "b", "c", "stranger"][random.below(4)] as string;
      const { kind, insteadOf } = all.price(source, ms);
      if (kind === "NOT_YOURS") continue;
      expect([seed, step, without.price(source, ms)]).toEqual([seed, step, expect.objectContaining({ kind })]);
      if (kind !== "COUNTS") continue;
      const last = counted.at(-1);
      // Another than the last one takes over only when the last is out, or gives way to one before it.
      if (last !== undefined && last.source !== source && insteadOf !== undefined && named === undefined) {
        expect([seed, step, ms - last.ms >= outMs]).toEqual([seed, step, true]);
      }
      counted.push({ source, ms });
    }
  }
});
