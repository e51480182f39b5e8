// `ctl treasury instruments list`: what may be traded, and in which steps of price and quantity.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryInstrumentsList: Verb = {
  name: "treasury instruments list",
  heading: "Reference data",
  sentence: "List the instruments that may be traded.",
  arguments: [],
  options: [...listOptions],
  examples: [{ command: "ctl treasury instruments list", sentence: "All of them, with their tick and lot." }],
  operation: "ListInstruments",
  changesState: false,
  run,
};

type Instrument = AnswerOf<"listInstruments">[number];

const columns: readonly Column<Instrument>[] = [
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "name", minor: 2, of: (one) => one.name },
  { name: "asset_class", of: (one) => one.asset_class },
  { name: "currency", of: (one) => one.currency },
  { name: "tick_size", of: (one) => one.tick_size },
  { name: "lot_size", of: (one) => one.lot_size },
  { name: "multiplier", of: (one) => one.multiplier },
  { name: "sector", of: (one) => one.sector },
  { name: "calendar", minor: 3, of: (one) => one.calendar },
  { name: "venue", of: (one) => one.venue, onlyCsv: true },
  { name: "underlying", of: (one) => one.underlying, onlyCsv: true },
  { name: "expiry", of: (one) => one.expiry, onlyCsv: true },
  { name: "strike", of: (one) => one.strike, onlyCsv: true },
  { name: "right", of: (one) => one.right, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).listInstruments();
  return listing(context, { columns, rows, none: "There are no instruments." });
}
