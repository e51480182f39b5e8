// A hedge goes to the broker that holds what it reduces, and to nobody else.
import { expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { HedgeOrder } from "../../../core/watchdogs/watchdog.ts";
import type { Broker } from "../../../ports/broker.ts";
import { findHoldingBroker } from "./holding-broker.ts";

const symbol = "SPY 281215C00650000";
const cover: HedgeOrder = { strategyId: "gamma-income", symbol, side: "BUY", contracts: 2 };
const held = (quantity: string, strategyId = "gamma-income") => ({
  fundId: "gamma",
  strategyId,
  symbol,
  quantity: decimal.parse(quantity),
});

function broker(name: string, holds: string | "silent" | "incomplete"): Pick<Broker, "name" | "positions"> {
  return {
    name,
    async positions() {
      if (holds === "silent") throw new Error("no answer");
      if (holds === "incomplete") return { complete: false, why: "it is starting" };
      const item = { symbol, quantity: decimal.parse(holds), averagePrice: decimal.zero };
      return { complete: true, asOf: fromMicroseconds(0), cursor: 1, items: [item] };
    },
  };
}

const asked = (brokers: readonly Pick<Broker, "name" | "positions">[], positions = [held("-3")]) =>
  findHoldingBroker({ brokers, positions: async () => positions })("gamma", cover);

it("is the one with the most to close, whichever is listed first", async () => {
  expect(await asked([broker("first", "0"), broker("second", "-3")])).toBe("second");
  expect(await asked([broker("first", "-1"), broker("second", "-2"), broker("third", "5")])).toBe("second");
  expect(await asked([broker("first", "silent"), broker("second", "-3")])).toBe("second");
});

it("is nobody when the strategy holds nothing of it any more, or holds the other side", async () => {
  expect(await asked([broker("first", "-3")], [])).toBeUndefined();
  expect(await asked([broker("first", "-3")], [held("3")])).toBeUndefined();
  expect(await asked([broker("first", "-3")], [held("-3", "another")])).toBeUndefined();
});

it("is not guessed while brokers do not say what they hold", async () => {
  await expect(asked([broker("first", "silent"), broker("second", "0")])).rejects.toThrow(/first: no answer/);
  await expect(asked([broker("first", "incomplete")])).rejects.toThrow(/first: it is starting/);
  await expect(asked([broker("first", "3")])).rejects.toThrow(/none of them has SPY/);
});
