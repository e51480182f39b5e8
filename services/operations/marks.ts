// The feed of marks: listens to the market for every instrument of the reference data and tells the platform the newest price of each,
// conflated. Marks may be lost; a market that falls silent is an alarm.
import { alarms } from "../../contracts/src/codes/alarms.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, tryParse } from "../../contracts/src/instant.ts";
import type { Mark, Quote } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { QuoteStream } from "../../ports/quotes.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import type { ServicePorts } from "../service.ts";

/** How often it is asked whether there are other instruments now. */
const lookEveryMs = 500;
const silenceMsMax = 10_000;

export interface MarksFeed {
  stop(): Promise<void>;
}

export type MarksPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "crash" | "log" | "metrics" | "store" | "bus" | "quotes" | "referenceData" | "settings"
>;

export function startMarks(ports: MarksPorts): MarksFeed {
  const { bus, clock, log, quotes } = ports;
  const ending = new AbortController();
  const sent = ports.metrics.counter("portcullis_marks_sent_total", "Marks that went out to the platform.");
  const refused = ports.metrics.counter("portcullis_quotes_refused_total", "Quotes that no price can be made of.");
  /** What was heard since the last sending, newest per symbol; bounded by the instruments that were asked for. */
  const waiting = new Map<string, Mark>();
  /** When the newest quote of each symbol was true. */
  const newest = new Map<string, Instant>();
  let stream: QuoteStream | undefined;
  let pause: CancelTimer | undefined;
  let change = -1;
  let asked: ReadonlySet<string> = new Set();
  let heardAt = clock.now();
  let silent = false;
  let troubled = false;

  function hear(heard: readonly Quote[]): void {
    if (heard.length > 0) heardAt = clock.now();
    for (const quote of heard) {
      const mark = markOf(quote, quotes.name);
      const at = tryParse(quote.quoted_at);
      if (mark === undefined || at === undefined || !asked.has(quote.symbol)) refused.add(1);
      // A quote that comes late must not make the price older.
      else if (at >= (newest.get(quote.symbol) ?? 0)) {
        newest.set(quote.symbol, at);
        waiting.set(quote.symbol, mark);
      }
    }
    if (pause === undefined) send();
  }

  /** What is heard in a quiet moment goes out at once; what follows too soon is gathered, newest per symbol. */
  function send(): void {
    pause = undefined;
    if (ending.signal.aborted || waiting.size === 0) return;
    for (const mark of waiting.values()) bus.broadcast(subjects.marketMarks, mark);
    sent.add(waiting.size);
    waiting.clear();
    pause = ports.timers.after(ports.settings.market.quoteEveryMs, send);
  }

  async function look(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if ((await ports.referenceData.changed()) !== change) await follow();
        await judgeSilence();
        if (troubled) log.info("the quotes feed can be followed again");
        troubled = false;
      } catch (error) {
        if (error instanceof Defect) ports.crash.die(error);
        if (!troubled) log.warn("the quotes feed cannot be followed", { error: messageOf(error) });
        troubled = true;
      }
      await ports.timers.sleep(lookEveryMs, ending.signal);
    }
  }

  /** Asks for what the reference data lists now. */
  async function follow(): Promise<void> {
    const reference = await ports.referenceData.read();
    const listed = new Set(reference.instruments.map(({ symbol }) => symbol));
    if (stream === undefined || !sameMembers(listed, asked)) {
      await stream?.stop();
      stream = undefined;
      asked = listed;
      for (const kept of [waiting, newest])
        for (const symbol of kept.keys()) if (!asked.has(symbol)) kept.delete(symbol);
      heardAt = clock.now();
      stream = await quotes.subscribe([...asked], hear);
      const { unknown } = stream;
      if (unknown.length > 0) log.warn("the market does not quote some instruments", { unknown: unknown.slice(0, 20) });
    }
    change = reference.change;
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
    await alarm(silentMs);
    silent = true;
  }

  async function alarm(silentMs: number): Promise<void> {
    const sentence = `No quote has come from ${quotes.name} for ${Math.round(silentMs / 1_000)} seconds.`;
    log.error("quotes have stopped coming", { feed: quotes.name, silent_ms: Math.round(silentMs) });
    await ports.store.transact("marks.silence", (unit) =>
      unit.events.publish(subjects.alarmRaised, {
        code: "QUOTES_SILENT",
        level: alarms.QUOTES_SILENT.level,
        service: "operations",
        sentence,
        facts: { feed: quotes.name, symbols: asked.size },
        at: format(clock.now()),
      }),
    );
  }

  const looking = look();
  return {
    stop: async () => {
      ending.abort();
      pause?.();
      await looking;
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
