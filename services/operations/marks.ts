// The feed of marks: listens to the market for every instrument of the reference data and tells the platform the newest price of each,
// conflated. Marks may be lost; a market that falls silent is an alarm, and so is one that dates its quotes ahead of our clock: those are refused,
// and the next honest quote of the symbol counts.
import { type AlarmCode, alarms } from "../../contracts/src/codes/alarms.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween, tryParse } from "../../contracts/src/instant.ts";
import type { Instrument, Mark, Quote } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { optionRiskOf, type PricedAt } from "../../core/options/option-risk.ts";
import { isAhead, isNewest } from "../../core/state/dated.ts";
import type { QuoteStream } from "../../ports/quotes.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import { setBackSentence, watchClock } from "../shared/clock-steps.ts";
import { startLoop } from "../shared/loop.ts";
import type { ServicePorts } from "../shared/service.ts";

/** How often it is asked whether there are other instruments now. */
const lookEveryMs = 500;
const silenceMsMax = 10_000;
/** After so long without a quote from the future the next one is another alarm. */
const aheadForgottenMs = 60_000;

interface MarksFeed {
  stop(): Promise<void>;
}

type MarksPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "crash" | "log" | "metrics" | "store" | "bus" | "quotes" | "referenceData" | "settings"
>;

export function startMarks(ports: MarksPorts): MarksFeed {
  const { bus, clock, log, quotes } = ports;
  let isStopping = false;
  const sent = ports.metrics.counter("portcullis_marks_sent_total", "Marks that went out to the platform.");
  const refused = ports.metrics.counter("portcullis_quotes_refused_total", "Quotes that no price can be made of.");
  /** What was heard since the last sending, newest per symbol; bounded by the instruments that were asked for. */
  const waiting = new Map<string, Mark>();
  /** The newest price of each symbol and when it was true. */
  const newest = new Map<string, PricedAt>();
  let instruments: ReadonlyMap<string, Instrument> = new Map();
  let stream: QuoteStream | undefined;
  let pause: CancelTimer | undefined;
  let change = -1;
  let asked: ReadonlySet<string> = new Set();
  let unknownReported = "";
  let heardAt = clock.now();
  let silent = false;
  /** The newest quote that was dated ahead of our clock, and when it came; `aheadReported` once an alarm told of it. */
  let ahead: { readonly quote: Quote; readonly heardAt: Instant } | undefined;
  let aheadReported = false;
  const lookAtClock = watchClock(clock);
  /** Of steps back of the clock that nobody was notified of yet. */
  let setBackMs = 0;

  function hear(heard: readonly Quote[]): void {
    const now = clock.now();
    const options = new Map<string, Quote>();
    if (heard.length > 0) heardAt = now;
    for (const quote of heard) {
      const mark = markOf(quote, quotes.name);
      const at = tryParse(quote.quoted_at);
      if (mark === undefined || at === undefined || !asked.has(quote.symbol)) refused.add(1);
      else if (isAhead(at, now)) {
        refused.add(1);
        ahead = { quote, heardAt: now };
      }
      // A quote that comes late must not make the price older.
      else if (isNewest(at, newest.get(quote.symbol)?.at, now)) {
        newest.set(quote.symbol, { price: decimal.parse(mark.price), at });
        waiting.set(quote.symbol, mark);
        options.set(quote.symbol, quote);
      }
    }
    // Quotes of a moment come together, in any order: an option is looked at when its underlying's is known.
    for (const quote of options.values()) addOptionRisk(quote);
    if (pause === undefined) send();
  }

  function addOptionRisk({ symbol, greeks }: Quote): void {
    const instrument = instruments.get(symbol);
    const [mark, own] = [waiting.get(symbol), newest.get(symbol)];
    if (instrument?.asset_class !== "OPTION" || mark === undefined || own === undefined) return;
    const risk = optionRiskOf(instrument, own, newest.get(instrument.underlying ?? ""), greeks?.delta);
    if (risk !== undefined) waiting.set(symbol, { ...mark, option_risk: risk });
  }

  /** What is heard in a quiet moment goes out at once; what follows too soon is gathered, newest per symbol. */
  function send(): void {
    pause = undefined;
    if (isStopping || waiting.size === 0) return;
    for (const mark of waiting.values()) bus.broadcast(subjects.marketMarks, mark);
    sent.add(waiting.size);
    waiting.clear();
    pause = ports.timers.after(ports.settings.market.quoteEveryMs, send);
  }

  async function look(): Promise<number> {
    if ((await ports.referenceData.changed()) !== change) await follow();
    tellUnknown();
    await judgeSilence();
    await judgeDates();
    return lookEveryMs;
  }

  /** Prices of the others come from outside, or not at all. */
  function isQuoted({ venue }: Instrument): boolean {
    const { feed = "paper", feedByVenue = {} } = ports.settings.market;
    return (feedByVenue[venue ?? ""] ?? feed) === "paper";
  }

  /** Asks for what the reference data lists now. */
  async function follow(): Promise<void> {
    const reference = await ports.referenceData.read();
    const listed = new Set(reference.instruments.filter(isQuoted).map(({ symbol }) => symbol));
    instruments = new Map(reference.instruments.map((instrument) => [instrument.symbol, instrument]));
    if (stream === undefined || !sameMembers(listed, asked)) {
      await stream?.stop();
      stream = undefined;
      asked = listed;
      for (const kept of [waiting, newest])
        for (const symbol of kept.keys()) if (!asked.has(symbol)) kept.delete(symbol);
      heardAt = clock.now();
      stream = await quotes.subscribe([...asked], hear);
    }
    change = reference.change;
  }

  /** Said when it changes: what is unknown right after a corporate action is known a moment later. */
  function tellUnknown(): void {
    const unknown = stream?.unknown ?? [];
    const key = unknown.join("\n");
    if (key === unknownReported) return;
    unknownReported = key;
    if (unknown.length === 0) log.info("the market quotes every instrument again");
    else log.warn("the market does not quote some instruments", { unknown: unknown.slice(0, 20) });
  }

  async function judgeSilence(): Promise<void> {
    const expected = asked.size > (stream?.unknown.length ?? 0);
    const silentMs = millisecondsBetween(heardAt, clock.now());
    if (!expected || silentMs < silenceMsMax) {
      if (silent) log.info("quotes come again");
      silent = false;
      return;
    }
    if (silent) return;
    const sentence = `No quote has come from ${quotes.name} for ${Math.round(silentMs / 1_000)} seconds.`;
    await alarm("QUOTES_SILENT", sentence, { feed: quotes.name, symbols: asked.size });
    silent = true;
  }

  /** Quotes from the future, and a clock that was set back, which makes honest quotes look like that. */
  async function judgeDates(): Promise<void> {
    const look = lookAtClock();
    setBackMs += look.setBackMs;
    if (setBackMs > 0) {
      const facts = { about: "operations", step_ms: Math.round(setBackMs) };
      await alarm("CLOCK_STEPPED", setBackSentence("operations", setBackMs), facts);
      setBackMs = 0;
    }
    if (ahead === undefined) return;
    const { quote, heardAt: at } = ahead;
    if (!aheadReported) {
      const sentence = `${quotes.name} quotes ${quote.symbol} as of ${quote.quoted_at}, which lies ahead of our clock; such quotes are refused.`;
      await alarm("INPUT_DATED_AHEAD", sentence, { about: `quotes ${quotes.name}`, symbol: quote.symbol });
      aheadReported = true;
    }
    const quietMs = millisecondsBetween(at, look.now);
    if (quietMs < aheadForgottenMs && quietMs >= 0) return;
    ahead = undefined;
    aheadReported = false;
  }

  async function alarm(code: AlarmCode, sentence: string, facts: Readonly<Record<string, string | number>>) {
    log.error("an alarm was raised", { code, sentence });
    const reported = {
      code,
      level: alarms[code].level,
      service: "operations",
      sentence,
      facts,
      at: format(clock.now()),
    };
    await ports.store.transact("marks.alarm", (unit) => unit.events.publish(subjects.alarmRaised, reported));
  }

  const what = { failing: "the quotes feed cannot be followed", working: "the quotes feed can be followed again" };
  const loop = startLoop({ ports, what, firstAfterMs: 0, run: look, troubleMsMax: lookEveryMs });
  return {
    stop: async () => {
      isStopping = true;
      pause?.();
      await loop.stop();
      await stream?.stop();
    },
  };
}

function sameMembers(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((member) => right.has(member));
}

/** The last trade where it lies between bid and ask, else their middle. Undefined when the quote is crossed or cannot be read. */
export function markOf(quote: Quote, source: string): Mark | undefined {
  const bid = decimal.tryParse(quote.bid);
  const ask = decimal.tryParse(quote.ask);
  if (bid === undefined || ask === undefined || bid > ask) return undefined;
  const last = quote.last === undefined ? undefined : decimal.tryParse(quote.last);
  const price = last !== undefined && last >= bid && last <= ask ? last : middle(bid, ask);
  return {
    symbol: quote.symbol,
    price: decimal.format(price),
    bid: quote.bid,
    ask: quote.ask,
    ...(quote.currency !== undefined && { currency: quote.currency }),
    source,
    at: quote.quoted_at,
  };
}

const two = decimal.fromInteger(2n);

function middle(bid: decimal.Decimal, ask: decimal.Decimal): decimal.Decimal {
  return decimal.divide(decimal.add(bid, ask), two, "half-even");
}
