// The newest prices from outside, as quotes: what the stops of LIVE funds are judged by. A mark without bid and ask is both at its price. What the
// simulated market says is not heard here. Whoever writes prices down is told each that counts.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, parse } from "../../contracts/src/instant.ts";
import { isSimulated, type Mark, type Quote } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import {
  hearPrice,
  type PriceWatch,
  passPrices,
  rangeOf,
  sourcesCollar,
  watchPrice,
} from "../../core/exposure/price-jump.ts";
import { createNewestMarks } from "../shared/newest-marks.ts";
import { type FollowedSources, followPriceSources } from "../shared/price-sources.ts";
import type { ServicePorts } from "../shared/service.ts";

/** Marks that may wait; newer ones of the same symbol take the place of older ones. */
const marksQueueMax = 10_000;

interface OutsideQuotes {
  readonly newest: ReadonlyMap<string, Quote>;
  /** As prices on the bus made them. */
  readonly sources: FollowedSources;
  /** False while its price has jumped and is not confirmed (core/exposure/price-jump.ts): the risk engine judges alike. */
  isBelieved(symbol: string): boolean;
  stop(): Promise<void>;
}

export async function hearOutsideQuotes(
  ports: Pick<ServicePorts, "store" | "bus" | "clock" | "referenceData" | "settings" | "log">,
  tell: (quote: Quote, source: string) => void = () => undefined,
): Promise<OutsideQuotes> {
  const { bus, clock, settings } = ports;
  const sources = await followPriceSources(ports);
  const marks = createNewestMarks(quoteOf, sources);
  const watches = new Map<string, PriceWatch>();
  const max = decimal.fromNumber(settings.risk.priceJumpMax);

  function look(mark: Mark): void {
    const { symbol, price, source } = mark;
    // Only what is kept is watched, and an option moves with its underlying.
    if (!marks.live.has(symbol) || mark.option_risk !== undefined) return;
    const watch = watches.get(symbol) ?? watchPrice();
    watches.set(symbol, watch);
    hearPrice(watch, decimal.parse(price), source, { max, least: decimal.zero, collar: sourcesCollar }, clock.now());
  }

  const listening = await bus.listen(
    { subjects: [subjects.marketMarks.name], queueMax: marksQueueMax, overflow: "keep-newest-per-key" },
    async ({ payload }) => {
      const mark = payload as Mark;
      if (isSimulated(mark)) return;
      await sources.look(mark);
      if (!marks.hear(mark, clock.now())) return;
      tell(quoteOf(mark, parse(mark.at)), mark.source);
      look(mark);
    },
  );
  return {
    newest: marks.live,
    sources,
    isBelieved(symbol) {
      const watch = watches.get(symbol);
      if (watch === undefined) return true;
      passPrices(watch, sourcesCollar, clock.now());
      return rangeOf(watch) === undefined;
    },
    stop: () => listening.close(),
  };
}

function quoteOf({ symbol, price, bid = price, ask = price }: Mark, at: Instant): Quote & { readonly at: Instant } {
  return { symbol, bid, ask, last: price, quoted_at: format(at), at };
}
