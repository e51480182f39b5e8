// What a change of an envelope does, field by field: it loosens what lets more through, and tightens what lets less through. An update
// that loosens anything loosens as a whole, however much else it tightens. testkit/authority/envelope-words.ts says it in words, for every field.
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";

export type EnvelopeEffect = "TIGHTENS" | "LOOSENS" | "NEUTRAL";

export interface EnvelopeChange {
  /** The envelope's field; a sector's limit is sector_limits_pct.<sector>. */
  readonly field: string;
  /** As they are written in JSON; empty when absent. */
  readonly before: string;
  readonly after: string;
  readonly effect: EnvelopeEffect;
}

/** What a field says about two envelopes that differ in it. */
type Judge = (before: RiskEnvelope, after: RiskEnvelope) => EnvelopeEffect;
type LimitField = (typeof limits)[number] | "exit_collar_pct";
type ListField = (typeof lists)[number];

/** A higher one lets more through; one that is absent lets everything through. */
const limits = [
  "max_position_pct",
  "daily_loss_halt_pct",
  "weekly_loss_halt_pct",
  "monthly_loss_halt_pct",
  "synthetic_stop_pct",
  "max_notional",
  "max_gross_exposure_pct",
  "max_net_exposure_pct",
  "max_stress_loss_pct",
  "max_borrow_fee_pct",
  "order_rate_max_per_s",
  "strategy_loss_halt_pct",
  "rolling_24h_loss_halt_pct",
  "rolling_5d_loss_halt_pct",
  "high_water_loss_halt_pct",
  "repeated_execution_max",
] as const satisfies readonly (keyof RiskEnvelope)[];

const lists = [
  "allowed_brokers",
  "allowed_order_types",
  "allowed_asset_classes",
] as const satisfies readonly (keyof RiskEnvelope)[];

/** Every field that has a single value, in the order in which changes are reported. */
const judges: readonly (readonly [field: keyof RiskEnvelope, judge: Judge])[] = [
  ...limits.map((field) => [field, limit(field)] as const),
  ["price_collar_pct", collar],
  ["exit_collar_pct", limit("exit_collar_pct")],
  ["shorting_enabled", (_before, after) => loosensIf(after.shorting_enabled)],
  ["strict_sides", (_before, after) => loosensIf(after.strict_sides !== true)],
  ["halt_allow_reduce_only", (_before, after) => loosensIf(after.halt_allow_reduce_only)],
  ["cro_veto_enabled", (_before, after) => loosensIf(after.cro_veto_enabled !== true)],
  ["cro_veto_timeout_ms", croTimeout],
  ["cro_veto_on_timeout", croPolicy],
  ["repeated_execution_window_s", repeatedWindow],
];

/** The fields that differ; both envelopes must say what applies, with their defaults in place. */
export function changesBetween(before: RiskEnvelope, after: RiskEnvelope): readonly EnvelopeChange[] {
  const single = judges.flatMap(([field, judge]): EnvelopeChange[] =>
    before[field] === after[field]
      ? []
      : [{ field, before: text(before[field]), after: text(after[field]), effect: judge(before, after) }],
  );
  return [...single, ...lists.flatMap((field) => listChange(field, before, after)), ...sectorChanges(before, after)];
}

/** A fund's first envelope: without one nothing was allowed, so whatever it says loosens. */
export function firstChanges(after: RiskEnvelope): readonly EnvelopeChange[] {
  const fields = [...judges.map(([field]) => field), ...lists].filter((field) => after[field] !== undefined);
  const sectors = Object.entries(after.sector_limits_pct).map(
    ([sector, value]) => [sectorField(sector), value] as const,
  );
  return [...fields.map((field) => [field, after[field]] as const), ...sectors].map(
    ([field, value]): EnvelopeChange => ({ field, before: "", after: text(value), effect: "LOOSENS" }),
  );
}

/** Whether any of them lets more through. */
export function loosens(changes: readonly EnvelopeChange[]): boolean {
  return changes.some((change) => change.effect === "LOOSENS");
}

/** Whether exits get out, and at what price: narrowing them can lock positions in, so either direction needs the second factor. */
const guarded: ReadonlySet<string> = new Set(["halt_allow_reduce_only", "exit_collar_pct"]);

/** Those that are not made without a reason and a second factor. */
export function guardedChanges(changes: readonly EnvelopeChange[]): readonly EnvelopeChange[] {
  return changes.filter(({ field, effect }) => effect === "LOOSENS" || guarded.has(field));
}

function limit(field: LimitField): Judge {
  return (before, after) => higherLoosens(before[field] ?? Infinity, after[field] ?? Infinity);
}

function higherLoosens(before: number, after: number): EnvelopeEffect {
  return loosensIf(after > before);
}

function loosensIf(loose: boolean): EnvelopeEffect {
  return loose ? "LOOSENS" : "TIGHTENS";
}

/**
 * A wider collar accepts prices that were refused. A narrower one accepts fewer, but it also values orders that name no highest price lower,
 * so more of them fit under every limit: where such orders are allowed it loosens too, either way.
 */
function collar(before: RiskEnvelope, after: RiskEnvelope): EnvelopeEffect {
  const valuesByIt = after.allowed_order_types.some((type) => type === "MARKET" || type === "STOP");
  return loosensIf(valuesByIt || (after.price_collar_pct ?? Infinity) > (before.price_collar_pct ?? Infinity));
}

/** While the gate is off on either side, turning it on or off is the whole story, and how it waits says nothing more. */
function croOnBothSides(before: RiskEnvelope, after: RiskEnvelope): boolean {
  return before.cro_veto_enabled === true && after.cro_veto_enabled === true;
}

/** Whatever is approved when silence denies is also approved when silence passes, however long either waits. */
function croPolicy(before: RiskEnvelope, after: RiskEnvelope): EnvelopeEffect {
  return croOnBothSides(before, after) ? loosensIf(after.cro_veto_on_timeout === "PASS_WITH_WARNING") : "NEUTRAL";
}

/** Less time to veto lets more through only where silence passes; where it denies, an officer who is waited for still decides. */
function croTimeout(before: RiskEnvelope, after: RiskEnvelope): EnvelopeEffect {
  const silencePasses =
    before.cro_veto_on_timeout === "PASS_WITH_WARNING" && after.cro_veto_on_timeout === "PASS_WITH_WARNING";
  if (!silencePasses || !croOnBothSides(before, after)) return "NEUTRAL";
  return higherLoosens(after.cro_veto_timeout_ms ?? 0, before.cro_veto_timeout_ms ?? 0);
}

/** A shorter window counts fewer executions; without a throttle on both sides it counts none. */
function repeatedWindow(before: RiskEnvelope, after: RiskEnvelope): EnvelopeEffect {
  if (before.repeated_execution_max === undefined || after.repeated_execution_max === undefined) return "NEUTRAL";
  return higherLoosens(after.repeated_execution_window_s ?? 0, before.repeated_execution_window_s ?? 0);
}

/** Lists are sets: their order and repetitions say nothing. */
function listChange(field: ListField, before: RiskEnvelope, after: RiskEnvelope): readonly EnvelopeChange[] {
  const then: ReadonlySet<string> = new Set(before[field]);
  const now: ReadonlySet<string> = new Set(after[field]);
  const added = [...now].some((entry) => !then.has(entry));
  const removed = [...then].some((entry) => !now.has(entry));
  if (!added && !removed) return [];
  return [{ field, before: text(before[field]), after: text(after[field]), effect: loosensIf(added) }];
}

function sectorChanges(before: RiskEnvelope, after: RiskEnvelope): readonly EnvelopeChange[] {
  const then = new Map(Object.entries(before.sector_limits_pct));
  const now = new Map(Object.entries(after.sector_limits_pct));
  return [...new Set([...then.keys(), ...now.keys()])].sort().flatMap((sector): EnvelopeChange[] => {
    const [old, young] = [then.get(sector), now.get(sector)];
    if (old === young) return [];
    const effect = higherLoosens(old ?? Infinity, young ?? Infinity);
    return [{ field: sectorField(sector), before: text(old), after: text(young), effect }];
  });
}

function sectorField(sector: string): string {
  return `sector_limits_pct.${sector}`;
}

function text(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}
