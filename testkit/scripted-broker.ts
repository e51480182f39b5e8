// A broker whose books are what the test writes into them: positions, orders and reports that need not agree with each other, and answers that can be
// missing or incomplete.
import * as decimal from "../contracts/src/decimal.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Broker, BrokerAnswer, BrokerOrderState, BrokerOrderStatus, BrokerReport } from "../ports/broker.ts";
import type { Clock } from "../ports/clock.ts";

export interface ScriptedBroker {
  readonly broker: Broker;
  readonly asked: string[];
  mood: "well" | "silent" | "incomplete" | "forgets reports";
  /** Sets what it says that an account holds. */
  hold(account: string, symbol: string, quantity: string): void;
  /** Sets an order as it has it, without a report. */
  order(
    status: Pick<BrokerOrderStatus, "clientOrderId" | "account" | "symbol" | "side"> & {
      readonly filled: string;
      readonly quantity: string;
      readonly state: BrokerOrderState;
    },
  ): void;
  /** A report of the order as it is, with a trade when there is a price. */
  report(clientOrderId: string, trade?: { readonly quantity: string; readonly price: string }): void;
  cursor(): number;
}

export function scriptedBroker(clock: Clock): ScriptedBroker {
  const positions = new Map<string, Map<string, decimal.Decimal>>();
  const orders = new Map<string, BrokerOrderStatus>();
  const reports: BrokerReport[] = [];
  const asked: string[] = [];
  const silent = (): Fault => new Fault("BROKER_UNAVAILABLE", "The broker is silent.", { retry: "later" });

  function answer<One>(what: string, items: () => readonly One[]): BrokerAnswer<One> {
    asked.push(what);
    if (script.mood === "silent") throw silent();
    // An answer that is not complete may well be empty: it must not read as flat.
    if (script.mood === "incomplete") return { complete: false, why: "only a part of it came" };
    return { complete: true, asOf: clock.now(), cursor: reports.length, items: items() };
  }

  const script: ScriptedBroker = {
    asked,
    mood: "well",
    cursor: () => reports.length,
    hold(account, symbol, quantity) {
      const own = positions.get(account) ?? new Map<string, decimal.Decimal>();
      own.set(symbol, decimal.parse(quantity));
      positions.set(account, own);
    },
    order({ filled, quantity, ...rest }) {
      const filledQuantity = decimal.parse(filled);
      const at = clock.now();
      orders.set(rest.clientOrderId, {
        ...rest,
        brokerOrderId: "b",
        quantity: decimal.parse(quantity),
        filledQuantity,
        at,
      });
    },
    report(clientOrderId, trade) {
      const status = orders.get(clientOrderId);
      if (status === undefined) throw new Error(`there is no order ${clientOrderId}`);
      const cursor = reports.length + 1;
      const execution = trade && {
        executionId: `e${cursor}`,
        quantity: decimal.parse(trade.quantity),
        price: decimal.parse(trade.price),
        fee: decimal.zero,
        feeCurrency: "USD",
      };
      reports.push({ cursor, status, at: clock.now(), ...(execution !== undefined && { execution }) });
    },
    broker: {
      name: "paper",
      submit: () => Promise.reject(silent()),
      cancel: () => Promise.reject(silent()),
      amend: () => Promise.reject(silent()),
      async order(clientOrderId) {
        if (script.mood === "silent") throw silent();
        return orders.get(clientOrderId);
      },
      openOrders: async (account) =>
        answer(`orders ${account}`, () =>
          [...orders.values()].filter((one) => one.account === account && /WORKING|PARTIALLY/.test(one.state)),
        ),
      positions: async (account) =>
        answer(`positions ${account}`, () =>
          [...(positions.get(account) ?? [])].map(([symbol, quantity]) => ({
            symbol,
            quantity,
            averagePrice: decimal.one,
          })),
        ),
      reports: async (after, countMax) =>
        script.mood === "forgets reports" ? [] : reports.slice(after, after + countMax),
      onReport: () => () => undefined,
      close: async () => undefined,
    },
  };
  return script;
}
