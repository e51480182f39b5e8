// What can be asked about orders, trades and positions.

import { Fault } from "../../contracts/src/fault.ts";
import type {
  Fills,
  GetOrderRequest,
  ListFillsRequest,
  ListOrdersRequest,
  ListPositionsRequest,
  OrderStatus,
  OrderStatuses,
  Positions,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { type Instant, tryParse } from "../../contracts/src/instant.ts";
import { type OrderState, orderState } from "../../contracts/src/records/values.ts";
import type { KeptQuote } from "../../ports/quote-records.ts";
import { mustKnowFund } from "../shared/must-know-fund.ts";
import type { Instruments } from "./instruments.ts";
import type { OmsPorts } from "./oms-parts.ts";
import { noSuchOrder } from "./order-commands.ts";
import { fillMessageOf, fillQuotesOf, orderQuotesOf, positionMessageOf, statusOf } from "./order-status.ts";

const countDefault = 100;
const countMax = 1_000;

function counted(asked: number): number {
  return asked === 0 ? countDefault : Math.min(asked, countMax);
}

function stateOf(asked: string): OrderState {
  const known = orderState.safeParse(asked);
  if (known.success) return known.data;
  throw new Fault("INVALID_ARGUMENT", `The state is one of ${orderState.options.join(", ")}.`, { retry: "never" });
}

function instantOf(asked: string): Instant {
  const at = tryParse(asked);
  if (at !== undefined) return at;
  throw new Fault("INVALID_ARGUMENT", "since is a moment in RFC 3339, such as 2026-11-15T13:30:00Z.", {
    retry: "never",
  });
}

export function createOrderLists(ports: OmsPorts, instruments: Instruments) {
  const { store, omsQueries } = ports;

  /** By the id of the order or fill. */
  async function quotesOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly KeptQuote[]>> {
    if (ids.length === 0) return new Map();
    const kept = await store.transact("oms.look", (unit) => unit.quotes.quotesOf(ids));
    const byId = new Map<string, KeptQuote[]>();
    for (const one of kept) {
      const own = byId.get(one.id);
      if (own === undefined) byId.set(one.id, [one]);
      else own.push(one);
    }
    return byId;
  }

  return {
    async getOrder({ order_id: orderId }: GetOrderRequest): Promise<OrderStatus> {
      const stored = await store.transact("oms.look", (unit) => unit.oms.order(orderId));
      if (stored === undefined) throw noSuchOrder(orderId);
      const quotes = orderQuotesOf((await quotesOf([orderId])).get(orderId) ?? []);
      return { ...statusOf(stored), ...(quotes !== undefined && { quotes }) };
    },

    async listOrders(request: ListOrdersRequest): Promise<OrderStatuses> {
      const found = await omsQueries.orders({
        openOnly: request.open_only,
        countMax: counted(request.count_max),
        ...(request.fund_id !== undefined && { fundId: request.fund_id }),
        ...(request.state !== undefined && { state: stateOf(request.state) }),
        ...(request.since !== undefined && { since: instantOf(request.since) }),
        ...(request.id_prefix !== undefined && { idPrefix: request.id_prefix }),
        ...(request.after_order_id !== undefined && { afterOrderId: request.after_order_id }),
      });
      if (found.length === 0) await mustKnowFund(ports, request.fund_id);
      const kept = await quotesOf(found.map(({ order }) => order.order_id));
      return {
        orders: found.map((stored) => {
          const quotes = orderQuotesOf(kept.get(stored.order.order_id) ?? []);
          return { ...statusOf(stored), ...(quotes !== undefined && { quotes }) };
        }),
      };
    },

    async listFills(request: ListFillsRequest): Promise<Fills> {
      const found = await omsQueries.fills({
        countMax: counted(request.count_max),
        ...(request.fund_id !== undefined && { fundId: request.fund_id }),
        ...(request.order_id !== undefined && { orderId: request.order_id }),
        ...(request.id_prefix !== undefined && { idPrefix: request.id_prefix }),
        ...(request.after_fill_id !== undefined && { afterFillId: request.after_fill_id }),
      });
      if (found.length === 0) await mustKnowFund(ports, request.fund_id);
      const kept = await quotesOf(found.map(({ fill_id }) => fill_id));
      return {
        fills: found.map((fill) => {
          const quotes = fillQuotesOf(kept.get(fill.fill_id) ?? []);
          return { ...fillMessageOf(fill), ...(quotes !== undefined && { quotes }) };
        }),
      };
    },

    /** Those that are not flat. */
    async listPositions({ fund_id: fundId }: ListPositionsRequest): Promise<Positions> {
      const all = await store.transact("oms.look", (unit) => unit.oms.positions(fundId));
      const held = all.filter(({ quantity }) => quantity !== 0n);
      if (held.length === 0) await mustKnowFund(ports, fundId);
      const positions = await Promise.all(
        held.map(async (position) =>
          positionMessageOf(
            position,
            await instruments.find(position.symbol),
            await instruments.freshPrice(position.symbol, position.fundId),
          ),
        ),
      );
      return { positions };
    },
  };
}
