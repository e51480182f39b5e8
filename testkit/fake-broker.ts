// A broker for tests that does what it is told: it may say nothing before or after it has acted, lose the bell, hide reports or repeat them,
// and trades only when the test says so. Its books are its own and outlive whoever talks to it.
import * as decimal from "../contracts/src/decimal.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { Broker, BrokerOrder, BrokerOrderState, BrokerOrderStatus, BrokerReport } from "../ports/broker.ts";
import type { Clock } from "../ports/clock.ts";
import type { Timers } from "../ports/timers.ts";

/** "before": what is asked never arrives. "after": it is done and the caller is not told. */
export type Silence = "before" | "after" | undefined;

interface Kept {
  order: BrokerOrder;
  state: BrokerOrderState;
  filled: decimal.Decimal;
  reason: string | undefined;
}

export interface FakeBroker extends Broker {
  /** What becomes of the next question of that kind; asked every time. */
  silence: (question: "submit" | "cancel" | "amend" | "order" | "reports") => Silence;
  /** Orders that are refused on arrival, by their id. */
  readonly refused: Set<string>;
  /** Numbers of reports that are not shown yet. */
  readonly hidden: Set<number>;
  repeatsReports: boolean;
  answerMs: () => number;
  /** How often an order arrived, by its id. */
  readonly arrivals: Map<string, number>;
  readonly kept: ReadonlyMap<string, Kept>;
  trade(orderId: string, quantity: string, price: string): void;
  end(orderId: string, state: "CANCELLED" | "EXPIRED" | "REJECTED"): void;
  /** What the account holds by its trades. */
  held(symbol: string): decimal.Decimal;
}

export interface FakeBrokerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly name?: string;
}

const open: ReadonlySet<BrokerOrderState> = new Set(["WORKING", "PARTIALLY_FILLED"]);

export function fakeBroker({ clock, timers, name = "paper" }: FakeBrokerOptions): FakeBroker {
  const kept = new Map<string, Kept>();
  const reports: BrokerReport[] = [];
  const bells = new Set<() => void>();
  let executions = 0;

  const statusOf = ({ order, state, filled, reason }: Kept): BrokerOrderStatus => ({
    clientOrderId: order.clientOrderId,
    brokerOrderId: `b-${order.clientOrderId}`,
    account: order.account,
    symbol: order.symbol,
    side: order.side,
    state,
    quantity: order.quantity,
    ...(order.limitPrice !== undefined && { limitPrice: order.limitPrice }),
    ...(order.stopPrice !== undefined && { stopPrice: order.stopPrice }),
    filledQuantity: filled,
    ...(reason !== undefined && { reason }),
    at: clock.now(),
  });

  function report(one: Kept, execution?: BrokerReport["execution"]): void {
    const at: Instant = clock.now();
    reports.push({
      cursor: reports.length + 1,
      status: statusOf(one),
      ...(execution !== undefined && { execution }),
      at,
    });
    for (const ring of bells) ring();
  }

  const unknown = (id: string): Fault => new Fault("NOT_FOUND", `no order ${id}`, { retry: "never" });

  async function ask<Answer>(question: Parameters<FakeBroker["silence"]>[0], act: () => Answer): Promise<Answer> {
    const silence = fake.silence(question);
    const refuse = async (): Promise<never> => {
      await timers.sleep(1_000);
      throw new Fault("BROKER_UNAVAILABLE", "the broker says nothing", { retry: "later" });
    };
    await timers.sleep(fake.answerMs());
    if (silence === "before") return refuse();
    const answer = act();
    if (silence === "after") return refuse();
    await timers.sleep(fake.answerMs());
    return answer;
  }

  function accept(order: BrokerOrder): BrokerOrderStatus {
    const before = kept.get(order.clientOrderId);
    if (before !== undefined) return statusOf(before);
    fake.arrivals.set(order.clientOrderId, (fake.arrivals.get(order.clientOrderId) ?? 0) + 1);
    const isRefused = fake.refused.has(order.clientOrderId);
    const one: Kept = {
      order,
      state: isRefused ? "REJECTED" : "WORKING",
      filled: decimal.zero,
      reason: isRefused ? "we do not want it" : undefined,
    };
    kept.set(order.clientOrderId, one);
    report(one);
    return statusOf(one);
  }

  function mustHave(id: string): Kept {
    const one = kept.get(id);
    if (one === undefined) throw unknown(id);
    return one;
  }

  const fake: FakeBroker = {
    name,
    silence: () => undefined,
    refused: new Set(),
    hidden: new Set(),
    repeatsReports: false,
    answerMs: () => 1,
    arrivals: new Map(),
    kept,
    submit: (order) => ask("submit", () => accept(order)),
    cancel: (id) =>
      ask("cancel", () => {
        const one = mustHave(id);
        if (open.has(one.state)) {
          one.state = "CANCELLED";
          report(one);
        }
        return statusOf(one);
      }),
    amend: (id, { quantity, limitPrice, stopPrice }) =>
      ask("amend", () => {
        const one = mustHave(id);
        if (!open.has(one.state) || (quantity !== undefined && quantity <= one.filled)) return statusOf(one);
        one.order = {
          ...one.order,
          ...(quantity !== undefined && { quantity }),
          ...(limitPrice !== undefined && { limitPrice }),
          ...(stopPrice !== undefined && { stopPrice }),
        };
        report(one);
        return statusOf(one);
      }),
    order: (id) =>
      ask("order", () => {
        const one = kept.get(id);
        return one === undefined ? undefined : statusOf(one);
      }),
    openOrders: async (account) => ({
      complete: true,
      asOf: clock.now(),
      cursor: reports.length,
      items: [...kept.values()].filter((one) => one.order.account === account && open.has(one.state)).map(statusOf),
    }),
    positions: async () => ({ complete: true, asOf: clock.now(), cursor: reports.length, items: [] }),
    reports: (after, countMax) =>
      ask("reports", () => {
        const from = fake.repeatsReports ? Math.max(0, after - 2) : after;
        const shown = reports.slice(from).filter(({ cursor }) => !fake.hidden.has(cursor));
        return (fake.repeatsReports ? shown.flatMap((one) => [one, one]) : shown).slice(0, countMax);
      }),
    onReport(ring) {
      bells.add(ring);
      return () => bells.delete(ring);
    },
    close: async () => undefined,
    trade(id, quantity, price) {
      const one = mustHave(id);
      executions += 1;
      one.filled = decimal.add(one.filled, decimal.parse(quantity));
      if (open.has(one.state)) one.state = one.filled >= one.order.quantity ? "FILLED" : "PARTIALLY_FILLED";
      report(one, {
        executionId: `e-${executions}`,
        quantity: decimal.parse(quantity),
        price: decimal.parse(price),
        fee: decimal.parse("0.01"),
        feeCurrency: "USD",
      });
    },
    end(id, state) {
      const one = mustHave(id);
      one.state = state;
      report(one);
    },
    held: (symbol) =>
      [...kept.values()]
        .filter(({ order }) => order.symbol === symbol)
        .reduce((sum, { order, filled }) => {
          const buys = order.side === "BUY" || order.side === "BUY_TO_COVER";
          return decimal.add(sum, buys ? filled : decimal.negate(filled));
        }, decimal.zero),
  };
  return fake;
}
