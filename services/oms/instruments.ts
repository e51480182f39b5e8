// What order management knows of instruments and prices: the reference data, read again when it changed, and the newest mark of each symbol,
// heard on the bus. Both are soft: after a restart there is no price until a fresh one comes.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import type { Instrument, Mark } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { OmsPorts } from "./oms-parts.ts";
import { createHeardQuotes, type HeardQuotes } from "./quotes/heard-quotes.ts";

/** One mark per symbol is kept while we are busy. */
const marksMax = 100_000;

export interface Priced {
  readonly price: decimal.Decimal;
  readonly at: Instant;
}

export interface Instruments {
  /** Reads again when it is not known. */
  find(symbol: string): Promise<Instrument | undefined>;
  /** What one unit of price is worth; one when the instrument is not known. */
  multiplier(symbol: string): Promise<decimal.Decimal>;
  /** The newest price, if it is not older than new risk may be decided on. */
  freshPrice(symbol: string): Priced | undefined;
  /** Bid and ask of the last moments. */
  readonly quotes: HeardQuotes;
  /** What was heard of its price is of other terms than those that it has now. */
  forgetPrice(symbol: string): void;
  stop(): Promise<void>;
}

export async function openInstruments(ports: OmsPorts): Promise<Instruments> {
  const marks = new Map<string, Priced>();
  const quotes = createHeardQuotes();
  let known: ReadonlyMap<string, Instrument> = new Map();
  let change = -1;

  async function find(symbol: string): Promise<Instrument | undefined> {
    if ((await ports.referenceData.changed()) !== change) {
      const reference = await ports.referenceData.read();
      known = new Map(reference.instruments.map((instrument) => [instrument.symbol, instrument]));
      change = reference.change;
    }
    return known.get(symbol);
  }

  const listening = await ports.bus.listen(
    { subjects: [subjects.marketMarks.name], queueMax: marksMax, overflow: "keep-newest-per-key" },
    async ({ payload }) => {
      const mark = payload as Mark;
      quotes.hear(mark, ports.clock.now());
      const at = parse(mark.at);
      const before = marks.get(mark.symbol);
      if (before === undefined || at >= before.at) marks.set(mark.symbol, { price: decimal.parse(mark.price), at });
    },
  );
  return {
    find,
    async multiplier(symbol) {
      const instrument = await find(symbol);
      return instrument === undefined ? decimal.one : decimal.parse(instrument.multiplier);
    },
    freshPrice(symbol) {
      const priced = marks.get(symbol);
      if (priced === undefined) return undefined;
      const ageMs = millisecondsBetween(priced.at, ports.clock.now());
      return ageMs <= ports.settings.risk.markAgeMsMax ? priced : undefined;
    },
    quotes,
    forgetPrice(symbol) {
      marks.delete(symbol);
      quotes.forget(symbol);
    },
    stop: () => listening.close(),
  };
}
