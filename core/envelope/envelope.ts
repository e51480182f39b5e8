// A fund's limits, ready for the gates: fractions and money as exact decimals, lists as sets. The record is what is stored, hashed and
// shown; the compiled form is made once per version, so that a check converts nothing.
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { RiskEnvelope as RiskEnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import { type RiskEnvelope, riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { type Amount, amountOf } from "../money/amount.ts";
import { changesBetween, type EnvelopeChange, firstChanges } from "./changes.ts";
import { effective, envelopeDefaults, exitCollarOf, withDefaults } from "./defaults.ts";
import { envelopeMistakes } from "./rules.ts";

export interface Envelope {
  readonly record: RiskEnvelope;
  readonly fundId: string;
  readonly version: number;
  /** Shares of NAV: 0.07 is 7 %. */
  readonly maxPosition: Amount;
  readonly maxGrossExposure: Amount;
  readonly maxNetExposure: Amount;
  readonly sectorLimits: ReadonlyMap<string, Amount>;
  /** What options may lose in the stress; undefined is off. */
  readonly maxStressLoss: Amount | undefined;
  /** In the fund's currency. */
  readonly maxNotional: Amount;
  readonly allowedBrokers: ReadonlySet<string>;
  readonly allowedOrderTypes: ReadonlySet<string>;
  readonly allowedAssetClasses: ReadonlySet<string>;
  readonly shortingEnabled: boolean;
  /** A yearly fraction. */
  readonly maxBorrowFee: Amount;
  /** A fraction of the reference price. */
  readonly priceCollar: Amount;
  /** The same for the prices of marked and proven exits; never below the other. */
  readonly exitCollar: Amount;
  /** Sides must fit the position. */
  readonly strictSides: boolean;
  readonly orderRateMaxPerS: number;
  readonly haltAllowReduceOnly: boolean;
  /** Undefined is off. */
  readonly repeatedExecutionMax: number | undefined;
  readonly repeatedExecutionWindowMs: number;
  readonly croVetoEnabled: boolean;
  readonly croVetoTimeoutMs: number;
  readonly croVetoOnTimeout: "DENY" | "PASS_WITH_WARNING";
}

/** The form that gates read, of a record that is valid. */
export function compileEnvelope(record: RiskEnvelope): Envelope {
  const applies = effective(record);
  return {
    record,
    fundId: record.fund_id,
    version: record.version,
    maxPosition: amountOf(decimal.fromNumber(record.max_position_pct)),
    maxGrossExposure: amountOf(decimal.fromNumber(record.max_gross_exposure_pct)),
    maxNetExposure: amountOf(decimal.fromNumber(record.max_net_exposure_pct)),
    sectorLimits: new Map(
      Object.entries(record.sector_limits_pct).map(([sector, limit]) => [sector, amountOf(decimal.fromNumber(limit))]),
    ),
    maxStressLoss:
      record.max_stress_loss_pct === undefined ? undefined : amountOf(decimal.fromNumber(record.max_stress_loss_pct)),
    maxNotional: amountOf(decimal.fromNumber(record.max_notional)),
    allowedBrokers: new Set(record.allowed_brokers),
    allowedOrderTypes: new Set(record.allowed_order_types),
    allowedAssetClasses: new Set(record.allowed_asset_classes),
    shortingEnabled: record.shorting_enabled,
    maxBorrowFee: amountOf(decimal.fromNumber(record.max_borrow_fee_pct)),
    priceCollar: amountOf(decimal.fromNumber(record.price_collar_pct)),
    exitCollar: amountOf(decimal.fromNumber(exitCollarOf(record))),
    strictSides: applies.strict_sides === true,
    orderRateMaxPerS: record.order_rate_max_per_s,
    haltAllowReduceOnly: record.halt_allow_reduce_only,
    repeatedExecutionMax: record.repeated_execution_max,
    repeatedExecutionWindowMs:
      (applies.repeated_execution_window_s ?? envelopeDefaults.repeated_execution_window_s) * 1_000,
    croVetoEnabled: applies.cro_veto_enabled === true,
    croVetoTimeoutMs: applies.cro_veto_timeout_ms ?? envelopeDefaults.cro_veto_timeout_ms,
    croVetoOnTimeout: applies.cro_veto_on_timeout ?? envelopeDefaults.cro_veto_on_timeout,
  };
}

/**
 * The record of an envelope as somebody asks for it, with the defaults of what they left out; or a denial that names every mistake.
 * Who, when and the hash are the engine's to write, so they are not taken from here.
 */
export function readEnvelope(message: RiskEnvelopeMessage): { readonly record: RiskEnvelope } | Denial {
  const asked = Object.fromEntries(Object.entries(withDefaults(message)).filter(([, value]) => value !== undefined));
  const read = riskEnvelope.safeParse(asked);
  const mistakes = envelopeMistakes(asked, read.error?.issues ?? []);
  if (read.success && mistakes.length === 0) return { record: read.data };
  return { code: "ENVELOPE_INVALID", reason: mistakes.join(" ") };
}

/** The message of a record; the same figures under the same names. */
export function envelopeMessage(record: RiskEnvelope): RiskEnvelopeMessage {
  return {
    ...record,
    allowed_brokers: [...record.allowed_brokers],
    allowed_order_types: [...record.allowed_order_types],
    allowed_asset_classes: [...record.allowed_asset_classes],
    sector_limits_pct: { ...record.sector_limits_pct },
    ...(record.loosening && { loosening: { ...record.loosening, fields: [...record.loosening.fields] } }),
  } as RiskEnvelopeMessage;
}

/**
 * What an update changes, field by field, by what applies: a field that was absent and now states its default has not changed. Version,
 * reason and what the engine writes are no limits and are not listed. Before a fund's first envelope nothing was allowed.
 */
export function envelopeChanges(before: RiskEnvelope | undefined, after: RiskEnvelope): readonly EnvelopeChange[] {
  return before === undefined ? firstChanges(effective(after)) : changesBetween(effective(before), effective(after));
}

/**
 * The text whose SHA-256 is the envelope's hash: JSON of every field but `hash` itself, keys sorted, no spaces, absent fields left out.
 * Who set it, when and why are in it, so that none of them can be changed unseen.
 */
export function envelopeHashText(record: RiskEnvelope): string {
  const { hash: _, ...hashed } = record;
  return canonicalText(hashed);
}

/** Written key by key, because an object's own order puts keys that look like numbers first. */
function canonicalText(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${isMap(member) ? canonicalText(member) : JSON.stringify(member)}`);
  return `{${members.join(",")}}`;
}

function isMap(member: unknown): member is object {
  return typeof member === "object" && member !== null && !Array.isArray(member);
}
