// What is held at rest and can be neither valued nor left is complained of, with the reason.
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { format, parse, plusMilliseconds } from "../contracts/src/instant.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { type AtRest, holdings, whatIsStuck } from "./at-rest.ts";
import { fold, history, positionKey, strategyKey } from "./history.ts";
import { message } from "./invariants/doctored-evidence.ts";

const now = parse("2026-11-15T12:00:00.000000Z");
const ago = (ms: number): string => format(plusMilliseconds(now, -ms));

/** One strategy of alpha holds ten shares, and its fund was valued with them at a price of a second ago. */
function atRest(differs: { readonly value?: object; readonly price?: object; readonly decision?: object } = {}) {
  const past = history();
  past.positions.set(positionKey("alpha", "AAPL"), decimal.parse("10"));
  past.strategyPositions.set(strategyKey("alpha", "one", "AAPL"), decimal.parse("10"));
  const prices = { AAPL: { quantity: "10", price: "100", at: ago(1_000), ...differs.price } };
  const value = { fund_id: "alpha", nav: "1000", net_flows: "0", as_of: ago(500), prices, ...differs.value };
  fold(past, message(subjects.navUpdated, value));
  const orders: object[] = [];
  const answer = { ok: true, value: { approved: true, ...differs.decision } };
  const platform = {
    tables: { risk: { references: new Map() } },
    ask: () => async (_service: string, _method: string, order: object) => {
      orders.push(order);
      return answer;
    },
  };
  const rest = { platform, witness: { past }, nowUs: () => now as number } as unknown as AtRest;
  const complaint = async () => (await whatIsStuck(rest, async () => undefined))?.complaint;
  return { past, orders, complaint };
}

const halted = (past: ReturnType<typeof history>, passes: boolean): void => {
  fold(past, message(subjects.envelopeUpdated, { fund_id: "alpha", version: 1, halt_allow_reduce_only: passes }));
  fold(past, message(subjects.haltRequested, { halt_id: "h", severity: "FUND_HALT", fund_id: "alpha", epoch: 1 }));
};

describe("what is held at rest", () => {
  it("is asked about with a marked exit by MARKET that nobody sends, and may be left", async () => {
    const { complaint, orders } = atRest();
    expect(await complaint()).toBeUndefined();
    expect(orders).toMatchObject([
      { side: "SELL", quantity: "10", order_type: "MARKET", reduce_only: true, dry_run: true, symbol: "AAPL" },
    ]);
  });

  it.each([
    ["nothing is said of it", { value: { prices: {} } }, /its value is without it/],
    ["the fund's value is old", { value: { as_of: ago(9_000) } }, /the fund was valued at \S+ last/],
    ["its price is old", { price: { at: ago(9_000) } }, /its price is of/],
    ["it is valued with another quantity", { price: { quantity: "9" } }, /it is valued with 9/],
    ["its exit is refused", { decision: { approved: false, code: "X", reason: "why" } }, /refused with X: why/],
  ])("is stuck when %s", async (_when, differs, words) => {
    expect(await atRest(differs).complaint()).toMatch(words);
  });

  it("may be stuck in a halt that the fund's limits let no exit pass, and in no other", async () => {
    const refused = { decision: { approved: false, code: "FUND_HALT", reason: "halted" } };
    const closed = atRest(refused);
    halted(closed.past, false);
    expect(await closed.complaint()).toBeUndefined();
    const open = atRest(refused);
    halted(open.past, true);
    expect(await open.complaint()).toMatch(/FUND_HALT/);
  });

  it("is closed in the market as far as the fund holds it too: the rest is crossed with another strategy", () => {
    const { past } = atRest();
    past.strategyPositions.set(strategyKey("alpha", "two", "AAPL"), decimal.parse("-6"));
    past.positions.set(positionKey("alpha", "AAPL"), decimal.parse("4"));
    expect(holdings(past).map(({ strategyId, closable }) => [strategyId, decimal.format(closable)])).toEqual([
      ["one", "4"],
      ["two", "0"],
    ]);
  });
});
