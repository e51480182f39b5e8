// Whose prices of a symbol count. The reference data names the sources in order (`priced_by`); where it names none, it is the source of the last price that
// counted. Another takes over once that one has been stale for a minute, and gives way when the first is back. What the simulated market says is for PAPER
// funds alone and judged elsewhere (decision 0074).
//
// Invariants (price-sources.test.ts names them):
//  1. Of the sources of a symbol one counts at a time: the first that is not out, in the order of the list.
//  2. A source is out when it was stale for `takeOverMs`, counted from its newest price, or from when the symbol began to be watched.
//  3. Where none is named, a source becomes the first with a price that is fresh, and no other counts while neither it nor what took over for it is out.
//  4. Nothing that does not count changes whose turn it is.
//  5. Where none is named, a turn that was kept is in force again with `restore`; its source is out only when it was stale for as long since then.
import { type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import { isSimulated, type Mark } from "../../contracts/src/records/market.ts";

interface PriceStanding {
  /** WAITS: it is named, and one before it in the list counts. NOT_YOURS: another's, or nobody's who is named. */
  readonly kind: "COUNTS" | "WAITS" | "NOT_YOURS";
  /** Whose count: the named ones, or the one that does. */
  readonly whose: readonly string[];
  /** Of one that counts: the first, in whose place it does. */
  readonly insteadOf?: string | undefined;
}

export interface PriceSources {
  /** Whether a price counts, which is remembered. */
  judge(mark: Priced, now: Instant): PriceStanding;
  /** The same, and nothing is remembered. */
  ask(mark: Priced, now: Instant): PriceStanding;
  /** As it was kept, or as somebody else judged it. */
  restore(turn: PriceTurn, now: Instant): void;
  forget(symbol: string): void;
}

/** Where none is named: the first of a symbol, and who took over for it. */
export interface PriceTurn {
  readonly symbol: string;
  readonly first: string;
  readonly second?: string | undefined;
}

type Priced = Pick<Mark, "symbol" | "source" | "at">;

interface PriceSourcesOptions {
  /** Those that the reference data names, in order; undefined for a symbol for which it names none. */
  readonly namedFor: (symbol: string) => readonly string[] | undefined;
  /** How old a price may be. */
  readonly markAgeMsMax: number;
  /** Where none is named it is somebody else's turn. */
  readonly turned?: (turn: PriceTurn) => void;
}

/** How long a source may be stale before another takes over. */
export const staleMsMax = 60_000;
/** Symbols whose sources are remembered; the one that was heard first is forgotten for one beyond. */
const symbolsMax = 100_000;

interface Known {
  readonly since: Instant;
  /** Where none is named: the first, and who took over for it. */
  readonly first: string | undefined;
  readonly second: string | undefined;
  /** The newest price of those that are named, or of these two. */
  readonly heardAt: ReadonlyMap<string, Instant>;
}

interface Outcome {
  readonly standing: PriceStanding;
  readonly known: Known;
}

export function createPriceSources({ namedFor, markAgeMsMax, turned }: PriceSourcesOptions): PriceSources {
  const symbols = new Map<string, Known>();
  const limits = { fresh: markAgeMsMax, out: markAgeMsMax + staleMsMax };

  function outcomeOf({ symbol, source, at }: Priced, now: Instant): Outcome {
    const named = namedFor(symbol);
    const known = symbols.get(symbol) ?? { since: now, first: undefined, second: undefined, heardAt: new Map() };
    const heard = { source, at: earlier(parse(at), now), now };
    return named === undefined ? judgeUnnamed(known, heard, limits) : judgeNamed(known, named, heard, limits);
  }

  function keep(symbol: string, known: Known): void {
    if (!symbols.has(symbol) && symbols.size >= symbolsMax) {
      for (const oldest of symbols.keys()) {
        symbols.delete(oldest);
        break;
      }
    }
    symbols.set(symbol, known);
  }

  return {
    judge(mark, now) {
      if (isSimulated(mark)) return { kind: "COUNTS", whose: [] };
      const { symbol } = mark;
      const { standing, known } = outcomeOf(mark, now);
      if (standing.kind === "NOT_YOURS") return standing;
      const before = symbols.get(symbol);
      keep(symbol, known);
      const { first, second } = known;
      const isTurned = first !== before?.first || second !== before?.second;
      if (first !== undefined && isTurned) turned?.({ symbol, first, second });
      return standing;
    },
    restore({ symbol, first, second }, now) {
      const before = symbols.get(symbol);
      if (before?.first === first && before.second === second) return;
      const kept = [...(before?.heardAt ?? [])].filter(([source]) => source === first || source === second);
      keep(symbol, { since: before?.since ?? now, first, second, heardAt: new Map(kept) });
    },
    ask: (mark, now) => (isSimulated(mark) ? { kind: "COUNTS", whose: [] } : outcomeOf(mark, now).standing),
    forget: (symbol) => void symbols.delete(symbol),
  };
}

interface Heard {
  readonly source: string;
  readonly at: Instant;
  readonly now: Instant;
}

interface Limits {
  readonly fresh: number;
  readonly out: number;
}

/** A clock that was set back makes nothing fresh for longer than from here on. */
const earlier = (one: Instant, other: Instant): Instant => (one < other ? one : other);

function isOut({ heardAt, since }: Known, source: string, now: Instant, { out }: Limits): boolean {
  return millisecondsBetween(earlier(heardAt.get(source) ?? since, now), now) >= out;
}

function withHeard(known: Known, { source, at }: Heard, kept: readonly string[]): Known {
  const entries = [...known.heardAt].filter(([name]) => kept.includes(name));
  const before = known.heardAt.get(source);
  return { ...known, heardAt: new Map([...entries, [source, before !== undefined && before > at ? before : at]]) };
}

function judgeNamed(known: Known, named: readonly string[], heard: Heard, limits: Limits): Outcome {
  const { source, now } = heard;
  if (!named.includes(source)) return { standing: { kind: "NOT_YOURS", whose: named }, known };
  const noted = withHeard({ ...known, first: undefined, second: undefined }, heard, named);
  const before = named.slice(0, named.indexOf(source));
  const isTurn = before.every((name) => isOut(known, name, now, limits));
  if (!isTurn) return { standing: { kind: "WAITS", whose: named }, known: noted };
  return { standing: { kind: "COUNTS", whose: named, insteadOf: before[0] }, known: noted };
}

function judgeUnnamed(known: Known, heard: Heard, limits: Limits): Outcome {
  const { source, at, now } = heard;
  const { first, second } = known;
  const isFresh = millisecondsBetween(at, now) <= limits.fresh;
  if (first === undefined) {
    const standing = { kind: "COUNTS", whose: [source] } as const;
    return { standing, known: isFresh ? withHeard({ ...known, first: source }, heard, [source]) : known };
  }
  const whose = [second ?? first];
  if (source === first) {
    const isBack = second === undefined || isFresh;
    const noted = withHeard({ ...known, second: isBack ? undefined : second }, heard, [
      first,
      ...(isBack ? [] : [second]),
    ]);
    return { standing: isBack ? { kind: "COUNTS", whose: [first] } : { kind: "WAITS", whose }, known: noted };
  }
  const isTurn =
    source === second ||
    (isFresh && isOut(known, first, now, limits) && (second === undefined || isOut(known, second, now, limits)));
  if (!isTurn) return { standing: { kind: "NOT_YOURS", whose }, known };
  const standing = { kind: "COUNTS", whose: [source], insteadOf: first } as const;
  return { standing, known: withHeard({ ...known, second: source }, heard, [first, source]) };
}
