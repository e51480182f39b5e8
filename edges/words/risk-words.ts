// What denies new risk, and how a watchdog stands, in the words of every face.
import type { AnswerOf } from "../client/src/types.ts";

type Block = AnswerOf<"listBlocks">[number];
type Watchdog = AnswerOf<"listWatchdogs">[number];

/** From the gravest on. */
export const watchdogStates = ["ACTION", "WARN", "STALE", "PAUSED", "WARMUP", "OK"] as const;
export type WatchdogWord = (typeof watchdogStates)[number];

/** Paused is a state of its own here: what nobody watches is not in order. */
export function watchdogWord({ state, paused }: Pick<Watchdog, "state" | "paused">): WatchdogWord {
  return paused === null ? state : "PAUSED";
}

/** "firm", "fund alpha", "symbol alpha AAPL". */
export function blockScope({ scope, fund_id, strategy_id, symbol }: Block): string {
  if (scope === "firm") return "firm";
  const names = { fund: fund_id, strategy: strategy_id, symbol: [fund_id, symbol].filter(Boolean).join(" ") };
  return `${scope} ${names[scope] ?? ""}`.trim();
}
