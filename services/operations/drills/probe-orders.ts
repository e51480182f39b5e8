// The orders of a drill, in the drill's own paper fund and nowhere else: one that rests far away from the market when the halt comes, and one that is
// handed in afterwards and must be refused.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { Instrument, Quote } from "../../../contracts/src/records/market.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import { drillFundId } from "../../../core/halts/halts.ts";
import { hasEnded, mayBeWithBroker } from "../../../core/orders/order-lifecycle.ts";
import type { ServicePorts } from "../../shared/service.ts";

export interface ProbeOptions {
  readonly ports: Pick<ServicePorts, "store" | "referenceData" | "orderManagement">;
  /** The newest quote of each symbol, as it came. */
  readonly newest: ReadonlyMap<string, Quote>;
  readonly broker: string;
}

export interface Probe {
  /** Rests an order; gives why that could not be done. */
  rest(): Promise<string | undefined>;
  /** Whether the order that rested is gone for certain. */
  isCancelled(): Promise<boolean>;
  /** Hands another one in; gives why that proves no block. */
  isRefused(): Promise<string | undefined>;
  /** Whatever is left of it is wanted gone. */
  clear(): Promise<void>;
}

/** What says no because of a halt: order management by itself, or the risk engine that it asked. */
const haltCodes: ReadonlySet<string> = new Set(["ORDER_HALTED", "FUND_HALTED", "FIRM_HALTED"]);
/** So far below the market that it cannot trade while the drill lasts. */
const farAway = decimal.parse("0.5");

/** Undefined where there is no paper fund for drills: then a drill has no orders of its own. */
export async function openProbe(options: ProbeOptions, drillId: string): Promise<Probe | undefined> {
  const { store, referenceData, orderManagement } = options.ports;
  const { funds, instruments } = await referenceData.read();
  const fund = funds.find(({ fund_id: id, mode }) => id === drillFundId && mode === "PAPER");
  const strategyId = fund?.strategies[0];
  if (strategyId === undefined) return undefined;
  const resting = `${drillId}-resting`;
  const late = `${drillId}-late`;

  function orderOf(orderId: string): Order | undefined {
    const quoted = instruments.filter(({ symbol }) => isQuoted(options.newest.get(symbol)));
    // What trades around the clock can rest around the clock.
    const instrument = quoted.find(({ asset_class: kind }) => kind === "CRYPTO") ?? quoted[0];
    if (instrument === undefined) return undefined;
    return {
      idempotency_key: orderId,
      order_id: orderId,
      fund_id: drillFundId,
      strategy_id: strategyId ?? "",
      symbol: instrument.symbol,
      side: "BUY",
      quantity: instrument.lot_size,
      order_type: "LIMIT",
      tif: "GTC",
      limit_price: farPrice(instrument, options.newest.get(instrument.symbol)),
      broker: options.broker,
      asset_class: instrument.asset_class,
      actor: "service:operations",
      thesis: `Halt drill ${drillId}.`,
    };
  }

  const stateOf = async (orderId: string) =>
    (await store.transact("drill.look", (unit) => unit.oms.order(orderId)))?.state;

  /** What became of it; undefined when nothing quotes. */
  async function submit(orderId: string): Promise<{ readonly state: string; readonly code: string } | undefined> {
    const order = orderOf(orderId);
    if (order === undefined) return undefined;
    const answered = await orderManagement.submit(order);
    if ("denial" in answered) return { state: "REJECTED", code: answered.denial.code };
    const { state, code, decision } = answered.answer;
    return { state, code: code ?? decision?.code ?? "" };
  }

  return {
    async rest() {
      try {
        const taken = await submit(resting);
        if (taken === undefined) return "no order rested, because nothing has a price";
        const state = await stateOf(resting);
        if (state !== undefined && mayBeWithBroker(state) && !hasEnded(state)) return undefined;
        return `no order rested, it was ${state ?? taken.state}${taken.code === "" ? "" : ` (${taken.code})`}`;
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        return `no order rested (${messageOf(thrown)})`;
      }
    },
    isCancelled: async () => (await stateOf(resting)) === "CANCELLED",
    async isRefused() {
      try {
        const taken = await submit(late);
        if (taken === undefined) return "no order was tried, because nothing has a price";
        if (taken.state === "REJECTED" && haltCodes.has(taken.code)) return undefined;
        return `an order in the halted fund was ${taken.state}${taken.code === "" ? "" : ` (${taken.code})`}`;
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        return `whether an order is refused could not be asked (${messageOf(thrown)})`;
      }
    },
    async clear() {
      for (const orderId of [resting, late]) {
        const state = await stateOf(orderId);
        if (state !== undefined && !hasEnded(state))
          await orderManagement.cancel(orderId, `Halt drill ${drillId} is over.`);
      }
    },
  };
}

function isQuoted(quote: Quote | undefined): boolean {
  return (decimal.tryParse(quote?.bid ?? "") ?? decimal.zero) > 0n;
}

function farPrice({ tick_size: tick }: Instrument, quote: Quote | undefined): string {
  const half = decimal.multiply(decimal.parse(quote?.bid ?? "0"), farAway, "floor");
  const price = decimal.roundToIncrement(half, decimal.parse(tick), "down");
  return decimal.format(decimal.max(price, decimal.parse(tick)));
}
