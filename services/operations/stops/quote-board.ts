// What the stops know of the market: the newest quote of every symbol, as it came, and the instruments. Quotes that no price can be made of stay in,
// because a stop must know that its quote is bad. The simulated market's are for PAPER funds alone; LIVE funds are judged by marks from outside.
import type { Instrument, Quote } from "../../../contracts/src/records/market.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";

const lookEveryMs = 1_000;

export interface QuoteBoard {
  /** That the fund may see. */
  newest(symbol: string, fundId: string): Quote | undefined;
  /** False while the price that the fund may see has jumped and is not confirmed. */
  isBelieved(symbol: string, fundId: string): boolean;
  instrument(symbol: string): Instrument | undefined;
  /** Resolves when the instruments are known, or the board is stopped. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

type QuoteBoardPorts = Pick<ServicePorts, "timers" | "log" | "crash" | "referenceData">;

/** The newest quote of each symbol as it came: the simulated market's, and from outside. */
export interface QuoteSources {
  readonly simulated: ReadonlyMap<string, Quote>;
  readonly live: ReadonlyMap<string, Quote>;
  /** Of those from outside; all are where nobody says. */
  isBelieved?(symbol: string): boolean;
}

export function startQuoteBoard(
  ports: QuoteBoardPorts,
  { simulated, live, isBelieved = () => true }: QuoteSources,
): QuoteBoard {
  let instruments: ReadonlyMap<string, Instrument> = new Map();
  let paperFunds: ReadonlySet<string> = new Set();
  let change = -1;
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });

  async function follow(): Promise<number> {
    if ((await ports.referenceData.changed()) === change) return lookEveryMs;
    const reference = await ports.referenceData.read();
    instruments = new Map(reference.instruments.map((one) => [one.symbol, one]));
    paperFunds = new Set(reference.funds.flatMap(({ fund_id, mode }) => (mode === "PAPER" ? [fund_id] : [])));
    change = reference.change;
    isReady();
    return lookEveryMs;
  }

  const loop = startLoop({ ports, what: "the stops' instruments", firstAfterMs: 0, run: follow });
  return {
    newest: (symbol, fundId) => (paperFunds.has(fundId) ? simulated.get(symbol) : undefined) ?? live.get(symbol),
    isBelieved: (symbol, fundId) => (paperFunds.has(fundId) && simulated.has(symbol)) || isBelieved(symbol),
    instrument: (symbol) => instruments.get(symbol),
    ready: () => ready,
    stop: async () => {
      await loop.stop();
      isReady();
    },
  };
}
