// What order management knows of instruments and prices: the reference data, read again when it changed, and the newest mark of each symbol,
// heard on the bus. Both are soft: after a restart there is no price until a fresh one comes.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Instrument, Mark } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { createNewestMarks } from "../shared/newest-marks.ts";
import { followPriceSources } from "../shared/price-sources.ts";
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
  /** The newest price that the fund may see, if it is not older than new risk may be decided on. */
  freshPrice(symbol: string, fundId: string): Promise<Priced | undefined>;
  /** Bid and ask of the last moments, as PAPER funds see them: what trades here trades on paper. */
  readonly quotes: HeardQuotes;
  /** What was heard of its price is of other terms than those that it has now. */
  forgetPrice(symbol: string): void;
  stop(): Promise<void>;
}

export async function openInstruments(ports: OmsPorts): Promise<Instruments> {
  const sources = await followPriceSources(ports);
  const marks = createNewestMarks<Priced>(({ price }, at) => ({ price: decimal.parse(price), at }), sources);
  const quotes = createHeardQuotes();
  let known: ReadonlyMap<string, Instrument> = new Map();
  let paperFunds: ReadonlySet<string> = new Set();
  let change = -1;

  async function find(symbol: string): Promise<Instrument | undefined> {
    if ((await ports.referenceData.changed()) !== change) {
      const reference = await ports.referenceData.read();
      known = new Map(reference.instruments.map((instrument) => [instrument.symbol, instrument]));
      paperFunds = new Set(reference.funds.flatMap(({ fund_id, mode }) => (mode === "PAPER" ? [fund_id] : [])));
      change = reference.change;
    }
    return known.get(symbol);
  }

  const listening = await ports.bus.listen(
    { subjects: [subjects.marketMarks.name], queueMax: marksMax, overflow: "keep-newest-per-key" },
    async ({ payload }) => {
      const mark = payload as Mark;
      await sources.look(mark);
      const now = ports.clock.now();
      if (marks.hear(mark, now) && marks.isSeenOnPaper(mark)) quotes.hear(mark, now);
    },
  );
  return {
    find,
    async multiplier(symbol) {
      const instrument = await find(symbol);
      return instrument === undefined ? decimal.one : decimal.parse(instrument.multiplier);
    },
    async freshPrice(symbol, fundId) {
      await find(symbol);
      const priced = (paperFunds.has(fundId) ? marks.paper : marks.live).get(symbol);
      if (priced === undefined) return undefined;
      const ageMs = millisecondsBetween(priced.at, ports.clock.now());
      return ageMs <= ports.settings.risk.markAgeMsMax ? priced : undefined;
    },
    quotes,
    forgetPrice(symbol) {
      marks.forget(symbol);
      quotes.forget(symbol);
    },
    stop: () => listening.close(),
  };
}
