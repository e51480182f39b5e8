// Keeps what the market quoted when an order was created and sent, when it was filled, and 300 seconds after each fill: what a report of transaction costs is
// made of.
//
//  1. The first three are written with the order or fill, in its own transaction. A quote that is older than new risk may be decided on is none.
//  2. The fourth is owed from the fill on, in the store, so that it is taken over a restart as well. It is the quote in force at that moment or, when none was
//     heard, the first within ten seconds after it.
//  3. What was not known then is kept as missing, for good. It is never made up from a later price.
import { type Instant, millisecondsBetween, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Fill, Order } from "../../../contracts/src/records/order.ts";
import type { DueQuote, KeptQuote } from "../../../ports/quote-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { startLoop } from "../../shared/loop.ts";
import type { OmsPorts } from "../oms-parts.ts";
import type { HeardQuotes } from "./heard-quotes.ts";

const afterFillMs = 300_000;
/** How old the quote 300 seconds after a fill may be, and how late. */
const awayMsMax = 10_000;
const lookAgainMs = 1_000;
const retryMs = 5_000;
/** A fill that a broker reports late may be due before the next that is known. */
const waitMsMax = 10_000;
const portionMax = 200;

export interface QuoteKeeping {
  ofOrder(unit: UnitOfWork, moment: "CREATED" | "ROUTED", order: Order, at: Instant): Promise<void>;
  ofFill(unit: UnitOfWork, fill: Fill): Promise<void>;
  /** A fill was booked: its later quote is owed. */
  owed(): void;
  stop(): Promise<void>;
}

export function keepQuotes(ports: OmsPorts, heard: HeardQuotes): QuoteKeeping {
  const { clock, store } = ports;
  const { markAgeMsMax } = ports.settings.risk;
  let isNothingOwed = true;

  /** Keeps what is due now and known, or never will be; gives for how long nothing more is, undefined while nothing is owed. */
  async function takeDue(): Promise<number | undefined> {
    return store.transact("oms.quote", async (unit) => {
      const now = clock.now();
      const owed = await unit.quotes.earliestDue(portionMax);
      const due = owed.filter(({ dueAt }) => dueAt <= now);
      const taken: string[] = [];
      for (const one of due) {
        const quote = heard.inForce(one.symbol, one.dueAt, awayMsMax) ?? heard.next(one.symbol, one.dueAt, awayMsMax);
        // One that comes late may still come.
        if (quote === undefined && millisecondsBetween(one.dueAt, now) <= awayMsMax) continue;
        await unit.quotes.keepQuote(laterQuoteOf(one, quote));
        taken.push(one.fillId);
      }
      if (taken.length > 0) await unit.quotes.takeDue(taken);
      if (taken.length === portionMax) return 0;
      if (due.length > taken.length) return lookAgainMs;
      const [next] = owed.filter(({ dueAt }) => dueAt > now);
      if (next !== undefined) return Math.min(Math.max(millisecondsBetween(now, next.dueAt), 0), waitMsMax);
      return taken.length > 0 ? 0 : undefined;
    });
  }

  async function run(): Promise<number | undefined> {
    isNothingOwed = true;
    const waitMs = await takeDue();
    isNothingOwed = waitMs === undefined;
    return waitMs;
  }

  const what = {
    failing: "quotes after fills cannot be kept yet",
    working: "quotes after fills can be kept again",
  };
  const loop = startLoop({ ports, what, firstAfterMs: 0, run, troubleMsMin: retryMs, troubleMsMax: retryMs });
  return {
    async ofOrder(unit, moment, { order_id: id, fund_id: fundId, symbol }, at) {
      const quote = heard.inForce(symbol, at, markAgeMsMax);
      await unit.quotes.keepQuote({ moment, id, fundId, symbol, wantedAt: at, quote });
    },
    async ofFill(unit, { fill_id: id, fund_id: fundId, symbol, filled_at }) {
      const at = parse(filled_at);
      const quote = heard.inForce(symbol, at, markAgeMsMax);
      await unit.quotes.keepQuote({ moment: "FILLED", id, fundId, symbol, wantedAt: at, quote });
      await unit.quotes.addDue({ fillId: id, fundId, symbol, dueAt: plusMilliseconds(at, afterFillMs) });
    },
    owed() {
      // While others are owed it is read in time: what a fill adds is due later than those.
      if (isNothingOwed) loop.wake();
    },
    stop: loop.stop,
  };
}

const laterQuoteOf = ({ fillId, fundId, symbol, dueAt }: DueQuote, quote: KeptQuote["quote"]): KeptQuote => ({
  moment: "AFTER_300S",
  id: fillId,
  fundId,
  symbol,
  wantedAt: dueAt,
  quote,
});
