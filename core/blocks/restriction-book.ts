// What watchdogs restrict, as the engine keeps it: what denies new risk altogether is handed in as conditions, and what judges the order (gross
// exposure, options sold short) stands here by fund. Of several of one kind in a fund the oldest is named; of gross exposure the strictest counts.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type * as instant from "../../contracts/src/instant.ts";
import type { Restriction, RestrictionKind } from "../../contracts/src/records/restriction.ts";
import * as exact from "../money/exact.ts";
import type { Fact, StandingCondition } from "../state/standing-condition.ts";
import type { RestrictedBy, RestrictionView } from "../state/view.ts";

/** How much a strategy may use is research's business. */
const codes: Readonly<Partial<Record<RestrictionKind, DenialCode>>> = {
  THROTTLE: "AGGRESSIVE_THROTTLED",
  COOLDOWN: "NEWS_COOLDOWN",
  SHADOW: "STRATEGY_SHADOWED",
};

/** Also that nobody knows which restrictions there are. */
export const watchdogConditions: ReadonlySet<DenialCode> = new Set([...Object.values(codes), "RESTRICTIONS_UNKNOWN"]);

export interface RestrictionBook {
  /** By fund. */
  readonly gross: Map<string, RestrictedBy>;
  readonly noShortOptions: Map<string, RestrictedBy>;
  readonly since: Map<string, instant.Instant>;
}

export function createRestrictionBook(): RestrictionBook {
  return { gross: new Map(), noShortOptions: new Map(), since: new Map() };
}

export const saidBy = ({ watchdog, episodeId }: RestrictedBy): string => `${watchdog} in episode ${episodeId}`;

export function restrictionFacts({ watchdog, episodeId, restrictionId }: RestrictedBy): readonly Fact[] {
  return [
    ["watchdog", watchdog],
    ["episode_id", episodeId],
    ["restriction_id", restrictionId],
  ];
}

/** Replaces all that judge the order, and gives those that are conditions. */
export function setRestrictions(
  book: RestrictionBook,
  restrictions: readonly Restriction[],
): readonly StandingCondition[] {
  const { gross, noShortOptions, since } = book;
  for (const kept of [gross, noShortOptions, since]) kept.clear();
  const oldestFirst = [...restrictions].sort((one, other) => one.since - other.since);
  for (const restriction of oldestFirst) {
    const { kind, fundId = "", restrictionId } = restriction;
    if (kind !== "GROSS" && kind !== "NO_SHORT_OPTIONS") continue;
    const ofKind = kind === "GROSS" ? gross : noShortOptions;
    const by = restrictedBy(restriction);
    const first = ofKind.get(fundId);
    since.set(restrictionId, restriction.since);
    if (first === undefined || isStricter(by, first)) ofKind.set(fundId, by);
  }
  return oldestFirst.flatMap(conditionOf);
}

function conditionOf(restriction: Restriction): readonly StandingCondition[] {
  const { kind, fundId, strategyId, symbol, since } = restriction;
  const code = codes[kind];
  if (code === undefined) return [];
  const [reason, facts] = [saidBy(restriction), restrictionFacts(restriction)];
  return [{ code, reason, fundId, strategyId, symbol, facts, since }];
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

/** What judges an order of the fund. */
export function restrictionsOf(
  { gross, noShortOptions }: RestrictionBook,
  fundId: string,
): RestrictionView | undefined {
  if (gross.size === 0 && noShortOptions.size === 0) return undefined;
  const found: RestrictionView = { noShortOptions: noShortOptions.get(fundId), gross: gross.get(fundId) };
  return found.gross === undefined && found.noShortOptions === undefined ? undefined : found;
}
