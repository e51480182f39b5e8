// The trades of an order's life, as they are reported: each fill, and each that is taken back. The same steps give the same events in whatever order they arrive.
//
//  1. A fill that waits to be accepted is put aside, and judged again under a name of its own when it is accepted.
//  2. One that is taken back before that is dropped: there is nothing to cancel.
import type { FiledOrder, FiledTrade, LifeStep } from "../../contracts/src/records/filing.ts";
import type { OrderMaker, RegulatoryEvent } from "./regulatory-event.ts";

type Created = Extract<LifeStep, { readonly kind: "created" }>;
type Filled = Extract<LifeStep, { readonly kind: "filled" }>;

const operatorPrefix = "operator:";

/** In the order of their times; none of an order whose beginning is not among the steps. */
export function eventsOfTrades(steps: readonly LifeStep[]): readonly RegulatoryEvent[] {
  const created = steps.find((step) => step.kind === "created");
  if (created?.kind !== "created") return [];
  const fills = steps
    .filter((step) => step.kind === "filled")
    .toSorted((one, other) => one.at - other.at || compare(one.id, other.id));
  return fills.flatMap((fill) => (fill.trade === undefined ? [] : eventsOfTrade(created, fill, fill.trade, steps)));
}

/** Who is behind an order, by how records name who gave it. */
export function makerOf(strategyId: string | undefined, givenBy: string | undefined, isClaimed: boolean): OrderMaker {
  const operator = givenBy?.startsWith(operatorPrefix) === true ? givenBy.slice(operatorPrefix.length) : undefined;
  return { strategyId, isClaimed, ...(operator !== undefined && operator !== "" && { operator }) };
}

function eventsOfTrade(
  created: Created,
  fill: Filled,
  trade: FiledTrade,
  steps: readonly LifeStep[],
): readonly RegulatoryEvent[] {
  const { fillId, quantity, price } = trade;
  const order = orderOf(created.order, trade);
  const named = (id: string, type: string): string => JSON.stringify(["bus", order.order_id, id, type]);
  const filled: RegulatoryEvent = {
    type: "fill",
    at: fill.at,
    order,
    details: { fill_id: fillId, quantity, price },
    key: named(fill.id, "fill"),
    maker: makerOf(created.strategyId, created.givenBy, created.isForeign === true),
  };
  const busted = steps.find((step) => step.kind === "busted" && step.fillId === fillId);
  const taken: readonly RegulatoryEvent[] =
    busted === undefined
      ? []
      : [
          {
            ...filled,
            type: "fill_busted",
            at: busted.at,
            details: { fill_id: fillId },
            key: named(busted.id, "fill_busted"),
          },
        ];
  const { waitsFor = [] } = fill;
  if (waitsFor.length === 0) return [filled, ...taken];
  const aside = { ...filled, waits: true };
  const acceptedAt = acceptedAtOf(fillId, waitsFor, steps);
  if (acceptedAt === undefined || (busted !== undefined && busted.at < acceptedAt)) return [aside];
  return [aside, { ...filled, key: JSON.stringify(["again", filled.key]) }, ...taken];
}

/** When the last of its blocks ended; undefined while one is open. */
function acceptedAtOf(fillId: string, waitsFor: readonly string[], steps: readonly LifeStep[]): number | undefined {
  let last = Number.NEGATIVE_INFINITY;
  for (const blockId of waitsFor) {
    const end = steps.find((step) => step.kind === "accepted" && step.fillId === fillId && step.blockId === blockId);
    if (end === undefined) return undefined;
    last = Math.max(last, end.at);
  }
  return last;
}

/** The order, with what the fill says of where and in what it traded. */
function orderOf(order: FiledOrder, { side, venue, broker, currency }: FiledTrade): FiledOrder {
  return {
    ...order,
    side,
    ...(venue !== undefined && { venue }),
    ...(broker !== undefined && { broker }),
    ...(currency !== undefined && { currency }),
  };
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
