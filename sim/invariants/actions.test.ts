// The invariant of corporate actions holds where it should, and complains about evidence that was doctored.
import { describe, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { fold, history } from "../history.ts";
import type { Reported } from "../reported.ts";
import { actionsKeepValue } from "./actions.ts";

type Message = readonly [subject: { readonly name: string }, payload: object];

const fill = (id: string, side: string, quantity: string, kind: string, symbol = "AAPL"): Message => [
  subjects.fillsCreated,
  {
    fill_id: id,
    order_id: id,
    fund_id: "alpha",
    strategy_id: "one",
    symbol,
    side,
    quantity,
    price: kind === "CORPORATE_ACTION" ? "0" : "100",
    kind,
  },
];
const bought = fill("f", "BUY", "10", "TRADE");
const split = (state: string, ratio: readonly [number, number] = [4, 1]): Message => [
  subjects.corporateActionChanged,
  {
    action_id: "a",
    kind: "SPLIT",
    symbol: "AAPL",
    state,
    legs: [{ symbol: "AAPL", new_symbol: "AAPL", quantity: ratio, price: [ratio[1], ratio[0]] }],
  },
];
const renamed = (state: string): Message => [
  subjects.corporateActionChanged,
  {
    action_id: "a",
    kind: "SYMBOL_CHANGE",
    symbol: "AAPL",
    state,
    legs: [{ symbol: "AAPL", new_symbol: "NEW", quantity: [1, 1], price: [1, 1] }],
  },
];
const valued = (quantity: string, price: string, at: string, symbol = "AAPL"): Message => [
  subjects.navUpdated,
  { fund_id: "alpha", nav: "1000", net_flows: "0", as_of: at, prices: { [symbol]: { quantity, price, at } } },
];
const fired = (observed_price: string, fill_price: string): Message => [
  subjects.stopTriggered,
  { stop_id: "s", fund_id: "alpha", strategy_id: "one", symbol: "AAPL", quantity: "40", observed_price, fill_price },
];
const approved: Message = [
  subjects.decisionMade,
  { order: { order_id: "o", symbol: "AAPL" }, decision: { approved: true } },
];

const given = fill("a1", "BUY", "30", "CORPORATE_ACTION");
const before = [bought, valued("10", "100", "1"), split("ANNOUNCED")];
const after = [...before, given, split("APPLIED")];
const taken = fill("a1", "SELL", "10", "CORPORATE_ACTION");
const newOnes = fill("a2", "BUY", "10", "CORPORATE_ACTION", "NEW");

/** The complaint about the last of them. */
function complaint(messages: readonly Message[]): string | undefined {
  const past = history();
  const all = messages.map(
    ([{ name: subject }, payload], position): Reported => ({
      id: String(position),
      subject,
      at: position,
      position,
      payload,
    }),
  );
  for (const reported of all.slice(0, -1)) fold(past, reported);
  const platform = { outside: { bidAsk: () => ({ bid: 25, ask: 25 }) } };
  return actionsKeepValue.violated({ past, reported: all.at(-1), platform } as unknown as Evidence);
}

describe("actions_keep_worth", () => {
  it.each<[string, readonly Message[]]>([
    ["everybody got what the terms say", [...before, given, split("APPLIED")]],
    [
      "a fraction was paid for",
      [
        ...[bought, split("ANNOUNCED", [1, 4]), fill("a1", "SELL", "7.5", "CORPORATE_ACTION")],
        ...[fill("a2", "SELL", "0.5", "CASH_IN_LIEU"), split("APPLIED", [1, 4])],
      ],
    ],
    ["it is called otherwise", [bought, renamed("ANNOUNCED"), taken, newOnes, renamed("APPLIED")]],
    ["the price was turned", [...after, valued("40", "25", "1")]],
    ["the price is a new one", [...after, valued("40", "22.3", "2")]],
    ["the value is one of before it", [...after, valued("10", "100", "1")]],
    ["all of it was sold since", [...after, fill("s", "SELL", "40", "TRADE"), valued("1", "1", "2", "XOM")]],
    ["a stop fires for what the market did", [...after, fired("25.1", "31")]],
    ["something is approved before and after it", [...before, approved]],
    ["something is approved before and after it", [...after, split("DONE"), approved]],
  ])("holds when %s", (_when, messages) => {
    expect(complaint(messages)).toBeUndefined();
  });

  it.each<[string, RegExp, readonly Message[]]>([
    ["somebody got nothing", /one held 10 AAPL before a and 10 after it: 40 is right/, [...before, split("APPLIED")]],
    [
      "somebody got too much",
      /40.5 after it: 40 is right/,
      [...[...before, fill("a1", "BUY", "30.5", "CORPORATE_ACTION"), split("APPLIED")]],
    ],
    [
      "whole shares are paid for in lieu",
      /was paid for -3 in lieu/,
      [...[...before, given, fill("a2", "SELL", "3", "CASH_IN_LIEU"), split("APPLIED")]],
    ],
    [
      "less arrives under the new name",
      /held 10 AAPL before a and nothing of NEW after it/,
      [...[bought, renamed("ANNOUNCED"), taken, renamed("APPLIED")]],
    ],
    [
      "another quantity arrives under the new name",
      /one held 0 NEW before a and 9 after it: 10 is right/,
      [bought, renamed("ANNOUNCED"), taken, fill("a2", "BUY", "9", "CORPORATE_ACTION", "NEW"), renamed("APPLIED")],
    ],
    [
      "the price was not turned",
      /valued with 40 AAPL at 100 after a, and at 100 before it/,
      [...[...after, valued("40", "100", "1")]],
    ],
    ["a new price is one of before", /valued with 40 AAPL at 97 after a/, [...after, valued("40", "97", "2")]],
    ["it is valued with nothing", /valued without what a left of AAPL/, [...after, valued("1", "1", "2", "XOM")]],
    ["a stop fires at a price of before", /s fired at 100, a price of before a/, [...after, fired("100", "25")]],
    ["a stop counts from a price of before", /s fired at 120, a price/, [...after, fired("25", "120")]],
    ["something is approved meanwhile", /o was approved while a is applied and not done/, [...after, approved]],
  ])("complains when %s", (_when, words, messages) => {
    expect(complaint(messages)).toMatch(words);
  });
});
