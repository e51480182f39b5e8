// What an event of order management says of an order's life, as a regulator's records are made of it.
import { type Instant, parse } from "../../../contracts/src/instant.ts";
import { instantText } from "../../../contracts/src/records/fields.ts";
import { type FiledTrade, filedOrder, type LifeStep } from "../../../contracts/src/records/filing.ts";
import type {
  DecisionMade,
  Fill,
  FillBusted,
  OrderCreated,
  OrderTransition,
} from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { KeptStep } from "../../../ports/filing-steps.ts";

export const lifeSubjects: readonly string[] = [
  subjects.ordersCreated.name,
  subjects.ordersAccepted.name,
  subjects.ordersRejected.name,
  subjects.ordersUpdated.name,
  subjects.ordersCancelled.name,
  subjects.ordersExpired.name,
  subjects.fillsCreated.name,
  subjects.fillsBusted.name,
];

type PublishedEvent = Pick<BusEvent, "id" | "subject" | "source" | "at" | "payload">;

/** Of a slice also that its parent was sliced. Fills that are no trades are none. */
export function stepsOfEvent(event: PublishedEvent, isForeign: boolean): readonly KeptStep[] {
  const { id, subject, source } = event;
  if (subject === subjects.fillsCreated.name) {
    const fill = event.payload as Fill;
    if (fill.kind !== undefined && fill.kind !== "TRADE") return [];
    const step: LifeStep = { kind: "filled", id, at: parse(fill.filled_at), trade: tradeOf(fill) };
    return [{ fundId: fill.fund_id, orderId: fill.order_id, source, step }];
  }
  if (subject === subjects.fillsBusted.name) {
    const { fund_id: fundId, order_id: orderId, fill_id: fillId, at } = event.payload as FillBusted;
    return [{ fundId, orderId, source, step: { kind: "busted", id, at: parse(at), fillId } }];
  }
  if (subject === subjects.ordersCreated.name) {
    const created = event.payload as OrderCreated;
    const step: LifeStep = {
      kind: "created",
      id,
      at: receiptOf(event, created, isForeign),
      order: filedOrder.parse(created),
      strategyId: created.strategy_id,
      ...present({ givenBy: isForeign ? created.actor : created.submitted_by }),
      ...(isForeign && { isForeign }),
    };
    return [{ fundId: created.fund_id, orderId: created.order_id, source, step }];
  }
  return movesOf(event, event.payload as OrderTransition);
}

function tradeOf({ fill_id: fillId, side, quantity, price, venue, broker, currency }: Fill): FiledTrade {
  return { fillId, side, quantity, price, ...present({ venue, broker, currency }) };
}

/** The terms that were approved; undefined for what was denied, or asked without spending anything. */
export function decidedStep({ order, decision }: DecisionMade): Extract<LifeStep, { kind: "decided" }> | undefined {
  if (!decision.approved || decision.dry_run === true || order["dry_run"] === true) return undefined;
  const terms = filedOrder.safeParse(order);
  if (!terms.success) return undefined;
  const at = parse(decision.decided_at);
  const claimed = instantText.safeParse(order["created_at"]);
  const receipt = claimed.success ? parse(claimed.data) : at;
  return { kind: "decided", id: decision.decision_id, at: receipt > at ? at : receipt, order: terms.data };
}

function movesOf({ id, source }: PublishedEvent, moved: OrderTransition): readonly KeptStep[] {
  const {
    fund_id: fundId,
    order_id: orderId,
    parent_order_id: parentOrderId,
    quantity,
    limit_price,
    stop_price,
  } = moved;
  const at = parse(moved.at);
  const terms = quantity === undefined ? undefined : { quantity, ...present({ limit_price, stop_price }) };
  const step: LifeStep = {
    kind: "moved",
    id,
    at,
    to: moved.to,
    filledQuantity: moved.filled_quantity,
    ...present({ terms, parentOrderId, code: moved.code, askedBy: moved.cancel_asked_by }),
  };
  const own: KeptStep = { fundId, orderId, source, step, ...present({ parentOrderId }) };
  if (parentOrderId === undefined) return [own];
  return [{ fundId, orderId: parentOrderId, source, step: { kind: "sliced", id, at } }, own];
}

/** Our own order's event has the time of its receipt; a foreign one says when, unless that is later than it came. */
function receiptOf({ at }: PublishedEvent, { created_at: claimed }: OrderCreated, isForeign: boolean): Instant {
  const said = isForeign && claimed !== undefined ? parse(claimed) : at;
  return said > at ? at : said;
}

function present<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>;
  };
}
