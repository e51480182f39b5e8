// A small desk of somebody else's: prices, values, one order that trades, one that rests until a halt cancels it.
//   npx tsx examples/typescript/desk.ts books.json
// It ends when a halt of its fund was obeyed and everything is reported; with --until-working already when its orders are reported. Python's twin,
// examples/python, has the whole of recovery.
import { randomUUID } from "node:crypto";
import { Books, type Order } from "./books.ts";
import { ask, type EventPage, engine, openPublish, openTail } from "./connect.ts";
import { Venue } from "./venue.ts";

const [path = "books.json", ...switches] = process.argv.slice(2);
const fund = { fund_id: "harbor", strategy_id: "harbor-core" };
/** In cents: money is never a binary fraction. */
const prices: Readonly<Record<string, number>> = { ACME: 10_000, GLOBEX: 4_000 };
const text = (cents: number) => `${Math.trunc(cents / 100)}.${String(Math.abs(cents % 100)).padStart(2, "0")}`;
const books = new Books(path);
const venue = new Venue(`${path}.venue`);
const now = () => new Date().toISOString();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Decision {
  readonly approved: boolean;
  readonly code: string;
  readonly reason: string;
  readonly halt_epoch: number;
  readonly valid_until: string;
  readonly original?: Decision | null;
}

interface HaltStatus {
  readonly known: boolean;
  readonly halted: boolean;
  readonly halts: readonly { readonly epoch: number }[];
}

/** Sends the outbox until each event is answered, and prices in between; a stream that broke is opened again. */
async function publishForEver(): Promise<void> {
  for (;;) {
    const stream = openPublish();
    const sent = new Set<string>();
    let broken = "";
    stream.on("error", (error) => {
      broken = error.message;
    });
    stream.on("data", ({ id, accepted, code, reason }) => {
      if (!accepted) say(`REFUSED ${id}: ${code} ${reason}`);
      if (id !== "") books.change(() => (books.kept.outbox = books.kept.outbox.filter((one) => one.id !== id)));
    });
    for (let round = 0; broken === ""; round += 1) {
      for (const event of books.kept.outbox.filter(({ id }) => !sent.has(id)).slice(0, 200)) {
        sent.add(event.id);
        stream.write(event);
      }
      if (round % 10 === 0) for (const mark of marks()) stream.write(mark);
      await pause(50);
    }
    say(`publishing broke off: ${broken}`);
  }
}

function marks(): readonly object[] {
  return Object.entries(prices).map(([symbol, price]) => ({
    subject: "svc.v1.market.marks",
    payload_json: JSON.stringify({ symbol, price: text(price), source: "example", at: now() }),
  }));
}

function publishValue(): void {
  // A value of a minute ago helps nobody: while the platform is away, wait.
  if (books.kept.outbox.some(({ subject }) => subject === "svc.v1.treasury.nav.updated")) return;
  const { cash, held } = books.kept;
  const worth = Object.entries(held).reduce((sum, [symbol, n]) => sum + n * (prices[symbol] ?? 0), 0);
  const value = {
    fund_id: fund.fund_id,
    nav: text(cash + worth),
    currency: "USD",
    as_of: now(),
    net_flows: "0",
  };
  books.change(() => books.publish("values", "svc.v1.treasury.nav.updated", value));
}

const suffixes: Readonly<Record<string, string>> = {
  ACCEPTED: "accepted",
  REJECTED: "rejected",
  CANCELLED: "cancelled",
};

/** The order's new state and the event that tells of it, in one step. */
function move(order: Order, to: string, filled = "0", more: () => void = () => undefined): void {
  books.change(() => {
    const remaining = ["FILLED", "CANCELLED", "REJECTED"].includes(to) ? "0" : order.quantity;
    const { order_id, symbol, state: from } = order;
    const step = {
      ...fund,
      order_id,
      symbol,
      from,
      to,
      filled_quantity: filled,
      remaining_quantity: remaining,
      at: now(),
    };
    books.publish("orders", `svc.v1.oms.orders.${suffixes[to] ?? "updated"}`, step);
    order.state = to;
    more();
  });
  say(`${to} ${order.order_id}`);
}

const asked = ({ state: _, ...order }: Order): object => ({
  ...order,
  ...fund,
  side: "BUY",
  order_type: order.limit_price === undefined ? "MARKET" : "LIMIT",
  tif: "DAY",
  broker: "house",
  asset_class: "EQUITY",
  actor: "example-desk",
});

function place(terms: { readonly symbol: string; readonly quantity: string; readonly limit_price?: string }): Order {
  const order = { order_id: randomUUID(), idempotency_key: randomUUID(), ...terms, state: "PENDING_CHECK" };
  books.change(() => {
    books.kept.orders[order.order_id] = order;
    books.publish("orders", "svc.v1.oms.orders.created", asked(order));
  });
  return order;
}

/** Check, compare the epoch, send, report. */
async function work(order: Order): Promise<void> {
  const answer = await ask<Decision>("CheckOrder", asked(order));
  // We asked before, and the answer was lost: that one counts.
  const decision = answer.code === "DUPLICATE_KEY" && answer.original ? answer.original : answer;
  if (!decision.approved) {
    say(`DENIED ${decision.code} ${decision.reason}`);
    return move(order, "REJECTED");
  }
  const status = await ask<HaltStatus>("GetHaltStatus", fund);
  const newer = status.halts.some(({ epoch }) => epoch > decision.halt_epoch);
  if (!status.known || newer || now() >= decision.valid_until) {
    await ask("ReleaseApproval", { order_id: order.order_id, reason: "A halt is newer, or the approval ran out." });
    return move(order, "CANCELLED");
  }
  // Reported before it is sent: an order that may be with the venue keeps its room.
  move(order, "ROUTED");
  const price = venue.submit(order, prices[order.symbol] ?? 0);
  move(order, "WORKING");
  if (price !== undefined) book(order, price);
}

function book(order: Order, price: number): void {
  move(order, "FILLED", order.quantity, () => {
    const quantity = Number(order.quantity);
    books.kept.cash -= quantity * price;
    books.kept.held[order.symbol] = (books.kept.held[order.symbol] ?? 0) + quantity;
    const terms = { side: "BUY", broker: "house", currency: "USD", filled_at: now() };
    const { order_id, symbol } = order;
    const fill = { fill_id: `${order_id}/1`, order_id, symbol, quantity: order.quantity, price: text(price) };
    books.publish("fills", "svc.v1.oms.fills.created", { ...fund, ...fill, ...terms });
  });
}

/** Cancels what a halt covers; reads what is in force by itself, so it may be called at any time. */
async function obeyHalts(): Promise<boolean> {
  if (!(await ask<HaltStatus>("GetHaltStatus", fund)).halted) return false;
  for (const order of Object.values(books.kept.orders).filter(({ state }) => state === "WORKING")) {
    venue.cancel(order.order_id);
    move(order, "CANCELLED");
  }
  return true;
}

/** Follows halts from where we had stopped, and resolves when one was obeyed. */
async function untilHalted(): Promise<void> {
  for (;;) {
    const stream = openTail();
    const read = (after: string) => stream.write({ subjects: ["svc.v1.operations.halt.>"], after });
    read(books.kept.after);
    try {
      for await (const page of stream as AsyncIterable<EventPage>) {
        // Also when a page is empty, which comes every few seconds: a halt before the first page is seen then.
        if (await obeyHalts()) return;
        books.change(() => (books.kept.after = page.after));
        read(page.after);
      }
    } catch (error) {
      say(`following events broke off: ${(error as Error).message}`);
      await pause(500);
    }
  }
}

/** An order whose fate was open when we stopped: the venue's books say. Before anything new. */
function recover(): void {
  for (const order of Object.values(books.kept.orders).filter(({ state }) => state === "ROUTED"))
    move(order, venue.knows(order.order_id) ? "WORKING" : "CANCELLED");
}

recover();
void publishForEver();
setInterval(publishValue, 1_000);
publishValue();
if (!(await obeyHalts())) {
  for (const limit of [undefined, "97.00"]) {
    // Prices and the first value take a moment to arrive.
    for (let order: Order | undefined; order === undefined || order.state === "REJECTED"; await pause(300)) {
      order = place({ symbol: "ACME", quantity: "10", ...(limit !== undefined && { limit_price: limit }) });
      await work(order);
    }
  }
  if (!switches.includes("--until-working")) await untilHalted();
}
while (books.kept.outbox.some(({ subject }) => !subject.includes(".treasury."))) await pause(50);
engine.close();
process.exit(0);
