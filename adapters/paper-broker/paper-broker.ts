// The paper broker: a broker with no exchange behind it. It keeps orders, positions and reports in books of its own and trades on the quotes
// that it is shown. What it is made to suffer (its faults) and what tests do to it (`disturb`) are the only ways in which it is not honest.
//
// Silence: while it lasts, every question rejects with BROKER_UNAVAILABLE. Half of what is sent meanwhile arrives all the same, by the
// order's id, because a broker that does not answer has not therefore stopped listening. Resting orders go on trading.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { type Instant, tryParse } from "../../contracts/src/instant.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import {
  acceptOrder,
  amendOrder,
  applyAction,
  beginBooks,
  cancelOrder,
  expireOrders,
  hideTrades,
  matchQuotes,
  type PaperReport,
  tradeOffSystem,
} from "../../core/paper/paper-broker.ts";
import type { MatchingQuote, PaperOrder } from "../../core/paper/paper-matching.ts";
import type { PaperPosition } from "../../core/paper/paper-positions.ts";
import { settlementId, settlementOf, settleOption } from "../../core/paper/paper-settlement.ts";
import { bitsAt, laneOf } from "../../core/paper/seeded-random.ts";
import type { Broker, BrokerAnswer, BrokerOrder, BrokerOrderStatus, BrokerPosition } from "../../ports/broker.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import type { AccountView, PaperBooks } from "./paper-books.ts";
import {
  type PaperInstrument,
  type PaperInstruments,
  paperInstruments,
  type SessionKind,
} from "./paper-instruments.ts";
import { reportBell } from "./report-bell.ts";

interface PaperBrokerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly books: PaperBooks;
  /** What it suffers at present; nothing when undefined. */
  readonly faults: () => PaperWeather | undefined;
  /** As they are now; the same array until a corporate action changes them. */
  readonly instruments: () => readonly PaperInstrument[];
  readonly sessions: SessionKind;
  /** How long anything takes on its way to the broker. */
  readonly latencyMs: number;
}

/** What tests do to the broker so that its books and ours differ. */
type Disturbance =
  /** A trade that nobody here asked for; negative sells. */
  | {
      readonly kind: "OFF_SYSTEM_TRADE";
      readonly account: string;
      readonly symbol: string;
      readonly quantity: decimal.Decimal;
      readonly price: decimal.Decimal;
    }
  /** The next trades happen and are never reported. */
  | { readonly kind: "HIDE_FILLS"; readonly count: number }
  /** Until then the account's positions are reported as they are now. */
  | { readonly kind: "POSITION_LAG"; readonly account: string; readonly until: Instant }
  /** Until then this client's questions about accounts are answered in part only. */
  | { readonly kind: "INCOMPLETE"; readonly until: Instant };

export interface PaperBroker extends Broker {
  /** Puts the first positions in, once in the life of the books. True when this call did. */
  begin(positions: readonly PaperPosition[]): Promise<boolean>;
  /** Trades what can be traded on these quotes, and ends what has ended; gives the number of reports. */
  match(quotes: readonly Quote[]): Promise<number>;
  /** For tests only. */
  disturb(disturbance: Disturbance): Promise<void>;
}

export function paperBroker(options: PaperBrokerOptions): PaperBroker {
  const { books, clock } = options;
  const marketNow = instrumentsNow(options);
  const market: PaperInstruments = {
    termsOf: (symbol) => marketNow().termsOf(symbol),
    dayEnd: (symbol, now) => marketNow().dayEnd(symbol, now),
    endingOption: (symbol) => marketNow().endingOption(symbol),
    optionsOn: (symbol) => marketNow().optionsOn(symbol),
  };
  const bell = reportBell(options);
  /** Options that are known to be settled; bounded by those that there are. */
  const settled = new Set<string>();
  let incompleteUntil = 0;

  const isSilent = (): boolean => (tryParse(options.faults()?.broker_silent_until ?? "") ?? 0) > clock.now();

  /** Something on its way to the broker and an answer on its way back (promise 2 of the port). */
  async function tell<Answer>(id: string, act: () => Promise<Answer>): Promise<Answer> {
    await options.timers.sleep(options.latencyMs);
    const silent = isSilent();
    if (silent && !arrivesInSilence(id)) throw noAnswer("The paper broker is silent.");
    const answer = await atBooks(act);
    if (silent) throw noAnswer("The paper broker is silent.");
    return answer;
  }

  async function ask<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    if (isSilent()) throw noAnswer("The paper broker is silent.");
    return atBooks(act);
  }

  async function accountAnswer<One>(
    account: string,
    itemsOf: (view: AccountView, now: Instant) => readonly One[],
  ): Promise<BrokerAnswer<One>> {
    const view = await ask(() => books.account(account));
    const now = clock.now();
    if (!view.begun) return { complete: false, why: "The paper broker has not begun yet." };
    if (incompleteUntil > now) return { complete: false, why: "The paper broker answered in part." };
    return { complete: true, asOf: now, cursor: view.cursor, items: itemsOf(view, now) };
  }

  const hasEnded = (symbol: string, now: Instant): boolean => (market.endingOption(symbol)?.endsAt ?? now + 1) <= now;

  /** Options that ended before a price of their underlying; each is looked at until it is known to be settled. */
  async function settleEnded(quotes: readonly Quote[], now: Instant): Promise<number> {
    let reported = 0;
    for (const quote of quotes.flatMap((one) => matchingQuote(one))) {
      for (const { terms, endsAt } of market.optionsOn(quote.symbol)) {
        if (endsAt > now || quote.at < endsAt || settled.has(terms.symbol)) continue;
        const price = decimal.divide(decimal.add(quote.bid, quote.ask), two, "half-even");
        const selection = { orderId: settlementId(terms.symbol), symbols: [terms.symbol, terms.underlying] };
        reported += await books.change(selection, (view) => settleOption(view, terms, price, now));
        settled.add(terms.symbol);
      }
    }
    return reported;
  }

  async function matchAll(quotes: readonly Quote[]): Promise<number> {
    const now = clock.now();
    const { symbols, someEnded } = await books.waiting(now);
    let reported = 0;
    if (someEnded) reported += await books.change({ endedBy: now }, (view) => expireOrders(view, now));
    reported += await settleEnded(quotes, now);
    const wanted = quotes
      .filter(({ symbol }) => symbols.includes(symbol) && !hasEnded(symbol, now))
      .flatMap((quote) => matchingQuote(quote));
    if (wanted.length > 0) {
      const selection = { symbols: wanted.map(({ symbol }) => symbol), mayChangeNothing: true } as const;
      reported += await books.change(selection, (view) => matchQuotes(view, wanted, market.termsOf, now));
    }
    return reported;
  }

  return {
    name: "paper",
    async submit(asked) {
      const order = await tell(asked.clientOrderId, () => {
        const now = clock.now();
        const wanted = newOrder(asked, market.dayEnd(asked.symbol, now), now);
        const selection = { orderId: asked.clientOrderId, symbols: [asked.symbol] };
        const terms = hasEnded(asked.symbol, now) ? undefined : market.termsOf(asked.symbol);
        return books.change(selection, (view) => acceptOrder(view, wanted, terms, now));
      });
      bell.changed();
      return statusOf(order);
    },
    async cancel(clientOrderId) {
      const order = await tell(clientOrderId, () =>
        books.change({ orderId: clientOrderId }, (view) => cancelOrder(view, clock.now())),
      );
      bell.changed();
      return statusOf(known(order, clientOrderId));
    },
    async amend(clientOrderId, amendment) {
      const order = await tell(clientOrderId, () =>
        books.change({ orderId: clientOrderId }, (view) => amendOrder(view, amendment, clock.now())),
      );
      bell.changed();
      return statusOf(known(order, clientOrderId));
    },
    async order(clientOrderId) {
      const found = await ask(() => books.order(clientOrderId));
      return found === undefined ? undefined : statusOf(found);
    },
    settlement: async (symbol) => settlementOf(await ask(() => books.order(settlementId(symbol)))),
    openOrders: (account) => accountAnswer(account, ({ open }) => open.map(statusOf)),
    positions: (account) => accountAnswer(account, shownPositions),
    reports: async (after, countMax) =>
      bell.delivered(await ask(() => books.reports(after, countMax)), countMax).map(reportOf),
    onReport: (ring) => bell.onReport(ring),
    close: async () => bell.close(),
    async applyAction(action) {
      const symbols = action.legs.flatMap(({ symbol, newSymbol }) => [symbol, newSymbol]);
      const selection = { actionId: action.actionId, symbols };
      await ask(() => books.change(selection, (view) => applyAction(view, action, clock.now())));
      bell.changed();
    },
    begin: (positions) => books.change({}, (view) => beginBooks(view, positions)),
    async match(quotes) {
      const reported = await matchAll(quotes);
      if (reported > 0) bell.changed();
      return reported;
    },
    async disturb(disturbance) {
      switch (disturbance.kind) {
        case "OFF_SYSTEM_TRADE":
          return books.change({ symbols: [disturbance.symbol] }, (view) => tradeOffSystem(view, disturbance));
        case "HIDE_FILLS":
          return books.change({}, (view) => hideTrades(view, disturbance.count));
        case "POSITION_LAG":
          return books.setLag(disturbance.account, disturbance.until);
        case "INCOMPLETE":
          incompleteUntil = disturbance.until;
      }
    },
  };
}

function instrumentsNow({ instruments, sessions }: PaperBrokerOptions): () => PaperInstruments {
  let listed = instruments();
  let market = paperInstruments(listed, sessions);
  return () => {
    const now = instruments();
    if (now !== listed) market = paperInstruments(now, sessions);
    listed = now;
    return market;
  };
}

/** Whatever goes wrong with the books: we do not know what became of it. */
async function atBooks<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (thrown) {
    if (thrown instanceof Fault) throw noAnswer(`The paper broker's books: ${messageOf(thrown)}.`, thrown);
    throw thrown;
  }
}

function noAnswer(sentence: string, cause?: unknown): Fault {
  return new Fault("BROKER_UNAVAILABLE", sentence, { retry: "later", facts: { broker: "paper" }, cause });
}

const two = decimal.fromInteger(2n);
const silenceLane = laneOf(0, "heard in silence");

function arrivesInSilence(clientOrderId: string): boolean {
  return bitsAt(laneOf(silenceLane, clientOrderId), 0) % 2 === 0;
}

function known(order: PaperOrder | undefined, clientOrderId: string): PaperOrder {
  if (order !== undefined) return order;
  const sentence = `The paper broker has no order ${JSON.stringify(clientOrderId.slice(0, 130))}.`;
  throw new Fault("NOT_FOUND", sentence, { retry: "never", facts: { broker: "paper" } });
}

function newOrder(asked: BrokerOrder, dayEnd: Instant, now: Instant) {
  const { expiresAt, ...terms } = asked;
  const end = asked.tif === "DAY" ? dayEnd : asked.tif === "GTD" ? expiresAt : undefined;
  return { ...terms, eligibleAt: now, ...(end !== undefined && { expiresAt: end }) };
}

function matchingQuote(quote: Quote): readonly MatchingQuote[] {
  const bid = decimal.tryParse(quote.bid);
  const ask = decimal.tryParse(quote.ask);
  const at = tryParse(quote.quoted_at);
  if (bid === undefined || ask === undefined || at === undefined) return [];
  const bidSize = decimal.tryParse(quote.bid_size ?? "");
  const askSize = decimal.tryParse(quote.ask_size ?? "");
  return [
    {
      symbol: quote.symbol,
      bid,
      ask,
      at,
      ...(bidSize !== undefined && { bidSize }),
      ...(askSize !== undefined && { askSize }),
    },
  ];
}

function statusOf(order: PaperOrder): BrokerOrderStatus {
  const { clientOrderId, brokerOrderId, account, symbol, side, state, quantity, filledQuantity, reason } = order;
  const { limitPrice, stopPrice } = order;
  return {
    clientOrderId,
    brokerOrderId,
    account,
    symbol,
    side,
    state,
    quantity,
    ...(limitPrice !== undefined && { limitPrice }),
    ...(stopPrice !== undefined && { stopPrice }),
    filledQuantity,
    at: order.updatedAt,
    ...(reason !== undefined && { reason }),
  };
}

function reportOf({ cursor, order, execution, at }: PaperReport) {
  return { cursor, status: statusOf(order), at, ...(execution !== undefined && { execution }) };
}

function shownPositions(view: AccountView, now: Instant): readonly BrokerPosition[] {
  const shown = view.lag !== undefined && view.lag.until > now ? view.lag.positions : view.positions;
  return shown.map(({ symbol, quantity, averagePrice }) => ({ symbol, quantity, averagePrice }));
}
