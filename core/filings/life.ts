// The life of an order as order management published it, read as the events that a regulator wants of it. The same steps give the same events, whoever
// reads them and whenever: what the subscription records and what a day must hold are both made here.
//
//  1. Steps are taken in the order of their own times, and read by what they lead to: neither where they came from nor when they arrived counts.
//  2. An order is new when it passed its check, stamped with its receipt: one that was denied is none. An exit that goes out in slices is new with its first
//     slice, and its slices are its children.
//  3. A route counts once it was sent: it worked, its fate was unknown, it traded, or the broker refused it. It is stamped with ROUTED, and sent again it is
//     the same route. What was withdrawn unsent is none.
//  4. An amendment changes terms; a step that repeats them is none.
//  5. An order that was new and ends otherwise than filled or expired is cancelled: by the customer where a person asked for it, else by the firm.
//  6. Terms are those of the order as it was taken in; where nobody published that, those that were approved.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { FiledDetails, FiledEventType, FiledOrder, LifeStep } from "../../contracts/src/records/filing.ts";
import type { OrderState } from "../../contracts/src/records/values.ts";
import type { RegulatoryEvent } from "./regulatory-event.ts";

type Moved = Extract<LifeStep, { readonly kind: "moved" }>;

/** States that only an order has that passed its check. */
const passed: ReadonlySet<OrderState> = new Set([
  "ACCEPTED",
  "ROUTED",
  "WORKING",
  "PARTIALLY_FILLED",
  "FILLED",
  "CANCEL_PENDING",
  "UNKNOWN",
  "EXPIRED",
]);
/** States that only an order has that was sent. */
const sent: ReadonlySet<OrderState> = new Set(["WORKING", "PARTIALLY_FILLED", "FILLED", "UNKNOWN"]);
const brokerRefused = "ORDER_BROKER_REJECTED";

/** In the order in which a regulator hears them; none of an order whose beginning is not among the steps. */
export function eventsOfLife(steps: readonly LifeStep[]): readonly RegulatoryEvent[] {
  const ordered = steps.toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
  const created = beginningOf(ordered);
  if (created === undefined) return [];
  const moves = ordered.filter((step) => step.kind === "moved");
  const isSliced = ordered.some(({ kind }) => kind === "sliced");
  const wasFilled = ordered.some(({ kind }) => kind === "filled");
  if (!(isSliced || wasFilled || moves.some(({ to }) => passed.has(to)))) return [];
  const life = lifeOf(created.order);
  const parent = moves.find(({ parentOrderId }) => parentOrderId !== undefined)?.parentOrderId;
  if (parent === undefined) life.tell("new_order", created.at, created.id);
  else life.tell("child_order", created.at, created.id, { parent_order_id: parent });
  const route = isSliced ? undefined : routeOf(moves, wasFilled, isForeign(created));
  for (const move of moves) readMove(life, move, route);
  return life.events;
}

type Beginning = Extract<LifeStep, { readonly kind: "created" | "decided" }>;

/** Undefined while nobody knows the order's terms. Steps come in the order of their times. */
export function beginningOf(ordered: readonly LifeStep[]): Beginning | undefined {
  const created = ordered.find((step) => step.kind === "created");
  return created ?? ordered.find((step) => step.kind === "decided");
}

/** Only a foreign system leaves it to the decision to say what was ordered. */
const isForeign = (beginning: Beginning): boolean => beginning.kind === "decided" || beginning.isForeign === true;

interface Life {
  readonly events: RegulatoryEvent[];
  readonly order: FiledOrder;
  isRouted: boolean;
  hasEnded: boolean;
  /** Whoever asked first for its cancellation was a person. */
  wantedBy: "C" | "F" | undefined;
  change(terms: NonNullable<Moved["terms"]>): void;
  tell(type: FiledEventType, at: Instant, stepId: string, details?: FiledDetails): void;
}

function lifeOf(first: FiledOrder): Life {
  let order = first;
  const events: RegulatoryEvent[] = [];
  return {
    events,
    get order() {
      return order;
    },
    isRouted: false,
    hasEnded: false,
    wantedBy: undefined,
    change: (terms) => {
      order = { ...order, ...terms };
    },
    tell(type, at, stepId, details = {}) {
      const key = JSON.stringify(["bus", order.order_id, stepId, type]);
      events.push({ type, at, order, details, key });
    },
  };
}

/** The step with which it first went out; undefined when it was never sent, or nobody says when. */
function routeOf(moves: readonly Moved[], wasFilled: boolean, isForeign: boolean): Moved | undefined {
  const routed = moves.find(({ to }) => to === "ROUTED");
  const wasSent =
    wasFilled || moves.some(({ to, code }) => sent.has(to) || (to === "REJECTED" && code === brokerRefused));
  if (!wasSent) return undefined;
  return routed ?? (isForeign ? moves.find(({ to }) => sent.has(to)) : undefined);
}

function readMove(life: Life, move: Moved, route: Moved | undefined): void {
  if (life.hasEnded) return;
  const { at, id, terms, to, askedBy } = move;
  if (askedBy !== undefined) life.wantedBy ??= "C";
  else if (to === "CANCEL_PENDING") life.wantedBy ??= "F";
  if (terms !== undefined && isOther(life.order, terms)) {
    life.change(terms);
    // Terms that change as it goes out are those that it goes out with.
    life.tell("order_modified", at, id, leavesOf(life.order, move));
    if (life.isRouted) life.tell("route_modified", at, id);
  }
  if (move === route) {
    life.isRouted = true;
    life.tell("order_routed", at, id);
  }
  if (to === "CANCELLED" || to === "REJECTED") end(life, move);
  if (to === "FILLED" || to === "EXPIRED") life.hasEnded = true;
}

function end(life: Life, { at, id, to, code, filledQuantity }: Moved): void {
  life.hasEnded = true;
  const left = decimal.subtract(decimal.parse(life.order.quantity), decimal.parse(filledQuantity));
  const isRefused = to === "REJECTED" && code === brokerRefused;
  if (life.isRouted && isRefused) life.tell("route_rejected", at, id);
  if (left <= 0n) return;
  const details = { cancel_quantity: decimal.format(left), leaves_quantity: "0" };
  if (life.isRouted && !isRefused) life.tell("route_cancelled", at, id, details);
  life.tell("order_cancelled", at, id, { ...details, initiator: isRefused ? "F" : (life.wantedBy ?? "F") });
}

function leavesOf({ quantity }: FiledOrder, { filledQuantity }: Moved): FiledDetails {
  const left = decimal.subtract(decimal.parse(quantity), decimal.parse(filledQuantity));
  return { leaves_quantity: decimal.format(decimal.max(left, decimal.zero)), initiator: "F" };
}

/** A number may be written in two ways. */
function isOther(order: FiledOrder, terms: NonNullable<Moved["terms"]>): boolean {
  return (["quantity", "limit_price", "stop_price"] as const).some((name) => {
    const [before, now] = [order[name], terms[name]];
    if (now === undefined || before === now) return false;
    return before === undefined || decimal.compare(decimal.parse(before), decimal.parse(now)) !== 0;
  });
}
