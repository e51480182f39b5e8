// A flatten as people read it: what was to be closed and cancelled, and how far each has come.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Column } from "./listing.ts";
import { clean } from "./text.ts";

export type Flatten = AnswerOf<"getFlatten">;
type Line = Flatten["lines"][number];
type Order = Flatten["orders"][number];
type FlattenFund = Flatten["funds"][number];

/** What stands above its table. */
export function flattenLead(flatten: Flatten): string {
  const [closed, gone] = [flatten.lines.length - owedLines(flatten), flatten.orders.length - owedOrders(flatten)];
  const positions = `${closed} of ${flatten.lines.length} positions closed`;
  const orders = `${gone} of ${flatten.orders.length} orders gone`;
  const unflat = unflatFunds(flatten);
  const rest = unflat.length > 0 ? unflatWords(unflat) : goesOn;
  const lead = `${positions}, ${orders}.${flatten.done_at === undefined ? ` ${rest}` : ""}`;
  return `${lead} Flatten ${clean(flatten.flatten_id)}, audit ${clean(flatten.audit_id ?? "")}.`;
}

export function unflatFunds({ funds }: Flatten): readonly FlattenFund[] {
  return funds.filter(({ state }) => state === "NOT_FLAT");
}

function unflatWords(unflat: readonly FlattenFund[]): string {
  const each = unflat.map(({ fund_id, left, open_orders }) => {
    const names = left.map(({ symbol, quantity }) => `${clean(quantity)} ${clean(symbol)}`);
    return `${clean(fund_id)} (${[...names, ...(open_orders > 0 ? [`${open_orders} open orders`] : [])].join(", ")})`;
  });
  return `NOT DONE: the broker does not call it flat: ${each.join(", ")}.`;
}

const goesOn = "What is left is tried until it is done, also now that this command ends.";
const ended: ReadonlySet<Order["state"]> = new Set(["FILLED", "CANCELLED", "EXPIRED", "REJECTED"]);

function owedLines({ lines }: Flatten): number {
  return lines.filter(({ state }) => state === "OWED" || state === "EXITING").length;
}

function owedOrders({ orders }: Flatten): number {
  return orders.filter(({ state }) => !ended.has(state)).length;
}

export function owed(flatten: Flatten): number {
  return owedLines(flatten) + owedOrders(flatten);
}

interface FlattenRow {
  readonly what: "position" | "order";
  readonly of: Line | Order;
  readonly attempts: number | undefined;
}

export function flattenRows({ lines, orders }: Flatten): readonly FlattenRow[] {
  return [
    ...orders.map((of): FlattenRow => ({ what: "order", of, attempts: undefined })),
    ...lines.map((of): FlattenRow => ({ what: "position", of, attempts: of.attempts })),
  ];
}

export const flattenColumns: readonly Column<FlattenRow>[] = [
  { name: "what", key: true, of: ({ what }) => what },
  { name: "fund_id", of: ({ of }) => of.fund_id },
  { name: "strategy_id", of: ({ of }) => of.strategy_id },
  { name: "symbol", of: ({ of }) => of.symbol },
  { name: "quantity", of: ({ of }) => of.quantity, number: true },
  { name: "state", always: true, of: ({ of }) => of.state },
  { name: "attempts", of: ({ attempts }) => attempts, number: true },
  { name: "at", of: ({ of }) => of.at, time: true },
  { name: "order_id", id: true, of: ({ of }) => of.order_id },
  { name: "complaint", text: true, of: ({ of }) => of.complaint },
];
