// What a second publisher says that is not so, under a token of its own that is valid: of orders, fills, values, prices and numbers that are somebody else's
// or nobody's. Each kind is a line in one list; a kind whose guard is not built yet waits in the list with its reason.
import * as decimal from "../../contracts/src/decimal.ts";
import type { ForeignReceipt } from "../../contracts/src/generated/svc/v1/foreign.ts";
import { format, minusMilliseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import type { Complaint, Desk, DeskOrder } from "./desk.ts";
import { type Fund, feed, funds, liar, liarOfBeta, pricedBy, valuer, type World } from "./world.ts";

/** Whoever lies, in the world that hears it. */
export interface Liar {
  readonly world: World;
  readonly desk: Desk;
  readonly prng: Prng;
  /** Fills of its own that were answered `accepted`. */
  readonly told: Fill[];
  /** A number that it has not used yet. */
  fresh(): number;
}

export interface Lie {
  readonly name: string;
  readonly sentence: string;
  /** Why it is not told yet; absent: it is. */
  readonly waitsFor?: string;
  /** Says what the answer should not have been, where that shows at once. */
  tell(liar: Liar): Promise<Complaint>;
}

const one = <Item>({ prng }: Liar, items: readonly Item[]): Item => items[prng.below(items.length)] as Item;

async function publish<Payload>(
  { world, fresh }: Liar,
  subject: Subject<Payload>,
  payload: Payload | string,
  id = `lie-${fresh()}`,
): Promise<ForeignReceipt> {
  return world.publish(liar, { id, subject, payload });
}

/** Numbered as the liar's own, and rightly. */
const numbered = <Payload extends { readonly fund_id: string }>({ world }: Liar, kind: string, payload: Payload) => ({
  ...payload,
  sequence: world.next(liar, payload.fund_id, kind),
});

// Fills

/** Of an order that nobody asked about, at the market's price. */
function fillOf(own: Liar, differs: Partial<Fill> = {}): Fill {
  const fund: Fund = one(own, funds);
  const symbol = one<string>(own, fund.symbols);
  const number = own.fresh();
  return {
    fill_id: `lie-f-${number}`,
    order_id: `lie-o-${number}`,
    fund_id: fund.fundId,
    strategy_id: one<string>(own, fund.strategies),
    symbol,
    side: one(own, ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const),
    quantity: fund.fundId === "beta" ? one(own, ["0.25", "2"]) : String(1 + own.prng.below(3_000)),
    price: decimal.format(own.desk.priceOf(symbol)),
    filled_at: own.world.now(),
    ...differs,
  };
}

async function fill(own: Liar, differs: Partial<Fill> = {}): Promise<undefined> {
  const payload = numbered(own, "fills", fillOf(own, differs));
  const { accepted } = await publish(own, subjects.fillsCreated, payload);
  if (accepted) own.told.push(payload);
}

async function mispriced(own: Liar): Promise<undefined> {
  const { symbol, price, ...more } = fillOf(own);
  const factor = one(own, ["0.01", "0.2", "0.8", "1.2", "5", "100"]);
  const odd = decimal.multiply(decimal.parse(price), decimal.parse(factor), "half-even");
  await fill(own, { ...more, symbol, price: decimal.format(odd) });
}

async function misdated(own: Liar): Promise<undefined> {
  const now = own.world.time.clock.now();
  const filled_at = one(own, [
    "2001-01-01T00:00:00Z",
    "2031-01-01T00:00:00Z",
    format(minusMilliseconds(now, 60_000)),
    format(plusMilliseconds(now, 60_000)),
  ]);
  await fill(own, { filled_at });
}

/** Fields of an order of the desk that is open, or was. */
function oneOfTheirs(own: Liar): DeskOrder | undefined {
  const { orders } = own.desk;
  const late = orders.slice(-8);
  return late.length === 0 ? undefined : one(own, late);
}

async function fillOfTheirs(own: Liar): Promise<undefined> {
  const theirs = oneOfTheirs(own);
  if (theirs === undefined) return;
  const { order_id, fund_id, strategy_id, symbol, side } = theirs.order;
  const quantity = decimal.format(theirs.quantity);
  const price = decimal.format(own.desk.priceOf(symbol));
  await fill(own, { order_id, fund_id, strategy_id, symbol, side: side as Fill["side"], quantity, price });
}

async function bustOfTheirs(own: Liar): Promise<undefined> {
  const bust = (about: Fill) => ({
    bust_id: `lie-b-${own.fresh()}`,
    fill_id: about.fill_id,
    order_id: about.order_id,
    fund_id: about.fund_id,
    strategy_id: about.strategy_id,
    symbol: about.symbol,
    reason: "it never happened",
    at: own.world.now(),
  });
  const published = own.world.fixture.published(subjects.fillsCreated).slice(-10);
  if (published.length === 0) return;
  await publish(own, subjects.fillsBusted, numbered(own, "fills", bust(one(own, published))));
}

/** It takes back what it said itself. */
async function bustOfOwn(own: Liar): Promise<undefined> {
  const about = own.told.pop();
  if (about === undefined) return;
  const { fill_id, order_id, fund_id, strategy_id, symbol } = about;
  const bust = { bust_id: `lie-b-${own.fresh()}`, fill_id, order_id, fund_id, strategy_id, symbol };
  const at = own.world.now();
  await publish(own, subjects.fillsBusted, numbered(own, "fills", { ...bust, reason: "corrected", at }));
}

// Orders

function step(own: Liar, to: OrderTransition["to"], left: (of: DeskOrder) => decimal.Decimal) {
  const theirs = oneOfTheirs(own);
  if (theirs === undefined) return undefined;
  const { order_id, fund_id, strategy_id, symbol } = theirs.order;
  return numbered(own, "orders", {
    order_id,
    fund_id,
    strategy_id,
    symbol,
    from: "WORKING",
    to,
    filled_quantity: "0",
    remaining_quantity: decimal.format(left(theirs)),
    at: own.world.now(),
  } as const);
}

async function stateOfTheirs(own: Liar): Promise<undefined> {
  const to = one(own, [
    "CANCELLED",
    "FILLED",
    "EXPIRED",
    "REJECTED",
    "WORKING",
    "PARTIALLY_FILLED",
    "UNKNOWN",
  ] as const);
  const isOpen = to === "WORKING" || to === "PARTIALLY_FILLED" || to === "UNKNOWN";
  const payload = step(own, to, ({ quantity }) => (isOpen ? decimal.min(quantity, decimal.one) : decimal.zero));
  if (payload === undefined) return;
  const ends = { CANCELLED: subjects.ordersCancelled, EXPIRED: subjects.ordersExpired } as const;
  const subject = to in ends ? ends[to as keyof typeof ends] : subjects.ordersUpdated;
  await publish(own, subject as Subject<unknown>, payload);
}

async function wordOnTheirs(own: Liar): Promise<undefined> {
  const order_id = oneOfTheirs(own)?.order.order_id;
  if (order_id === undefined) return;
  const verb = one(own, ["ConfirmSent", "ReleaseApproval"]);
  // That it is refused is what is hoped for.
  await own.world.call(verb, { order_id, reason: "it is mine" }, liar).catch(() => undefined);
}

async function askAboutTheirs(own: Liar): Promise<undefined> {
  const theirs = oneOfTheirs(own)?.order;
  if (theirs === undefined) return;
  const isKey = own.prng.chance(0.5);
  const idempotency_key = isKey ? (theirs.idempotency_key ?? "") : `lie-key-${own.fresh()}`;
  const order_id = isKey ? `lie-o-${own.fresh()}` : theirs.order_id;
  await own.world.ask({ ...theirs, idempotency_key, order_id, quantity: "1" }, liar);
}

// Values and prices

async function value(own: Liar, factor: string, fund: Fund = one(own, funds), by = liar): Promise<undefined> {
  const honest = own.world.worthOf(fund);
  const nav = decimal.multiply(decimal.parse(honest.nav), decimal.parse(factor), "half-even");
  const said: NavUpdated = { ...honest, nav: decimal.format(nav) };
  const differs = one(own, [{}, { net_flows: "0" }, { cash: decimal.format(nav) }, { currency: "EUR" }]);
  const sequence = own.world.next(by, fund.fundId, "values");
  const payload = { ...said, ...differs, sequence };
  await own.world.publish(by, { id: `lie-${own.fresh()}`, subject: subjects.navUpdated, payload });
}

/** The valuer of the LIVE fund errs, or somebody has its token. */
async function valueOfValuer(own: Liar): Promise<undefined> {
  await value(
    own,
    one(own, ["10", "2", "0.5"]),
    one(
      own,
      funds.filter(({ mode }) => mode === "LIVE"),
    ),
    valuer,
  );
}

async function price(own: Liar, factors: readonly string[]): Promise<Complaint> {
  const symbol = one<string>(own, one(own, funds).symbols);
  const said = decimal.multiply(own.desk.priceOf(symbol), decimal.parse(one(own, factors)), "half-even");
  const source = one(own, ["liar", "desk-feed", "paper"]);
  const payload = { symbol, price: decimal.format(said), source, at: own.world.now() };
  const { accepted } = await publish(own, subjects.marketMarks, payload);
  if (!accepted || pricedBy(symbol).includes(liar.name)) return undefined;
  return `prices_are_their_pricers: a price of ${symbol} was accepted from ${liar.name}, whom nobody named`;
}

/**
 * So does the one whose prices count, of all that a fund trades, and treasury values by it; what it says next is the market's again. A step that a market might make
 * is believed, so it is none of those.
 */
async function priceOfFeed(own: Liar): Promise<undefined> {
  const { world } = own;
  const fund: Fund = one(own, funds);
  const factor = decimal.parse(one(own, ["5", "100", "0.2", "0.01"]));
  for (const symbol of fund.symbols) {
    const price = decimal.format(decimal.multiply(own.desk.priceOf(symbol), factor, "half-even"));
    const payload = { symbol, price, source: "claimed", at: world.now() };
    await world.publish(feed, { id: "p", subject: subjects.marketMarks, payload });
  }
  await world.fixture.pass(20);
  if (fund.mode === "PAPER") await world.tellValue(fund);
}

// What is told, and what is not

async function reusedId(own: Liar): Promise<Complaint> {
  const id = `lie-again-${own.fresh()}`;
  const first = await publish(own, subjects.fillsCreated, fillOf(own), id);
  const isOther = own.prng.chance(0.7);
  const second = isOther ? fillOf(own) : fillOf(own, { quantity: "1" });
  const receipt = await publish(own, subjects.fillsCreated, second, id);
  if (!receipt.accepted || !first.accepted) return undefined;
  return `ids_are_their_content: ${id} said something else before, and was answered accepted`;
}

async function gap(own: Liar): Promise<undefined> {
  const payload = fillOf(own);
  const skipped = 1 + own.prng.below(5);
  for (let index = 0; index < skipped; index += 1) own.world.next(liar, payload.fund_id, "fills");
  await publish(own, subjects.fillsCreated, numbered(own, "fills", payload));
}

async function unreadable(own: Liar): Promise<undefined> {
  const field = one(own, ["side", "quantity", "price", "filled_at", "symbol", "order_id"]);
  const payload = { ...numbered(own, "fills", fillOf(own)), [field]: one(own, ["", "HOLD", 7, null, "-1e99"]) };
  await publish(own, subjects.fillsCreated, JSON.stringify(payload));
}

async function unknown(own: Liar): Promise<undefined> {
  const differs = one(own, [
    { symbol: "APPL" },
    { fund_id: "alhpa" },
    { strategy_id: "nobody" },
    { price: "0" },
    { currency: "EUR" },
  ]);
  await publish(own, subjects.fillsCreated, fillOf(own, differs));
}

async function squatted(own: Liar): Promise<undefined> {
  const numbers = own.desk.orders.length * 3 + own.prng.below(20);
  await fill(own, { fill_id: `desk-f-${numbers}`, quantity: "1" });
}

/** Under a token that does not name the fund. */
async function fundNotNamed(own: Liar): Promise<Complaint> {
  const fund = one(
    own,
    funds.filter(({ fundId }) => liarOfBeta.funds?.includes(fundId) !== true),
  );
  const symbol = one<string>(own, fund.symbols);
  const about = { fund_id: fund.fundId, strategy_id: one<string>(own, fund.strategies), symbol, quantity: "1" };
  const payload = fillOf(own, { ...about, price: decimal.format(own.desk.priceOf(symbol)) });
  const { accepted } = await own.world.publish(liarOfBeta, {
    id: payload.fill_id,
    subject: subjects.fillsCreated,
    payload,
  });
  return accepted
    ? `tokens_name_their_funds: a fill of ${fund.fundId} was accepted from a token of ${liarOfBeta.funds}`
    : undefined;
}

export const lies: readonly Lie[] = [
  { name: "fill-unasked", sentence: "a fill of an order that nobody asked about", tell: (own) => fill(own) },
  { name: "fill-mispriced", sentence: "a fill at a price that nobody trades at", tell: mispriced },
  {
    name: "fill-oversized",
    sentence: "a fill of more than a fund may hold",
    tell: (own) => fill(own, { quantity: one(own, ["2000", "5000", "20000"]) }),
  },
  {
    name: "fill-fee",
    sentence: "a fill with a fee that no trade has",
    tell: (own) => fill(own, { fee: one(own, ["-1000000", "1000000", "-50"]) }),
  },
  { name: "fill-date", sentence: "a fill of long ago, or of a day to come", tell: misdated },
  { name: "fill-cross", sentence: "one leg of a cross", tell: (own) => fill(own, { kind: "CROSS" }) },
  {
    name: "fill-kind",
    sentence: "a fill that is no trade, without what vouches for it",
    tell: (own) =>
      fill(own, { kind: one(own, ["SEED", "ADJUSTMENT", "SETTLEMENT", "CORPORATE_ACTION", "CASH_IN_LIEU"] as const) }),
  },
  { name: "fill-of-theirs", sentence: "a fill of an order of the desk", tell: fillOfTheirs },
  { name: "bust-of-theirs", sentence: "a bust of a fill of the desk", tell: bustOfTheirs },
  { name: "bust-of-own", sentence: "a bust of a lie", tell: bustOfOwn },
  {
    name: "order-state",
    sentence: "an order of the desk is cancelled, filled or changed",
    tell: stateOfTheirs,
  },
  {
    name: "order-word",
    sentence: "an order of the desk was sent, or is released",
    tell: wordOnTheirs,
  },
  {
    name: "order-asked",
    sentence: "an order of the desk is asked about anew, or its key is used",
    tell: askAboutTheirs,
  },
  {
    name: "value-high",
    sentence: "a fund is worth ten times as much",
    tell: (own) => value(own, "10"),
  },
  {
    name: "price-high",
    sentence: "a price is five times as high",
    tell: (own) => price(own, ["5", "1.2", "100"]),
  },
  {
    name: "price-low",
    sentence: "a price is a fifth",
    tell: (own) => price(own, ["0.2", "0.9", "0.01"]),
  },
  {
    name: "value-of-valuer",
    sentence: "the valuer itself says a value that nothing explains",
    tell: valueOfValuer,
  },
  {
    name: "price-of-feed",
    sentence: "the one whose prices count says one that nobody trades at",
    tell: priceOfFeed,
  },
  { name: "fund-not-named", sentence: "a fill of a fund that its token does not name", tell: fundNotNamed },
  { name: "price-impossible", sentence: "a price of nothing or less", tell: (own) => price(own, ["0", "-1"]) },
  { name: "id-reused", sentence: "an id that said something else before", tell: reusedId },
  { name: "gap", sentence: "numbers that never come", tell: gap },
  { name: "unreadable", sentence: "a fill that cannot be read", tell: unreadable },
  { name: "unknown", sentence: "a fill of what nobody knows", tell: unknown },
  {
    name: "id-squatted",
    sentence: "a fill under the id that a fill of the desk will have",
    tell: squatted,
  },
];

/** Those that every run tells. */
export const currentLies: readonly Lie[] = lies.filter(({ waitsFor }) => waitsFor === undefined);
