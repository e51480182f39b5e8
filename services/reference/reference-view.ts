// The reference data as treasury looks things up in it, read again whenever its number of changes moved.
import { type TradingCalendar, tradingCalendar } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { calendarDefinition, type FundReference } from "../../contracts/src/records/reference.ts";
import type { Reference, ReferenceData } from "../../ports/reference-data.ts";
import { namedSources } from "../shared/price-sources.ts";

interface Rate {
  readonly rate: decimal.Decimal;
  readonly asOf: Instant;
}

export interface ReferenceView {
  readonly reference: Reference;
  readonly funds: ReadonlyMap<string, FundReference>;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly calendars: ReadonlyMap<string, TradingCalendar>;
  /** Whose prices count, by symbol; not those for which nobody is named. */
  readonly pricedBy: ReadonlyMap<string, readonly string[]>;
  /** By `<base>/<quote>`, as they were set. */
  readonly rates: ReadonlyMap<string, Rate>;
}

export interface ReferenceReader {
  /** As it was last read; empty before. */
  current(): ReferenceView;
  /** Reads again if anything changed. */
  refresh(): Promise<ReferenceView>;
}

const nothing: Reference = {
  instruments: [],
  funds: [],
  fx: [],
  borrow: [],
  restricted: [],
  venues: [],
  calendars: [],
  versions: { instruments: 0, funds: 0, fx: 0, borrow: 0, restricted: 0, calendars: 0, venues: 0 },
  change: -1,
};

export function referenceReader(referenceData: ReferenceData): ReferenceReader {
  let view = viewOf(nothing);
  return {
    current: () => view,
    refresh: async () => {
      if ((await referenceData.changed()) !== view.reference.change) view = viewOf(await referenceData.read());
      return view;
    },
  };
}

export function viewOf(reference: Reference): ReferenceView {
  return {
    reference,
    funds: new Map(reference.funds.map((fund) => [fund.fund_id, fund])),
    instruments: new Map(reference.instruments.map((instrument) => [instrument.symbol, instrument])),
    calendars: new Map(
      reference.calendars.map((calendar) => [calendar.name, tradingCalendar(calendarDefinition(calendar))]),
    ),
    pricedBy: namedSources(reference),
    rates: new Map(
      reference.fx.map(({ base, quote, rate, as_of }) => [
        `${base}/${quote}`,
        { rate: decimal.parse(rate), asOf: parse(as_of) },
      ]),
    ),
  };
}

/** Units of `to` per unit of `from`, by the rate between them in either direction; undefined when there is none. */
export function rateBetween(view: ReferenceView, from: string, to: string): Rate | undefined {
  const direct = view.rates.get(`${from}/${to}`);
  if (direct !== undefined) return direct;
  const inverse = view.rates.get(`${to}/${from}`);
  if (inverse === undefined) return undefined;
  return { rate: decimal.divide(decimal.one, inverse.rate, "half-even"), asOf: inverse.asOf };
}
