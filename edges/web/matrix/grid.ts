// A fund's matrix as a grid of symbols by strategies: what each cell says in the chosen mode, and how strongly it is shaded. The figures are the server's own
// texts; what is shown of them is rounded.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { AnswerOf } from "../../client/src/types.ts";

export type Matrix = AnswerOf<"getMatrix">;
export type MatrixCell = Matrix["cells"][number];

export const modes = ["share", "value", "profit", "signal"] as const;
export type Mode = (typeof modes)[number];

export const modeNames: Readonly<Record<Mode, string>> = {
  share: "share of NAV, %",
  value: "value",
  profit: "unrealised profit",
  signal: "newest signal",
};

export function modeOf(text: string | undefined): Mode {
  return modes.find((one) => one === text) ?? "share";
}

/** A cell, or a sum of some; a sum has no signal. */
export interface Figured {
  readonly market_value?: string | undefined;
  readonly share?: number | undefined;
  readonly unrealised_pnl?: string | undefined;
  readonly signal?: number | undefined;
}

/** The server's text of it; undefined when it is not known. */
export function exactOf(figured: Figured, mode: Mode): string | undefined {
  if (mode === "value") return figured.market_value;
  if (mode === "profit") return figured.unrealised_pnl;
  const value = mode === "share" ? figured.share : figured.signal;
  return value === undefined ? undefined : String(value);
}

/** For comparing sizes alone: never shown, never summed. */
function sizeOf(figured: Figured, mode: Mode): number {
  const exact = exactOf(figured, mode);
  if (exact === undefined) return 0;
  const value = mode === "share" || mode === "signal" ? undefined : decimal.tryParse(exact);
  return value === undefined ? Number(exact) : decimal.toNumber(value);
}

const steps = 4;

/** "long-1" to "short-4": the sign, and how large it is beside the largest of the grid. */
export function shadeOf(figured: Figured, mode: Mode, largest: number): string | undefined {
  const size = sizeOf(figured, mode);
  if (size === 0 || largest === 0 || !Number.isFinite(size)) return undefined;
  const step = Math.min(steps, Math.max(1, Math.ceil((Math.abs(size) / largest) * steps)));
  return `${size > 0 ? "long" : "short"}-${step}`;
}

export function largestOf(cells: readonly Figured[], mode: Mode): number {
  return cells.reduce((most, cell) => Math.max(most, Math.abs(sizeOf(cell, mode))), 0);
}

interface Grid {
  readonly strategies: readonly string[];
  readonly symbols: readonly string[];
  cell(strategyId: string, symbol: string): MatrixCell | undefined;
}

export function gridOf({ cells, by_strategy, by_symbol }: Pick<Matrix, "cells" | "by_strategy" | "by_symbol">): Grid {
  const found = new Map(cells.map((cell) => [JSON.stringify([cell.strategy_id, cell.symbol]), cell]));
  return {
    strategies: by_strategy.map(({ strategy_id }) => strategy_id),
    symbols: by_symbol.map(({ symbol }) => symbol),
    cell: (strategyId, symbol) => found.get(JSON.stringify([strategyId, symbol])),
  };
}

/** Symbols of which some typed word is a part; all when nothing is typed. */
export function symbolsShown(symbols: readonly string[], typed: string | undefined): readonly string[] {
  const words = (typed ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? symbols : symbols.filter((one) => words.some((word) => one.toLowerCase().includes(word)));
}

export type Pair = Matrix["correlations"]["pairs"][number];

/** Either way round. */
export function pairsBySymbols(pairs: readonly Pair[]): (one: string, other: string) => Pair | undefined {
  const found = new Map(
    pairs.flatMap((pair) => [
      [JSON.stringify([pair.a, pair.b]), pair] as const,
      [JSON.stringify([pair.b, pair.a]), pair] as const,
    ]),
  );
  return (one, other) => found.get(JSON.stringify([one, other]));
}

/** Why two symbols have no correlation. */
export function whyNone({ reason }: Pick<Pair, "reason">): string {
  if (reason === undefined) return "?";
  return reason === "TOO_FEW" ? "too few days" : "did not move";
}
