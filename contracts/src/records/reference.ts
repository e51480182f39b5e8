// Reference data: what may be traded, by which funds, at which rates, and what it costs to borrow. Each kind is one document that is
// replaced as a whole, so that a reader never sees half a change; its version counts its changes.
import { z } from "zod";
import type { CalendarDefinition } from "../calendar.ts";
import {
  countNumber,
  currencyText,
  dateText,
  decimalText,
  hashText,
  idText,
  instantText,
  nameText,
  nonNegativeDecimalText,
  positiveDecimalText,
  reasonText,
  symbolText,
} from "./fields.ts";
import { instrument, pricedBy } from "./market.ts";
import { fundMode } from "./values.ts";

export const referenceKind = z.enum(["instruments", "funds", "fx", "borrow", "restricted", "calendars", "venues"]);
export type ReferenceKind = z.infer<typeof referenceKind>;

/** A fund and the strategies that trade for it; fund and strategy ids share one namespace. */
const fundReference = z.strictObject({
  fund_id: idText,
  name: nameText,
  mode: fundMode,
  /** Its value, its limits and its exposures are in this currency. */
  currency: currencyText,
  /** The calendar that its trading day follows. */
  calendar: idText,
  strategies: z.array(idText).max(1_000),
  /** The source whose values count: a token's name over gRPC, a login's over NATS. It may have no token yet. */
  valued_by: idText.optional(),
});
export type FundReference = z.infer<typeof fundReference>;

/** How funds name our own treasury as the source of their values. */
export const ownValuer = "treasury";

/** Whose values of the fund count; undefined: nobody's. Our treasury values PAPER funds alone, and those that name no other source. */
export function valuerOf({ mode, valued_by: named }: Pick<FundReference, "mode" | "valued_by">): string | undefined {
  return named ?? (mode === "PAPER" ? ownValuer : undefined);
}

/** One unit of `base` is worth `rate` units of `quote`. */
const fxRate = z.strictObject({
  base: currencyText,
  quote: currencyText,
  rate: positiveDecimalText,
  as_of: instantText,
});
export type FxRate = z.infer<typeof fxRate>;

/** What can be borrowed of a symbol, and at which yearly fee as a fraction. */
const borrow = z.strictObject({
  symbol: symbolText,
  available_quantity: nonNegativeDecimalText,
  fee_pct: decimalText,
  as_of: instantText,
});
export type Borrow = z.infer<typeof borrow>;

/** New risk in a restricted symbol is denied; what is held may be reduced. */
const restriction = z.strictObject({ symbol: symbolText, reason: reasonText });
export type Restriction = z.infer<typeof restriction>;

const weekdayNumber = z.union([
  z.literal(1),
  z.literal(2),
  z.literal(3),
  z.literal(4),
  z.literal(5),
  z.literal(6),
  z.literal(7),
]);
const timeOfDayText = z
  .string()
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, "expected a time of day such as 09:30");

/** A trading calendar as `calendar.ts` defines it; whether its sessions make sense is asked of `tradingCalendar`. */
export const calendarReference = z.strictObject({
  name: idText,
  /** IANA, for example America/New_York. */
  zone: nameText,
  /** Local times; Monday is 1. "always" for a market that never closes. */
  sessions: z.union([
    z.literal("always"),
    z
      .array(z.strictObject({ weekday: weekdayNumber, open: timeOfDayText, close: timeOfDayText }))
      .min(1)
      .max(100),
  ]),
  /** Dates without a session. */
  holidays: z.array(dateText).max(10_000),
  /** Dates whose sessions end earlier, with the local time at which they do. */
  early_closes: z.record(dateText, timeOfDayText),
  /** The last date up to which holidays are known; absent when there are none to know. */
  known_until: dateText.optional(),
});
export type CalendarReference = z.infer<typeof calendarReference>;

/** The definition that `tradingCalendar` takes. */
export function calendarDefinition(reference: CalendarReference): CalendarDefinition {
  const { name, zone, sessions, holidays, early_closes: earlyCloses, known_until: knownUntil } = reference;
  return { name, zone, sessions, holidays, earlyCloses, ...(knownUntil !== undefined && { knownUntil }) };
}

/** The same the other way round: a calendar that comes with the platform, as reference data has it. */
export function calendarReferenceOf(definition: CalendarDefinition): CalendarReference {
  const { name, zone, sessions, holidays, earlyCloses, knownUntil } = definition;
  return {
    name,
    zone,
    sessions: sessions === "always" ? sessions : sessions.map((session) => ({ ...session })),
    holidays: [...holidays],
    early_closes: { ...earlyCloses },
    ...(knownUntil !== undefined && { known_until: knownUntil }),
  };
}

/** A venue, as instruments name it, and whose prices of what is traded there count. */
const venueReference = z.strictObject({ venue: nameText, priced_by: pricedBy.min(1) });

/** How many records a document has at most. */
export const referenceCountMax: Readonly<Record<ReferenceKind, number>> = {
  instruments: 100_000,
  funds: 100_000,
  fx: 10_000,
  borrow: 100_000,
  restricted: 100_000,
  calendars: 1_000,
  venues: 1_000,
};

/** The content of each kind. */
export const referenceContents = {
  // Who sets an instrument asks for something: a misspelt key must not be dropped in silence.
  instruments: z.array(z.strictObject(instrument.shape)).max(referenceCountMax.instruments),
  funds: z.array(fundReference).max(referenceCountMax.funds),
  fx: z.array(fxRate).max(referenceCountMax.fx),
  borrow: z.array(borrow).max(referenceCountMax.borrow),
  restricted: z.array(restriction).max(referenceCountMax.restricted),
  calendars: z.array(calendarReference).max(referenceCountMax.calendars),
  venues: z.array(venueReference).max(referenceCountMax.venues),
} as const;
export type ReferenceContents = { readonly [Kind in ReferenceKind]: z.infer<(typeof referenceContents)[Kind]> };

/** What changed, without the content itself: the hash says which, and the store has it. */
export const referenceChanged = z.object({
  kind: referenceKind,
  version: countNumber,
  set_by: nameText,
  set_at: instantText,
  reason: reasonText,
  hash: hashText,
  /** What it loosens, record by record (the first 200), and that its second factor was proved; absent when it loosens nothing. */
  loosening: z
    .object({
      fields: z.array(z.string().max(400)).max(200),
      second_factor: z.literal(true),
      /** The second person, where a halt was in force. */
      cosigned_by: nameText.optional(),
      request_id: idText.optional(),
    })
    .optional(),
});
export type ReferenceChanged = z.infer<typeof referenceChanged>;

/** Somebody asked for a change that loosens during a halt; nothing has changed until another person signs. */
export const referenceRequested = z.object({
  request_id: idText,
  kind: referenceKind,
  version: countNumber,
  hash: hashText,
  reason: reasonText,
  /** What it loosens, record by record (the first 200). */
  loosens: z.array(z.string().max(400)).max(200),
  requested_by: nameText,
  expires_at: instantText,
  at: instantText,
});
