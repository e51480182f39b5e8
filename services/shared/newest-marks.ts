// The newest price of each symbol, as funds of each mode may see it. What the simulated market says is for PAPER funds alone; what anybody else says is
// for LIVE funds, and for PAPER ones while the simulated market has not said a price of the symbol. The risk engine keeps the same rule
// (core/exposure/hear-mark.ts).
import { type Instant, parse } from "../../contracts/src/instant.ts";
import { isPossiblePrice, isSimulated, type Mark } from "../../contracts/src/records/market.ts";
import type { PriceSources } from "../../core/exposure/price-sources.ts";
import { isAhead, isNewest } from "../../core/state/dated.ts";

/** Symbols that are kept; more than any platform lists. Those that come after are not heard. */
const symbolsMax = 100_000;

export interface NewestMarks<Priced> {
  /** Whether it is of a source whose prices count. */
  hear(mark: Mark, now: Instant): boolean;
  /** By symbol, as LIVE funds may see it. */
  readonly live: ReadonlyMap<string, Priced>;
  /** By symbol, as PAPER funds see it. */
  readonly paper: ReadonlyMap<string, Priced>;
  /** Whether PAPER funds go by marks of that source. */
  isSeenOnPaper(mark: Mark): boolean;
  /** What was heard of it is of other terms than those that it has now, or nobody lists it any more. */
  forget(symbol: string): void;
}

export function createNewestMarks<Priced extends { readonly at: Instant }>(
  read: (mark: Mark, at: Instant) => Priced,
  sources: PriceSources,
): NewestMarks<Priced> {
  const live = new Map<string, Priced>();
  const paper = new Map<string, Priced>();
  const put = (known: Map<string, Priced>, symbol: string, priced: Priced): void => {
    if (known.has(symbol) || known.size < symbolsMax) known.set(symbol, priced);
  };
  /** Those in `paper` whose price is the simulated market's. */
  const simulated = new Set<string>();

  return {
    live,
    paper,
    hear(mark, now) {
      if (!isPossiblePrice(mark) || isAhead(parse(mark.at), now) || sources.judge(mark, now).kind !== "COUNTS")
        return false;
      const { symbol } = mark;
      const at = parse(mark.at);
      const isNewestOf = (known: Priced | undefined): boolean => isNewest(at, known?.at, now);
      if (isSimulated(mark)) {
        // From then on it is the only one that counts: two markets in turn would be none.
        if (!isNewestOf(simulated.has(symbol) ? paper.get(symbol) : undefined)) return true;
        put(paper, symbol, read(mark, at));
        if (paper.has(symbol)) simulated.add(symbol);
        return true;
      }
      if (isNewestOf(live.get(symbol))) put(live, symbol, read(mark, at));
      if (!simulated.has(symbol) && isNewestOf(paper.get(symbol))) put(paper, symbol, read(mark, at));
      return true;
    },
    isSeenOnPaper: (mark) => isSimulated(mark) || !simulated.has(mark.symbol),
    forget(symbol) {
      live.delete(symbol);
      paper.delete(symbol);
      simulated.delete(symbol);
    },
  };
}
