// What the stops know of the market: the newest quote of every symbol, as it came, and the instruments. Quotes that no price can be made of stay in,
// because a stop must know that its quote is bad.
import type { Instrument, Quote } from "../../../contracts/src/records/market.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { startWorkerLoop } from "../worker-loop.ts";

const lookEveryMs = 1_000;

export interface QuoteBoard {
  newest(symbol: string): Quote | undefined;
  instrument(symbol: string): Instrument | undefined;
  /** Resolves when the instruments are known, or the board is stopped. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export type QuoteBoardPorts = Pick<ServicePorts, "timers" | "log" | "crash" | "referenceData">;

export function startQuoteBoard(ports: QuoteBoardPorts, newest: ReadonlyMap<string, Quote>): QuoteBoard {
  let instruments: ReadonlyMap<string, Instrument> = new Map();
  let change = -1;
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });

  async function follow(): Promise<number> {
    if ((await ports.referenceData.changed()) === change) return lookEveryMs;
    const reference = await ports.referenceData.read();
    instruments = new Map(reference.instruments.map((one) => [one.symbol, one]));
    change = reference.change;
    isReady();
    return lookEveryMs;
  }

  const loop = startWorkerLoop({ ports, what: "the stops' instruments", firstAfterMs: 0, run: follow });
  return {
    newest: (symbol) => newest.get(symbol),
    instrument: (symbol) => instruments.get(symbol),
    ready: () => ready,
    stop: async () => {
      await loop.stop();
      isReady();
    },
  };
}
