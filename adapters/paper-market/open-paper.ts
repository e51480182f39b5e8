// Opens the paper platform's outside world in a process: the market's quotes and past, and the broker. One process lets orders trade; the others
// only ask.

import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { SpeedChange } from "../../core/paper/market-time.ts";
import type { PaperPosition } from "../../core/paper/paper-positions.ts";
import type { PaperListing } from "../../core/paper/paper-prices.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Log } from "../../ports/log.ts";
import type { MarketHistory } from "../../ports/market-history.ts";
import type { Quotes } from "../../ports/quotes.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import { watchFaults } from "../paper-broker/faults-watch.ts";
import { startPaperMatching } from "../paper-broker/matching.ts";
import { type PaperBroker, paperBroker } from "../paper-broker/paper-broker.ts";
import type { PaperOutside, PaperPlace } from "../paper-broker/paper-place.ts";
import { type Endings, endAll } from "../system/end-all.ts";
import { type KnownActions, paperMarket, pricesOf } from "./paper-market.ts";
import { paperMarketHistory } from "./paper-market-history.ts";

interface OpenPaperOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly crash: Crash;
  readonly configuration: Pick<Configuration, "market" | "paper">;
  readonly place: PaperPlace;
  readonly listings: readonly PaperListing[];
  /** How fast the market has run from when on. */
  readonly speeds: readonly SpeedChange[];
  /** False in a process that uses neither market nor broker: then it is not asked for all the time. */
  readonly followsFaults: boolean;
  /** In the process where orders trade: what the broker's books begin with, if they have not begun. */
  readonly matching?: { readonly firstPositions: readonly PaperPosition[] };
}

interface OpenedPaper {
  readonly quotes: Quotes;
  readonly history: MarketHistory;
  readonly broker: PaperBroker;
  close(): Promise<void>;
}

export async function openPaper(options: OpenPaperOptions): Promise<OpenedPaper> {
  const { place, listings, log } = options;
  const { market, paper } = options.configuration;
  const beganAt = await place.beganAt();
  const outside = options.followsFaults ? await watchOutside(options) : undefined;
  const endings: Endings = [async () => outside?.close()];
  const faults = (): PaperWeather | undefined => outside?.now()?.faults;
  const marketOptions = {
    ...options,
    seed: market.seed,
    quoteEveryMs: market.quote_every_ms,
    speeds: options.speeds,
    sessions: market.sessions,
    beganAt,
    faults,
    ...(outside !== undefined && { actions: outside.now }),
  };
  const quotes = paperMarket(marketOptions);
  const broker = paperBroker({
    ...options,
    books: place.books,
    faults,
    instruments: pricesOf(marketOptions).listings,
    sessions: market.sessions,
    latencyMs: paper.latency_ms,
  });
  endings.push(() => broker.close());
  if (options.matching !== undefined) {
    try {
      if (await broker.begin(options.matching.firstPositions)) log.info("the paper broker's books begin");
      const symbols = listings.map(({ symbol }) => symbol);
      const matching = await startPaperMatching({ ...options, broker, quotes, symbols });
      endings.push(() => matching.stop());
    } catch (thrown) {
      await endAll(endings);
      throw thrown;
    }
  }
  return { quotes, history: paperMarketHistory(marketOptions), broker, close: () => endAll(endings) };
}

/** What was read last, and when. */
function watchOutside({ clock, place, ...options }: OpenPaperOptions) {
  const read = async (): Promise<PaperOutside & KnownActions> => {
    const readAt = clock.now();
    return { ...(await place.readOutside()), readAt };
  };
  const what = "simulated faults and corporate actions";
  return watchFaults<PaperOutside & KnownActions>({ ...options, read, onChange: place.onChange, what });
}
