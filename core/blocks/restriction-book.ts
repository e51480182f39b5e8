// The restrictions in force as the engine keeps them: by what an order names, so that filling a view costs nothing while there are none. Of several of
// one kind that cover the same order the oldest is named; of gross exposure the strictest counts.
import type * as instant from "../../contracts/src/instant.ts";
import type { Restriction, RestrictionKind } from "../../contracts/src/records/restriction.ts";
import * as exact from "../money/exact.ts";
import type { RestrictedBy, RestrictionView } from "../state/view.ts";

/** Kinds that the gates judge; how much a strategy may use is research's business. */
type GateKind = Exclude<RestrictionKind, "ALLOCATION">;

export interface RestrictionBook {
  /** Whether the list is young enough to be relied on; the shell says so before every check. */
  known: boolean;
  /** How many the gates judge. */
  count: number;
  /** By the kind and the names of its scope. */
  readonly inForce: Map<string, RestrictedBy>;
  /** The symbols of THROTTLE and COOLDOWN, by fund; of every fund under the empty name. */
  readonly symbols: Map<string, ReadonlySet<string>>;
  readonly since: Map<string, instant.Instant>;
}

export function createRestrictionBook(): RestrictionBook {
  return { known: true, count: 0, inForce: new Map(), symbols: new Map(), since: new Map() };
}

const keyOf = (kind: GateKind, first: string, second = ""): string => `${kind}\n${first}\n${second}`;

/** Replaces all of them. */
export function setRestrictions(book: RestrictionBook, restrictions: readonly Restriction[]): void {
  const { inForce, symbols, since } = book;
  for (const kept of [inForce, symbols, since]) kept.clear();
  const oldestFirst = [...restrictions].sort((one, other) => one.since - other.since);
  const named = new Map<string, Set<string>>();
  for (const restriction of oldestFirst) {
    const { kind, fundId = "", strategyId = "", symbol, restrictionId } = restriction;
    if (kind === "ALLOCATION") continue;
    const key =
      symbol === undefined ? keyOf(kind, kind === "SHADOW" ? strategyId : fundId) : keyOf(kind, fundId, symbol);
    const first = inForce.get(key);
    const by = restrictedBy(restriction);
    since.set(restrictionId, restriction.since);
    if (first === undefined || isStricter(by, first)) inForce.set(key, by);
    if (symbol !== undefined) named.set(fundId, (named.get(fundId) ?? new Set()).add(symbol));
  }
  for (const [fundId, of] of named) symbols.set(fundId, of);
  book.count = inForce.size;
}

function restrictedBy({ restrictionId, watchdog, episodeId, factor, base }: Restriction): RestrictedBy {
  const by = { restrictionId, watchdog, episodeId };
  return factor === undefined || base === undefined
    ? by
    : { ...by, allowed: exact.toExact(exact.product(factor, base)) };
}

function isStricter({ allowed }: RestrictedBy, { allowed: first }: RestrictedBy): boolean {
  return allowed !== undefined && first !== undefined && allowed < first;
}

/** Only asked while something is restricted, or nobody knows. */
export function restrictionsOf(
  { known, inForce }: RestrictionBook,
  { fund_id: fundId, strategy_id: strategyId, symbol }: { fund_id: string; strategy_id: string; symbol: string },
): RestrictionView | undefined {
  const found: RestrictionView = {
    isUnknown: !known,
    throttle: inForce.get(keyOf("THROTTLE", fundId, symbol)) ?? inForce.get(keyOf("THROTTLE", "", symbol)),
    cooldown: inForce.get(keyOf("COOLDOWN", fundId, symbol)) ?? inForce.get(keyOf("COOLDOWN", "", symbol)),
    shadow: inForce.get(keyOf("SHADOW", strategyId)),
    noShortOptions: inForce.get(keyOf("NO_SHORT_OPTIONS", fundId)),
    gross: inForce.get(keyOf("GROSS", fundId)),
  };
  const { isUnknown, throttle, cooldown, shadow, noShortOptions, gross } = found;
  return isUnknown || (throttle ?? cooldown ?? shadow ?? noShortOptions ?? gross) !== undefined ? found : undefined;
}

/** Symbols in which the fund is throttled or cools down. */
export function restrictedSymbols({ symbols }: RestrictionBook, fundId: string): readonly string[] {
  return [...new Set([...(symbols.get(fundId) ?? []), ...(symbols.get("") ?? [])])];
}

/** Whether the fund may sell no options short, and why. */
export function shortOptionsBlock({ inForce }: RestrictionBook, fundId: string): RestrictedBy | undefined {
  return inForce.get(keyOf("NO_SHORT_OPTIONS", fundId));
}
