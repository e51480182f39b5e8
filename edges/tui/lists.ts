// What the terminal desk shows, by list: each is one answer of the operator API, kept whole, with the moment at which it was read. Which of them a screen
// needs stands with the screen, so that nothing is asked for that nobody sees.
import type { Instant } from "../../contracts/src/instant.ts";
import type { AnswerOf } from "../client/src/types.ts";

export interface Lists {
  readonly funds: AnswerOf<"listFunds">;
  readonly positions: AnswerOf<"getPositions">;
  /** Open ones, and the newest of the rest. */
  readonly orders: AnswerOf<"listOrders">;
  readonly halts: AnswerOf<"getHaltStatus">;
  readonly blocks: AnswerOf<"listBlocks">;
  readonly use: AnswerOf<"getLimitUse">;
  readonly losses: AnswerOf<"listLosses">;
  readonly stops: AnswerOf<"listStops">;
  readonly differences: AnswerOf<"listDifferences">;
  readonly watchdogs: AnswerOf<"listWatchdogs">;
  readonly strategies: AnswerOf<"listStrategies">;
  /** Of the last hour, newest first. */
  readonly alarms: AnswerOf<"listAlarms">;
}

export type ListName = keyof Lists;

export type Position = Lists["positions"][number];
export type Order = Lists["orders"][number];
export type Fund = Lists["funds"][number];
export type Halt = Lists["halts"]["halts"][number];

interface Held<Value> {
  readonly value: Value;
  readonly at: Instant;
}

/** What is known, and of what could not be read why; a list keeps its last value beside its failure. */
export interface Data {
  readonly held: { readonly [Name in ListName]?: Held<Lists[Name]> };
  readonly failures: { readonly [Name in ListName]?: string };
}

export const emptyData: Data = { held: {}, failures: {} };

/** Empty until it was read; whoever must tell the two apart asks `held` itself. */
export function listOf<Name extends Exclude<ListName, "halts">>(data: Data, name: Name): Lists[Name] {
  // A list of an absent one is an empty list of it.
  return data.held[name]?.value ?? ([] as readonly unknown[] as Lists[Name]);
}

/** The header's and the second line's, on every screen. */
export const alwaysNeeded: readonly ListName[] = [
  "halts",
  "blocks",
  "funds",
  "stops",
  "differences",
  "watchdogs",
  "use",
];
