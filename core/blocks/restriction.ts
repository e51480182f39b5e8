// What is wrong with a restriction, and when two of them are the same: nothing that would restrict nobody is kept.
import * as decimal from "../../contracts/src/decimal.ts";
import type {
  NewRestriction,
  Restriction,
  RestrictionKind,
  RestrictionScope,
} from "../../contracts/src/records/restriction.ts";

/** Which members of the scope each kind needs; one that is not named must be absent. */
const scopes: Readonly<Record<RestrictionKind, (scope: RestrictionScope) => boolean>> = {
  THROTTLE: ({ strategyId, symbol }) => symbol !== undefined && strategyId === undefined,
  COOLDOWN: ({ strategyId, symbol }) => symbol !== undefined && strategyId === undefined,
  SHADOW: ({ fundId, strategyId, symbol }) => fundId !== undefined && strategyId !== undefined && symbol === undefined,
  NO_SHORT_OPTIONS: ({ fundId, strategyId, symbol }) =>
    fundId !== undefined && strategyId === undefined && symbol === undefined,
  GROSS: ({ fundId, strategyId, symbol }) => fundId !== undefined && strategyId === undefined && symbol === undefined,
  ALLOCATION: ({ fundId, symbol }) => fundId !== undefined && symbol === undefined,
};

const one = decimal.parse("1");

/** Why it cannot be kept; undefined when it can. One that names nobody, or has no figure to multiply by, would restrict nothing. */
export function restrictionComplaint({ kind, factor, base, ...scope }: NewRestriction): string | undefined {
  if (!scopes[kind](scope)) return `the scope of a ${kind} restriction is not ${JSON.stringify(namesOf(scope))}`;
  const needsFactor = kind === "GROSS" || kind === "ALLOCATION";
  if (needsFactor !== (factor !== undefined)) return `a ${kind} restriction has ${needsFactor ? "a" : "no"} factor`;
  if (factor !== undefined && (factor <= 0n || factor > one)) {
    return `a factor is above 0 and at most 1, not ${decimal.format(factor)}`;
  }
  if ((kind === "GROSS") !== (base !== undefined))
    return `a ${kind} restriction has ${kind === "GROSS" ? "a" : "no"} base`;
  return base !== undefined && base < 0n ? `a base is not negative: ${decimal.format(base)}` : undefined;
}

function namesOf({ fundId, strategyId, symbol }: RestrictionScope): RestrictionScope {
  return {
    ...(fundId === undefined ? {} : { fundId }),
    ...(strategyId === undefined ? {} : { strategyId }),
    ...(symbol === undefined ? {} : { symbol }),
  };
}

/** Two of one episode with the same key are the same restriction. */
export function restrictionKey({ episodeId, kind, fundId, strategyId, symbol }: NewRestriction): string {
  return JSON.stringify([episodeId, kind, fundId ?? "", strategyId ?? "", symbol ?? ""]);
}

/** The same text for the same restrictions. */
export function toComparable(restrictions: readonly Restriction[]): string {
  return JSON.stringify(restrictions, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
