// The paper broker's exchange hall: listens to the market and lets resting orders trade on its quotes, one look at a time. It runs in one
// process; were it to run in two, the books would still let nothing trade twice.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Log } from "../../ports/log.ts";
import type { QuoteStream, Quotes } from "../../ports/quotes.ts";
import type { Timers } from "../../ports/timers.ts";
import type { PaperBroker } from "./paper-broker.ts";

interface MatchingOptions {
  readonly broker: Pick<PaperBroker, "match">;
  readonly quotes: Quotes;
  readonly symbols: readonly string[];
  readonly timers: Timers;
  readonly crash: Crash;
  readonly log: Log;
}

interface RunningMatching {
  stop(): Promise<void>;
}

/** Orders end on time also when nothing is quoted. */
const lookEveryMs = 1_000;
const backOffMsMax = 5_000;

export async function startPaperMatching(options: MatchingOptions): Promise<RunningMatching> {
  const { broker, timers, log } = options;
  const ending = new AbortController();
  /** Quotes that were not looked at yet, newest per symbol; bounded by the symbols. */
  const waiting = new Map<string, Quote>();
  let wake: (() => void) | undefined;
  let failures = 0;

  function hear(quotes: readonly Quote[]): void {
    for (const quote of quotes) waiting.set(quote.symbol, quote);
    wake?.();
  }

  async function pause(ms: number, untilHeard: boolean): Promise<void> {
    const early = new AbortController();
    const stop = () => early.abort();
    ending.signal.addEventListener("abort", stop, { once: true });
    if (untilHeard) wake = stop;
    await timers.sleep(ms, early.signal);
    wake = undefined;
    ending.signal.removeEventListener("abort", stop);
  }

  async function lookOnce(): Promise<void> {
    const quotes = [...waiting.values()];
    waiting.clear();
    try {
      await broker.match(quotes);
      if (failures > 0) log.info("the paper broker matches again");
      failures = 0;
    } catch (thrown) {
      if (thrown instanceof Defect) options.crash.die(thrown);
      if (failures === 0) log.warn("the paper broker cannot match", { reason: messageOf(thrown) });
      failures += 1;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await lookOnce();
      if (ending.signal.aborted) return;
      if (failures > 0) await pause(Math.min(backOffMsMax, 100 * 2 ** Math.min(failures, 10)), false);
      else if (waiting.size === 0) await pause(lookEveryMs, true);
    }
  }

  const stream: QuoteStream = await options.quotes.subscribe(options.symbols, hear);
  if (stream.unknown.length > 0) log.warn("the market does not quote some symbols", { unknown: [...stream.unknown] });
  const running = run();
  return {
    async stop() {
      ending.abort();
      await stream.stop();
      await running;
    },
  };
}
