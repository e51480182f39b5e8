// Whether a change of reference data loosens: judged record by record and field by field, from the declaration (contracts/src/records/reference-fields.ts). A change
// that loosens in one field loosens as a whole, however much else it tightens.
//
// Invariants (reference-changes.test.ts names them):
//  1. What is not known loosens: a field without a word, a word that does not fit its value.
//  2. However a document is changed, in one step or in many, what is looser at the end took at least one step that loosens.
//  3. A new symbol that no fund holds and no list names, a calendar that nothing uses and a fund without envelope, orders and values loosen nothing.
import * as decimal from "../../contracts/src/decimal.ts";
import { tryParse } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { FundReference, ReferenceContents, ReferenceKind } from "../../contracts/src/records/reference.ts";
import { type FieldLoosens, type KindWord, referenceWords } from "../../contracts/src/records/reference-fields.ts";

export interface ReferenceChange {
  /** `instruments AAPL sector`; of a record that comes or goes without the field. */
  readonly field: string;
  readonly effect: "LOOSENS" | "TIGHTENS" | "NEITHER";
  /** As they are written in JSON; empty when absent, and of a record that comes or goes. */
  readonly before: string;
  readonly after: string;
  /** The funds that it is about; undefined when any may be. */
  readonly fundIds?: readonly string[];
}

/** What uses reference data outside of it. */
export interface ReferenceUse {
  /** Whether a fund holds the symbol, has an order in it, or has reserved for one. */
  readonly isHeld: (symbol: string) => boolean;
  /** Whether the fund has an envelope, orders or values. */
  readonly isRun: (fundId: string) => boolean;
}

/** Where it cannot be asked, everything is used. */
export const unknownUse: ReferenceUse = { isHeld: () => true, isRun: () => true };

/** A record of any kind: its fields are looked up by the names that the declaration has. */
type AnyRecord = Readonly<Record<string, unknown>>;

export function referenceChanges(
  kind: ReferenceKind,
  before: ReferenceContents,
  after: ReferenceContents,
  use: ReferenceUse,
): readonly ReferenceChange[] {
  const word: KindWord = referenceWords[kind];
  const isUnused = unusedRule(kind, before, after, use);
  const then = byKey(before[kind], word);
  const now = byKey(after[kind], word);
  return [...new Set([...then.keys(), ...now.keys()])].sort().flatMap((key): ReferenceChange[] => {
    const [was, is] = [then.get(key), now.get(key)];
    const fundIds = fundsOf(kind, key, before);
    const found =
      was !== undefined && is !== undefined ? fieldChanges(word, was, is) : [recordChange(kind, after, was, is)];
    return found.map(({ field, effect, ...change }) => ({
      ...change,
      field: [kind, key, ...(field === "" ? [] : [field])].join(" "),
      effect: effect === "LOOSENS" && isUnused(key, was !== undefined) ? "NEITHER" : effect,
      ...(fundIds && { fundIds }),
    }));
  });
}

/** Those that are not made without a second factor. */
export function looseningChanges(changes: readonly ReferenceChange[]): readonly ReferenceChange[] {
  return changes.filter(({ effect }) => effect === "LOOSENS");
}

/** The halts under which a change of these takes a second person. */
export function coveringHalts(
  changes: readonly ReferenceChange[],
  active: readonly ActiveHalt[],
  funds: readonly FundReference[],
): readonly ActiveHalt[] {
  const isAny = changes.some(({ fundIds }) => fundIds === undefined);
  const concerned = new Set(changes.flatMap(({ fundIds = [] }) => fundIds));
  const strategies = new Set(
    funds.filter(({ fund_id: id }) => concerned.has(id)).flatMap(({ strategies: own }) => own),
  );
  return active.filter(
    ({ severity, fund_id: fundId, strategy_id: strategyId }) =>
      severity === "FIRM_HALT" ||
      isAny ||
      concerned.has(fundId) ||
      (strategyId !== undefined && strategies.has(strategyId)),
  );
}

/** What no fund is named by may be about any of them: a symbol, a rate of what they trade, a calendar that instruments follow. */
function fundsOf(
  kind: ReferenceKind,
  key: string,
  { funds, instruments }: ReferenceContents,
): readonly string[] | undefined {
  if (kind === "funds") return [key];
  if (kind === "fx") {
    const pair = key.split("/");
    return funds.filter(({ currency }) => pair.includes(currency)).map(({ fund_id: id }) => id);
  }
  if (kind !== "calendars" || instruments.some(({ calendar }) => calendar === key)) return undefined;
  return funds.filter(({ calendar }) => calendar === key).map(({ fund_id: id }) => id);
}

type Change = Pick<ReferenceChange, "field" | "effect" | "before" | "after">;

function byKey(records: readonly AnyRecord[], { key }: KindWord): ReadonlyMap<string, AnyRecord> {
  return new Map(records.map((record) => [key.map((field) => String(record[field])).join("/"), record]));
}

function recordChange(
  kind: ReferenceKind,
  { fx }: ReferenceContents,
  was: AnyRecord | undefined,
  is: AnyRecord | undefined,
): Change {
  const { added, removed } = referenceWords[kind];
  const effect = was === undefined ? added : removed;
  const whole = { field: "", before: "", after: "" };
  if (effect !== "IF STILL RATED") return { ...whole, effect };
  // The rate of the other direction takes its place, whatever it says.
  const gone = was ?? is;
  const isRated = fx.some(({ base, quote }) => base === gone?.["quote"] && quote === gone?.["base"]);
  return { ...whole, effect: isRated ? "LOOSENS" : "TIGHTENS" };
}

function fieldChanges({ fields }: KindWord, was: AnyRecord, is: AnyRecord): readonly Change[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].sort().flatMap((field): Change[] => {
    const [before, after] = [textOf(was[field]), textOf(is[field])];
    if (before === after) return [];
    const loosens = fields[field]?.loosens ?? "ALWAYS";
    if (loosens === "NEVER") return [{ field, before, after, effect: "NEITHER" }];
    const effect = judges[loosens](was[field], is[field]) ? "LOOSENS" : "TIGHTENS";
    return [{ field, before, after, effect }];
  });
}

type Judge = (before: unknown, after: unknown) => boolean;

const judges: Readonly<Record<Exclude<FieldLoosens, "NEVER">, Judge>> = {
  ALWAYS: () => true,
  HIGHER: (before, after) => grows(numberOf(before), numberOf(after)),
  LOWER: (before, after) => grows(numberOf(after), numberOf(before)),
  LATER: (before, after) => grows(instantOf(before), instantOf(after)),
  MORE: (before, after) => {
    if (!Array.isArray(before) || !Array.isArray(after)) return true;
    const known: ReadonlySet<unknown> = new Set(before);
    return after.some((entry) => !known.has(entry));
  },
  "ALL BUT FIRST": (before) => before !== undefined && before !== "",
};

/** What cannot be compared has grown. */
function grows<Value extends bigint | number>(before: Value | undefined, after: Value | undefined): boolean {
  return before === undefined || after === undefined || after > before;
}

const numberOf = (value: unknown): decimal.Decimal | undefined =>
  typeof value === "string" ? decimal.tryParse(value) : undefined;
const instantOf = (value: unknown): number | undefined => (typeof value === "string" ? tryParse(value) : undefined);
const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** Whether a record of the kind is one whose changes let nothing through, by its key and whether it was there before. */
function unusedRule(
  kind: ReferenceKind,
  before: ReferenceContents,
  after: ReferenceContents,
  use: ReferenceUse,
): (key: string, wasThere: boolean) => boolean {
  switch (referenceWords[kind].unused) {
    case "NONE":
      return () => false;
    case "NO ENVELOPE, ORDERS AND VALUES":
      return (fundId) => !use.isRun(fundId);
    case "NOTHING USES IT": {
      const used = new Set<string | undefined>(
        kind === "venues"
          ? before.instruments.map(({ venue }) => venue)
          : [...before.instruments, ...before.funds].map(({ calendar }) => calendar),
      );
      return (name) => !used.has(name);
    }
    case "NEW, NOT HELD, ON NO LIST": {
      const named = new Set([
        ...[...before.restricted, ...before.borrow].map(({ symbol }) => symbol),
        ...[...before.instruments, ...after.instruments].map(({ underlying }) => underlying),
      ]);
      return (symbol, wasThere) => !wasThere && !named.has(symbol) && !use.isHeld(symbol);
    }
  }
}
