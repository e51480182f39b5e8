// A first look at whatever a check will need of a fund and its strategy, so that memory brings all of it at once.
import type { StrategyBook } from "../records.ts";
import { glance, noteSheetPlace } from "./fund-state.ts";

/** Looks once at everything of a fund and its strategy that a check will need (`glance` says why). What it answers means nothing. */
export function touch(strategy: StrategyBook, slot: number): number {
  const glanced = glance(strategy, slot);
  const { id, pace, fund } = strategy;
  if (fund === undefined) return 0;
  noteSheetPlace(strategy, fund);
  const { envelope } = fund;
  const paces = (pace.cells[pace.base] ?? 0) + (fund.pace.cells[fund.pace.base] ?? 0);
  const limits = envelope === undefined ? 0 : envelope.version + envelope.orderRateMaxPerS + envelope.croVetoTimeoutMs;
  return glanced + paces + limits + fund.id.length + id.length;
}
