// Orders that a program hands in while everything is struck: small, of two funds, each sent again with its key until it is answered. What was
// acknowledged must be there for good.

import { messageOf } from "../../contracts/src/fault.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import { pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import type { PaperFixture } from "./paper-fixture.ts";

export interface PaperOrders {
  /** Orders that were acknowledged, with the state that the caller was told. */
  readonly acknowledged: ReadonlyMap<string, string>;
  unanswered(): number;
  lastTrouble(): string;
  stop(): Promise<void>;
}

const everyMs = 300;
const againMs = 200;
// The same order again and again would trip a throttle, so quantities differ.
const tradedLines = [
  {
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    asset_class: "EQUITY",
    quantity: (size: number) => `${size}`,
  },
  {
    fund_id: "beta",
    strategy_id: "beta-trend",
    symbol: "ETH-USD",
    asset_class: "CRYPTO",
    quantity: (size: number) => `0.0${size}`,
  },
] as const;
const sizeMax = 9;

export function runPaperOrders(fixture: PaperFixture, throws: Prng): PaperOrders {
  const acknowledged = new Map<string, string>();
  let isStopping = false;
  let count = 0;
  let unanswered = 0;
  let trouble = "none";

  async function handIn(traded: (typeof tradedLines)[number], isBuy: boolean): Promise<void> {
    count += 1;
    const order = {
      ...traded,
      quantity: traded.quantity(1 + throws.below(sizeMax)),
      order_id: `rounds-${count}`,
      idempotency_key: `rounds-${count}`,
      side: isBuy ? "BUY" : "SELL",
      order_type: "MARKET",
      tif: "DAY",
      broker: "paper",
      actor: "crash rounds",
    };
    while (!isStopping) {
      try {
        const { state } = await fixture.ask<OrderStatus>("Oms", "SubmitOrder", order);
        acknowledged.set(order.order_id, state);
        return;
      } catch (error) {
        unanswered += 1;
        trouble = messageOf(error);
        await pause(againMs);
      }
    }
  }

  async function trade(traded: (typeof tradedLines)[number]): Promise<void> {
    for (let isBuy = true; !isStopping; isBuy = !isBuy) {
      await handIn(traded, isBuy);
      await pause(everyMs);
    }
  }

  const trading = Promise.all(tradedLines.map(trade));
  return {
    acknowledged,
    unanswered: () => unanswered,
    lastTrouble: () => trouble,
    async stop() {
      isStopping = true;
      await trading;
    },
  };
}
