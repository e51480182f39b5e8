// The engine's books as anybody would compute them who had all the time in the world: from the plain list of what happened, from its beginning,
// every time. It keeps no sums and shares no code with the engine, so that a slip in either shows.
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";

export type Happening =
  | { readonly kind: "approval"; readonly order: Order }
  | { readonly kind: "fill"; readonly fill: Fill }
  | { readonly kind: "transition"; readonly transition: OrderTransition };

/** What the world says at the moment of the question. */
export interface Tables {
  readonly reference: ReferenceContents;
  readonly prices: ReadonlyMap<string, string>;
  /** Of options. */
  readonly deltas: ReadonlyMap<string, string>;
  readonly navs: ReadonlyMap<string, string>;
  readonly envelopes: ReadonlyMap<string, RiskEnvelope>;
}

export interface NaiveOrder {
  readonly order: Order;
  quantity: bigint;
  /** How, where and how long it works, as one text. */
  terms: string;
  waiting: { readonly quantity: bigint; readonly terms: string }[];
  /** Whether any message has told that it is with a broker. */
  sent: boolean;
  filled: bigint;
  ended: boolean;
  reported: bigint;
  reportedAt: string;
  /** The newest of its reported ends, and of what shows that it works; empty while there is none. */
  endedAt: string;
  workedAt: string;
  /** The newest report that it works. */
  worked: { readonly at: string; readonly total: bigint } | undefined;
}

export interface NaiveBooks {
  /** Those that ended before they were filled. */
  readonly gone: Map<string, NaiveOrder>;
  /** By fund, then by symbol; only what is not zero. */
  readonly positions: Map<string, Map<string, bigint>>;
  /** By fund, strategy and symbol. */
  readonly strategies: Map<string, bigint>;
  readonly open: Map<string, NaiveOrder>;
}

export interface NaiveExposure {
  readonly gross: bigint;
  readonly netHigh: bigint;
  readonly netLow: bigint;
  readonly sectors: ReadonlyMap<string, bigint>;
  readonly unpriced: readonly string[];
  readonly openOrders: number;
}

const scale = 10n ** 18n;

/** 10^-18ths of a decimal's text, digit by digit. */
function units(text: string): bigint {
  const negative = text.startsWith("-");
  const [whole = "0", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  const value = BigInt(whole) * scale + BigInt(fraction.padEnd(18, "0"));
  return negative ? -value : value;
}

const largest = (values: readonly bigint[]): bigint => values.reduce((most, value) => (value > most ? value : most));
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
const upwards = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
const isBuy = (side: string): boolean => side === "BUY" || side === "BUY_TO_COVER";

const isLater = (at: string, than: string): boolean =>
  at !== "" && than !== "" && Date.parse(at) - Date.parse(than) > 5_000;

function atMostOf(order: NaiveOrder): bigint {
  const approved = largest([order.quantity, ...order.waiting.map(({ quantity }) => quantity)]);
  if (!order.ended) return approved;
  if (!isLater(order.workedAt, order.endedAt)) return order.reported;
  if (order.worked === undefined || !isLater(order.worked.at, order.endedAt)) return approved;
  const total = largest([order.worked.total, order.reported]);
  return total < approved ? total : approved;
}

export function remaining(order: NaiveOrder): bigint {
  const atMost = atMostOf(order);
  return atMost > order.filled ? atMost - order.filled : 0n;
}

/** Everything that happened, one after the other, from nothing. */
export function naiveBooks(happenings: readonly Happening[]): NaiveBooks {
  const books: NaiveBooks = { positions: new Map(), strategies: new Map(), open: new Map(), gone: new Map() };
  for (const happening of happenings) {
    if (happening.kind === "approval") approve(books, happening.order);
    else if (happening.kind === "fill") fillOne(books, happening.fill);
    else tell(books, happening.transition);
    for (const [id, order] of books.open) if (remaining(order) === 0n) close(books, id, order);
    for (const [id, order] of books.gone) if (remaining(order) > 0n) comeBack(books, id, order);
  }
  for (const held of books.positions.values()) {
    for (const [symbol, quantity] of held) if (quantity === 0n) held.delete(symbol);
  }
  return books;
}

function close({ open, gone }: NaiveBooks, id: string, order: NaiveOrder): void {
  open.delete(id);
  if (order.ended) gone.set(id, order);
}

function comeBack({ open, gone }: NaiveBooks, id: string, order: NaiveOrder): void {
  gone.delete(id);
  open.set(id, order);
}

function approve({ open, gone }: NaiveBooks, order: Order): void {
  gone.delete(order.order_id);
  const known = open.get(order.order_id);
  const [quantity, terms] = [units(order.quantity), termsOf(order)];
  const life = { waiting: [], sent: false, filled: 0n, ended: false, reported: 0n, reportedAt: "" };
  const dates = { endedAt: "", workedAt: "", worked: undefined };
  if (known === undefined) open.set(order.order_id, { order, quantity, terms, ...life, ...dates });
  else known.waiting.push({ quantity, terms });
}

function termsOf(order: Order): string {
  const price = (text: string | undefined): string => (text === undefined ? "none" : String(units(text)));
  const { order_type, tif, expires_at, broker, venue, reduce_only } = order;
  return JSON.stringify([
    [order_type, tif, expires_at, broker, venue, reduce_only],
    [price(order.limit_price), price(order.stop_price)],
  ]);
}

/** Whether the order can only take away from what may fill: all else stays as it is, and it is less than whatever may be in force. */
export function lowersNaively({ open }: NaiveBooks, order: Order): boolean {
  const known = open.get(order.order_id);
  if (known === undefined || known.ended || !known.sent) return false;
  const fields = ["fund_id", "strategy_id", "symbol", "side"] as const;
  if (fields.some((field) => known.order[field] !== order[field])) return false;
  const [quantity, terms] = [units(order.quantity), termsOf(order)];
  if ([known, ...known.waiting].some((other) => other.terms !== terms)) return false;
  return quantity < known.quantity && known.waiting.every((other) => quantity <= other.quantity);
}

const strategyKey = (of: Pick<Order, "fund_id" | "strategy_id" | "symbol">): string =>
  JSON.stringify([of.fund_id, of.strategy_id, of.symbol]);

function fillOne({ positions, strategies, open, gone }: NaiveBooks, fill: Fill): void {
  const held = positions.get(fill.fund_id) ?? new Map<string, bigint>();
  positions.set(fill.fund_id, held);
  const quantity = units(fill.quantity);
  held.set(fill.symbol, (held.get(fill.symbol) ?? 0n) + (isBuy(fill.side) ? quantity : -quantity));
  const key = strategyKey(fill);
  strategies.set(key, (strategies.get(key) ?? 0n) + (isBuy(fill.side) ? quantity : -quantity));
  const known = open.get(fill.order_id) ?? gone.get(fill.order_id);
  if (known === undefined) return;
  const { order } = known;
  const isOwn = order.fund_id === fill.fund_id && order.symbol === fill.symbol;
  if (isOwn && isBuy(order.side) === isBuy(fill.side)) {
    known.filled += quantity;
    known.sent = true;
    if (fill.filled_at > known.workedAt) known.workedAt = fill.filled_at;
  }
}

function tell({ open, gone }: NaiveBooks, transition: OrderTransition): void {
  const known = open.get(transition.order_id) ?? gone.get(transition.order_id);
  if (known === undefined || known.order.fund_id !== transition.fund_id) return;
  if (["ROUTED", "WORKING", "PARTIALLY_FILLED", "CANCEL_PENDING"].includes(transition.to)) known.sent = true;
  if (["REJECTED", "CANCELLED", "EXPIRED", "FILLED"].includes(transition.to)) {
    known.ended = true;
    known.reported = largest([known.reported, units(transition.filled_quantity)]);
    if (transition.at > known.endedAt) known.endedAt = transition.at;
  }
  if (["WORKING", "PARTIALLY_FILLED"].includes(transition.to)) works(known, transition);
  if (!known.ended && transition.quantity !== undefined && transition.at >= known.reportedAt) {
    known.reportedAt = transition.at;
    known.quantity = units(transition.quantity);
    const index = known.waiting.findIndex(({ quantity }) => quantity === known.quantity);
    known.terms = known.waiting[index]?.terms ?? known.terms;
    if (index !== -1) known.waiting = known.waiting.slice(index + 1);
  }
}

function works(known: NaiveOrder, { at, filled_quantity, remaining_quantity }: OrderTransition): void {
  if (at > known.workedAt) known.workedAt = at;
  const total = units(filled_quantity) + units(remaining_quantity);
  const { worked } = known;
  if (worked === undefined || at > worked.at || (at === worked.at && total > worked.total))
    known.worked = { at, total };
}

/** What one unit is worth in the fund's currency, rounded up at every step; undefined without a price or a rate. */
function unitValue(tables: Tables, fundId: string, symbol: string): bigint | undefined {
  const instrument = tables.reference.instruments.find((candidate) => candidate.symbol === symbol);
  const fund = tables.reference.funds.find((candidate) => candidate.fund_id === fundId);
  const price = tables.prices.get(symbol);
  if (instrument === undefined || fund === undefined || price === undefined) return undefined;
  const rate = rateBetween(tables, instrument.currency, fund.currency);
  if (rate === undefined) return undefined;
  const contract = upwards(units(price) * units(instrument.multiplier), scale);
  return upwards(contract * rate, scale);
}

/** What one unit counts, and what it adds to net exposure: of an option by its delta and its underlying. */
function counted(tables: Tables, fundId: string, symbol: string): { value: bigint; net: bigint } | undefined {
  const premium = unitValue(tables, fundId, symbol);
  const instrument = tables.reference.instruments.find((candidate) => candidate.symbol === symbol);
  if (premium === undefined || instrument?.asset_class !== "OPTION") {
    return premium === undefined ? undefined : { value: premium, net: premium };
  }
  const delta = tables.deltas.get(symbol);
  const price = tables.prices.get(instrument.underlying ?? "");
  const fund = tables.reference.funds.find((candidate) => candidate.fund_id === fundId);
  const rate = rateBetween(tables, instrument.currency, fund?.currency ?? "");
  if (delta === undefined || price === undefined || rate === undefined) return undefined;
  const share = upwards(magnitude(units(delta)) * units(price), scale);
  const contract = upwards(upwards(share * units(instrument.multiplier), scale) * rate, scale);
  const cents = upwards(contract, scale / 100n) * (scale / 100n);
  return { value: largest([premium, cents]), net: units(delta) < 0n ? -cents : cents };
}

/** An option's sector is its underlying's. */
export function sectorOf({ reference }: Tables, symbol: string): string {
  const instrument = reference.instruments.find((candidate) => candidate.symbol === symbol);
  const underlying = reference.instruments.find((candidate) => candidate.symbol === instrument?.underlying);
  return (underlying ?? instrument)?.sector ?? "";
}

function rateBetween({ reference }: Tables, from: string, to: string): bigint | undefined {
  if (from === to) return scale;
  const direct = reference.fx.find(({ base, quote }) => base === from && quote === to);
  if (direct !== undefined) return units(direct.rate);
  const inverse = reference.fx.find(({ base, quote }) => base === to && quote === from);
  return inverse === undefined ? undefined : upwards(scale * scale, units(inverse.rate));
}

export interface NaiveLine {
  readonly symbol: string;
  readonly position: bigint;
  readonly buys: bigint;
  readonly sells: bigint;
}

function naiveLines(books: NaiveBooks, fundId: string): readonly NaiveLine[] {
  const own = [...books.open.values()].filter(({ order }) => order.fund_id === fundId);
  const held = books.positions.get(fundId) ?? new Map<string, bigint>();
  const symbols = new Set([...held.keys(), ...own.map(({ order }) => order.symbol)]);
  return [...symbols].sort().map((symbol) => {
    const pending = own.filter(({ order }) => order.symbol === symbol);
    const sum = (buys: boolean): bigint =>
      pending.filter(({ order }) => isBuy(order.side) === buys).reduce((total, order) => total + remaining(order), 0n);
    return { symbol, position: held.get(symbol) ?? 0n, buys: sum(true), sells: sum(false) };
  });
}

export function naiveExposure(books: NaiveBooks, tables: Tables, fundId: string): NaiveExposure {
  let [gross, netHigh, netLow] = [0n, 0n, 0n];
  const sectors = new Map<string, bigint>();
  const unpriced: string[] = [];
  for (const { symbol, position, buys, sells } of naiveLines(books, fundId)) {
    const unit = counted(tables, fundId, symbol);
    if (unit === undefined) {
      unpriced.push(symbol);
      continue;
    }
    const worst = largest([magnitude(position + buys), magnitude(position - sells)]) * unit.value;
    const sector = sectorOf(tables, symbol);
    const ends = [(position + buys) * unit.net, (position - sells) * unit.net];
    gross += worst;
    netHigh += largest(ends);
    netLow -= largest(ends.map((end) => -end));
    if (worst !== 0n) sectors.set(sector, (sectors.get(sector) ?? 0n) + worst);
  }
  const openOrders = [...books.open.values()].filter(({ order }) => order.fund_id === fundId).length;
  return { gross, netHigh, netLow, sectors, unpriced, openOrders };
}

/**
 * The limits that some set of fills would break, found by trying every one: each open order of the fund fills whole or not at all. Only for
 * funds with few open orders.
 */
export function brokenLimits(books: NaiveBooks, tables: Tables, fundId: string): readonly string[] {
  const envelope = tables.envelopes.get(fundId);
  const nav = units(tables.navs.get(fundId) ?? "0");
  if (envelope === undefined) return ["no envelope"];
  const pending = [...books.open.values()].filter(({ order }) => order.fund_id === fundId);
  const held = books.positions.get(fundId) ?? new Map<string, bigint>();
  const broken = new Set<string>();
  for (let set = 0; set < 2 ** pending.length; set += 1) {
    const after = new Map(held);
    pending.forEach((order, index) => {
      if ((set & (1 << index)) === 0) return;
      const { symbol, side } = order.order;
      after.set(symbol, (after.get(symbol) ?? 0n) + (isBuy(side) ? remaining(order) : -remaining(order)));
    });
    for (const limit of brokenBy(after, tables, envelope, nav)) broken.add(limit);
  }
  return [...broken];
}

function brokenBy(
  positions: ReadonlyMap<string, bigint>,
  tables: Tables,
  envelope: RiskEnvelope,
  nav: bigint,
): readonly string[] {
  const fraction = (limit: number): bigint => units(String(limit)) * nav;
  const broken: string[] = [];
  let [gross, net] = [0n, 0n];
  const sectors = new Map<string, bigint>();
  const groups = new Map<string, bigint>();
  for (const [symbol, quantity] of positions) {
    const unit = counted(tables, envelope.fund_id, symbol) ?? { value: 0n, net: 0n };
    const value = quantity * unit.value;
    const sector = sectorOf(tables, symbol);
    const listed = tables.reference.instruments.find((candidate) => candidate.symbol === symbol);
    const group = listed?.underlying ?? symbol;
    groups.set(group, (groups.get(group) ?? 0n) + magnitude(value));
    gross += magnitude(value);
    net += quantity * unit.net;
    sectors.set(sector, (sectors.get(sector) ?? 0n) + magnitude(value));
    if (magnitude(value) > fraction(envelope.max_position_pct)) broken.push(`position ${symbol}`);
  }
  for (const [group, value] of groups) {
    if (value > fraction(envelope.max_position_pct)) broken.push(`underlying ${group}`);
  }
  if (gross > fraction(envelope.max_gross_exposure_pct)) broken.push("gross");
  if (magnitude(net) > fraction(envelope.max_net_exposure_pct)) broken.push("net");
  for (const [sector, value] of sectors) {
    const limit = envelope.sector_limits_pct[sector];
    if (limit !== undefined && value > fraction(limit)) broken.push(`sector ${sector}`);
  }
  return broken;
}

/**
 * What an approved order breaks of the rules about sides, sizes and prices. The books are those after its approval, in which it is open itself.
 * Only a lower bound of its worth is compared: what it is worth at the market.
 */
export function naiveRules(books: NaiveBooks, tables: Tables, envelope: RiskEnvelope, order: Order): readonly string[] {
  const own = books.open.get(order.order_id);
  const position = books.positions.get(order.fund_id)?.get(order.symbol) ?? 0n;
  const buys = isBuy(order.side);
  const others = [...books.open.values()]
    .filter((other) => other !== own && other.order.fund_id === order.fund_id && other.order.symbol === order.symbol)
    .filter((other) => isBuy(other.order.side) === buys);
  const left = (held: bigint, pending: readonly NaiveOrder[]): bigint =>
    pending.reduce((sum, other) => sum - remaining(other), buys ? -held : held);
  const closable = largest([0n, left(position, others)]);
  const opens = units(order.quantity) - (own?.filled ?? 0n) > closable;
  const broken: string[] = [];
  if (envelope.strict_sides !== false && order.asset_class !== "CRYPTO") {
    const isWrong = { SELL: opens, BUY_TO_COVER: opens, BUY: opens && position < 0n, SELL_SHORT: position > 0n };
    if (isWrong[order.side as keyof typeof isWrong]) broken.push("side");
  }
  const marked = order.reduce_only === true;
  const ofStrategy = others.filter((other) => other.order.strategy_id === order.strategy_id);
  const ownLeft = left(books.strategies.get(strategyKey(order)) ?? 0n, ofStrategy);
  if (marked && units(order.quantity) - (own?.filled ?? 0n) > largest([0n, ownLeft])) broken.push("own");
  const value = unitValue(tables, order.fund_id, order.symbol);
  if (!marked && (value === undefined || units(order.quantity) * value > units(String(envelope.max_notional)) * scale))
    broken.push("size");
  const price = units(tables.prices.get(order.symbol) ?? "0");
  const { price_collar_pct: narrow, exit_collar_pct: stated = Math.min(0.9, narrow * 4) } = envelope;
  const collar = units(String(marked ? Math.max(narrow, stated) : narrow));
  const limit = order.order_type === "LIMIT" ? units(order.limit_price ?? "0") : price;
  if (magnitude(limit - price) * scale > price * collar) broken.push("price");
  return broken;
}
