// The desk as lines: what it says first, that ages alone are no change, and that a halt is one line.
import { expect, it } from "vitest";
import {
  calm,
  desk,
  haltOf,
  haltStatus,
  laterBy,
  list,
  orderOf,
  played,
  threePositions,
  twoFunds,
} from "../../testkit/tui/desk-fixture.ts";
import { changes } from "./plain.ts";

it("says what there is, and of everything later only what changed", () => {
  const empty = desk();
  const first = played(empty, list("funds", twoFunds), list("positions", threePositions.slice(0, 1)));
  expect([...changes(empty.state, first.state)]).toEqual([
    "Fund alpha PAPER: value 10,000,105.82, day's profit +105.82, not halted.",
    "Fund beta PAPER: value not known, day's profit -45.25, not halted.",
    "Position AAPL of alpha-momentum: 10, value 1,010.00, profit +20.00.",
  ]);
  const before = calm();
  expect([...changes(before.state, played(before, laterBy(1_000)).state)]).toEqual([]);
  const orders = list("orders", [orderOf("o-1", "FILLED"), orderOf("o-2", "REJECTED", { code: "FUND_HALTED" })]);
  expect([...changes(before.state, played(before, orders).state)]).toEqual([
    "Order o-2 of alpha: BUY 10 AAPL REJECTED FUND_HALTED.",
  ]);
});

it("says a halt once, though its age goes on, and that the link is stale", () => {
  const before = calm();
  const halted = played(before, list("halts", haltStatus([haltOf()])));
  expect([...changes(before.state, halted.state)]).toEqual([
    "Attention: HALTED firm: manual, operator:relief, since 3 min",
  ]);
  expect([...changes(halted.state, played(halted, laterBy(4_000)).state)]).toEqual([]);
  expect([...changes(halted.state, played(halted, laterBy(60_000)).state)]).toEqual(["Link: stale."]);
});
