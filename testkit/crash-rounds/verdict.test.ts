// Every rule of the verdict, shown failing once: a crash round that cannot fail would prove nothing.
import { expect, test } from "vitest";
import type { Entry } from "./journal.ts";
import { type Evidence, judge, type SourceRow, tally } from "./verdict.ts";

const row = (number: number, key = "k"): SourceRow => ({
  position: BigInt(number),
  id: `e${number}`,
  key,
  author: "w",
  number,
});
const effect = (position: number, cause: string, key = "k") => ({ position: BigInt(position), key, cause });
const tried = (...ids: string[]): Entry => ({ kind: "tried", ids });
const acknowledged = (...ids: string[]): Entry => ({ kind: "acknowledged", ids });

const good: Evidence = {
  entries: [
    tried("e1", "e2"),
    acknowledged("e1", "e2"),
    tried("e3"),
    { kind: "unknown", ids: ["e3"], transaction: "7/e3" },
    { kind: "resolved", ids: ["e3"], outcome: "committed" },
    { kind: "rolled back", ids: ["gone1"] },
    tried("gone2"),
    { kind: "refused", ids: ["gone2"], code: "STORE_UNAVAILABLE" },
    tried("doubt"),
    { kind: "handed", ids: ["e1"] },
    { kind: "handed", ids: ["e1"] },
  ],
  sources: [row(1), row(2), row(3)],
  effects: [effect(11, "e1"), effect(12, "e2"), effect(13, "e3")],
  parked: [],
};

const withEntries = (...more: readonly Entry[]): Evidence => ({ ...good, entries: [...good.entries, ...more] });

test("good evidence is not complained about, and is counted", () => {
  expect(judge(good)).toEqual([]);
  expect(tally(good)).toEqual({
    acknowledged: 2,
    committed: 3,
    rolledBack: 1,
    refused: 1,
    unknown: 1,
    resolvedCommitted: 1,
    inDoubt: 1,
    handedAgain: 1,
  });
});

const [first, second, third] = good.sources as [SourceRow, SourceRow, SourceRow];

test.each<[string, Evidence, string]>([
  ["1: an acknowledged event was lost", withEntries(tried("x"), acknowledged("x")), "1 acknowledged events are not"],
  [
    "1: a committed one was lost",
    withEntries({ kind: "resolved", ids: ["x"], outcome: "committed" }),
    "committed are not",
  ],
  ["2: a rolled-back one is there", withEntries({ kind: "rolled back", ids: ["e1"] }), "rolled-back events are"],
  [
    "2: a refused one is there",
    withEntries({ kind: "refused", ids: ["e1"], code: "STORE_UNAVAILABLE" }),
    "refused events",
  ],
  [
    "2: an answer of not committed was wrong",
    withEntries({ kind: "resolved", ids: ["e2"], outcome: "not committed" }),
    "resolved as not committed",
  ],
  ["2: nobody wrote it", { ...good, entries: good.entries.slice(2) }, "2 events that nobody tried"],
  ["2: it is there twice", { ...good, sources: [...good.sources, { ...third, number: 4 }] }, "outbox twice"],
  ["3: half a transaction", withEntries(tried("e3", "half")), "in part: e3+half"],
  ["4: an event was not delivered", { ...good, effects: good.effects.slice(0, 2) }, "have no effect: they were not"],
  ["4: two effects", { ...good, effects: [...good.effects, effect(14, "e3")] }, "more than one effect: e3"],
  ["4: an effect of nothing", { ...good, effects: [...good.effects, effect(14, "x")] }, "no event in the outbox: x"],
  [
    "5: effects in another order",
    { ...good, effects: [effect(11, "e2"), effect(12, "e1"), effect(13, "e3")] },
    "overtook each other within a key: e1",
  ],
  [
    "6: an author's events in another order",
    { ...good, sources: [first, third, second] },
    "their author wrote them: e2",
  ],
  ["7: parked", { ...good, parked: ["e1"] }, "parked: e1"],
  ["7: a strange refusal", withEntries({ kind: "refused", ids: [], code: "INTERNAL" }), "refused with: INTERNAL"],
])("%s", (_title, evidence, complaint) => {
  expect(judge(evidence).join("\n")).toContain(complaint);
});

test("5: events of different keys may overtake each other", () => {
  const sources = [row(1, "a"), row(2, "b"), row(3, "a")];
  const effects = [effect(11, "e2", "b"), effect(12, "e1", "a"), effect(13, "e3", "a")];
  expect(judge({ ...good, sources, effects })).toEqual([]);
});
