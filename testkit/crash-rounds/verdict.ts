// What must be true after every round, judged from two witnesses that survive every kill: what the children swore to (journal.ts)
// and what the database holds. A pure function, so that verdict.test.ts can show each rule failing.
//
//  1. Every acknowledged event is in the outbox; so is every event whose unknown commit was resolved as committed.
//  2. No event that was rolled back, refused, or resolved as not committed is there, and none that nobody tried to write.
//  3. The events of one transaction are there together or not at all.
//  4. Every source event in the outbox has exactly one effect, and every effect has its source event.
//  5. Per key, effects stand in the order of their source events.
//  6. One author's events stand in the order in which it wrote them.
//  7. Nothing was parked, and the store refused only what it may refuse while something is dead.
import type { Entry } from "./journal.ts";

export interface SourceRow {
  readonly position: bigint;
  readonly id: string;
  readonly key: string;
  readonly author: string;
  readonly number: number;
}

export interface EffectRow {
  readonly position: bigint;
  readonly key: string;
  /** The id of the source event. */
  readonly cause: string;
}

export interface Evidence {
  readonly entries: readonly Entry[];
  /** Both in the order of the outbox. */
  readonly sources: readonly SourceRow[];
  readonly effects: readonly EffectRow[];
  readonly parked: readonly string[];
}

export interface Tally {
  readonly acknowledged: number;
  readonly committed: number;
  readonly rolledBack: number;
  readonly refused: number;
  readonly unknown: number;
  readonly resolvedCommitted: number;
  /** Tried, and the writer was killed before it heard what became of it. */
  readonly inDoubt: number;
  /** Times that an event was handed to a handler again; the de-duplication made them harmless. */
  readonly handedAgain: number;
}

const fineRefusals: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "STORE_CONFLICT"]);
const shownMax = 5;

/** Everything that is wrong, one sentence each. */
export function judge(evidence: Evidence): readonly string[] {
  const { entries } = evidence;
  const stored = new Set(evidence.sources.map((row) => row.id));
  const missing = (ids: Iterable<string>): string[] => [...ids].filter((id) => !stored.has(id));
  const present = (ids: Iterable<string>): string[] => [...ids].filter((id) => stored.has(id));
  const tried = idsOf(entries, (entry) => entry.kind === "tried");
  const outcome = (wanted: string) => idsOf(entries, (entry) => entry.kind === "resolved" && entry.outcome === wanted);
  const isRefused = (entry: Entry): boolean => entry.kind === "refused";
  const torn = entries.filter(
    ({ kind, ids }) => kind === "tried" && present(ids).length !== 0 && missing(ids).length !== 0,
  );
  const badRefusals = entries.flatMap((entry) =>
    entry.kind === "refused" && !fineRefusals.has(entry.code) ? [entry.code] : [],
  );
  return [
    ...complain("acknowledged events are not in the outbox", missing(acknowledged(entries))),
    ...complain("events resolved as committed are not in the outbox", missing(outcome("committed"))),
    ...complain("events resolved as not committed are in the outbox", present(outcome("not committed"))),
    ...complain(
      "rolled-back events are in the outbox",
      present(idsOf(entries, (entry) => entry.kind === "rolled back")),
    ),
    ...complain("refused events are in the outbox", present(idsOf(entries, isRefused))),
    ...complain(
      "events that nobody tried to write are in the outbox",
      [...stored].filter((id) => !tried.has(id)),
    ),
    ...complain("events are in the outbox twice", repeated(evidence.sources.map((row) => row.id))),
    ...complain(
      "transactions are in the outbox in part",
      torn.map((entry) => entry.ids.join("+")),
    ),
    ...judgeEffects(evidence, stored),
    ...complain("effects overtook each other within a key", overtaken(evidence)),
    ...complain("events stand in another order than their author wrote them", misnumbered(evidence.sources)),
    ...complain("events were parked", evidence.parked),
    ...complain("the store refused with", badRefusals),
  ];
}

function judgeEffects({ sources, effects }: Evidence, stored: ReadonlySet<string>): readonly string[] {
  const causes = effects.map((row) => row.cause);
  const acted = new Set(causes);
  return [
    ...complain(
      "events have no effect: they were not delivered",
      sources.map((row) => row.id).filter((id) => !acted.has(id)),
    ),
    ...complain("events have more than one effect", repeated(causes)),
    ...complain(
      "effects have no event in the outbox",
      causes.filter((id) => !stored.has(id)),
    ),
  ];
}

export function tally({ entries, sources }: Evidence): Tally {
  const count = (kind: Entry["kind"]): number => idsOf(entries, (entry) => entry.kind === kind).size;
  const handed = entries.filter((entry) => entry.kind === "handed");
  const settled = idsOf(entries, ({ kind }) => kind !== "tried" && kind !== "handed" && kind !== "unknown");
  const tried = idsOf(entries, (entry) => entry.kind === "tried");
  return {
    acknowledged: count("acknowledged"),
    committed: sources.length,
    rolledBack: count("rolled back"),
    refused: count("refused"),
    unknown: count("unknown"),
    resolvedCommitted: idsOf(entries, (entry) => entry.kind === "resolved" && entry.outcome === "committed").size,
    inDoubt: [...tried].filter((id) => !settled.has(id)).length,
    handedAgain: handed.length - new Set(handed.flatMap((entry) => entry.ids)).size,
  };
}

function acknowledged(entries: readonly Entry[]): ReadonlySet<string> {
  return idsOf(entries, (entry) => entry.kind === "acknowledged");
}

function idsOf(entries: readonly Entry[], wanted: (entry: Entry) => boolean): ReadonlySet<string> {
  return new Set(entries.filter(wanted).flatMap((entry) => entry.ids));
}

function repeated(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}

/** Causes whose first effect stands behind the effect of a later event of the same key. */
function overtaken({ sources, effects }: Evidence): readonly string[] {
  const positions = new Map(sources.map((row) => [row.id, row.position]));
  const newest = new Map<string, bigint>();
  return effects.flatMap(({ key, cause }) => {
    const position = positions.get(cause) ?? 0n;
    if (position < (newest.get(key) ?? 0n)) return [cause];
    newest.set(key, position);
    return [];
  });
}

function misnumbered(sources: readonly SourceRow[]): readonly string[] {
  const newest = new Map<string, number>();
  return sources.flatMap(({ author, number, id }) => {
    if (number <= (newest.get(author) ?? 0)) return [id];
    newest.set(author, number);
    return [];
  });
}

function complain(sentence: string, cases: readonly string[]): readonly string[] {
  if (cases.length === 0) return [];
  const shown = cases.slice(0, shownMax).join(", ");
  return [`${cases.length} ${sentence}: ${shown}${cases.length > shownMax ? ", …" : ""}`];
}
