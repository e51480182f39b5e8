// What a change of reference data does to the limits, declared once for every kind, record and field: whether it loosens is judged by it
// (core/ledger/reference-changes.ts), and docs/authority.md shows it. A field that is added to a record has to get its word here; what has none loosens.
import type { ReferenceContents, ReferenceKind } from "./reference.ts";

/**
 * When a change of the field loosens: at every change, never, when its number grows or falls, when its moment is later, when its list gets an entry more, or
 * at every change but from nothing to something.
 */
export type FieldLoosens = "ALWAYS" | "NEVER" | "HIGHER" | "LOWER" | "LATER" | "MORE" | "ALL BUT FIRST";

/** What a record that comes or goes does as a whole; IF STILL RATED: it loosens where the same pair stays the other way round. */
type RecordEffect = "LOOSENS" | "TIGHTENS" | "IF STILL RATED";

/** What makes a record so that changing it lets nothing through that was not let through before: then none of its changes loosens. */
type Unused = "NOTHING USES IT" | "NO ENVELOPE, ORDERS AND VALUES" | "NEW, NOT HELD, ON NO LIST" | "NONE";

interface FieldWord {
  readonly loosens: FieldLoosens;
  /** What a gate reads it for. */
  readonly why: string;
}

export interface KindWord<Field extends string = string> {
  /** The fields by which a record is known; another one is another record. */
  readonly key: readonly Field[];
  readonly added: RecordEffect;
  readonly removed: RecordEffect;
  readonly unused: Unused;
  readonly fields: Readonly<Record<Field, FieldWord>>;
}

type FieldOf<Kind extends ReferenceKind> = keyof ReferenceContents[Kind][number] & string;
type Words = { readonly [Kind in ReferenceKind]: KindWord<FieldOf<Kind>> };

const never = (why: string): FieldWord => ({ loosens: "NEVER", why });
const always = (why: string): FieldWord => ({ loosens: "ALWAYS", why });
const key = never("names the record");

export const referenceWords: Words = {
  instruments: {
    key: ["symbol"],
    added: "LOOSENS",
    // It could be added again as another, which nothing would ask about.
    removed: "LOOSENS",
    unused: "NEW, NOT HELD, ON NO LIST",
    fields: {
      symbol: key,
      name: never("is shown"),
      asset_class: always("which classes and sides an envelope allows"),
      currency: always("by which rate its positions count"),
      tick_size: always("which prices are possible"),
      lot_size: always("which quantities are possible"),
      multiplier: always("how much one unit counts"),
      sector: { loosens: "ALL BUT FIRST", why: "under which sector's limit it counts" },
      calendar: always("when it is traded"),
      venue: always("where it is traded"),
      isin: never("names it in reports to regulators"),
      priced_by: always("whose prices it counts at"),
      underlying: always("what an option's risk counts as"),
      expiry: always("how long an option runs"),
      strike: always("what an option delivers at"),
      right: always("which way an option goes"),
      price_jump_max: always("how far its price may move before it has to be confirmed"),
    },
  },
  funds: {
    key: ["fund_id"],
    added: "LOOSENS",
    removed: "TIGHTENS",
    unused: "NO ENVELOPE, ORDERS AND VALUES",
    fields: {
      fund_id: key,
      name: never("is shown"),
      mode: always("which prices and whose books it goes by"),
      currency: always("in which currency its limits are"),
      calendar: always("when its losses begin anew"),
      strategies: { loosens: "MORE", why: "which strategies may trade" },
      valued_by: always("whose values its limits and losses are counted from"),
    },
  },
  fx: {
    key: ["base", "quote"],
    added: "LOOSENS",
    removed: "IF STILL RATED",
    unused: "NONE",
    fields: {
      base: key,
      quote: key,
      rate: always("how much positions in another currency count"),
      as_of: { loosens: "LATER", why: "whether the rate is too old" },
    },
  },
  borrow: {
    key: ["symbol"],
    added: "LOOSENS",
    removed: "TIGHTENS",
    unused: "NONE",
    fields: {
      symbol: key,
      available_quantity: { loosens: "HIGHER", why: "how much may be sold short" },
      fee_pct: { loosens: "LOWER", why: "whether a short is too dear" },
      as_of: { loosens: "LATER", why: "whether the figures are too old" },
    },
  },
  restricted: {
    key: ["symbol"],
    added: "TIGHTENS",
    removed: "LOOSENS",
    unused: "NONE",
    fields: { symbol: key, reason: never("is shown") },
  },
  calendars: {
    key: ["name"],
    added: "LOOSENS",
    removed: "LOOSENS",
    unused: "NOTHING USES IT",
    fields: {
      name: key,
      zone: always("when sessions and trading days begin"),
      sessions: always("when it is traded"),
      holidays: always("when it is traded, and when losses begin anew"),
      early_closes: always("when it is traded"),
      known_until: always("whether its holidays are known"),
    },
  },
  venues: {
    key: ["venue"],
    added: "LOOSENS",
    removed: "LOOSENS",
    unused: "NOTHING USES IT",
    fields: { venue: key, priced_by: always("whose prices what is traded there counts at") },
  },
};
