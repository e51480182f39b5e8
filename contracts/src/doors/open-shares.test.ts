// What anyone may ask costs something of a share, and nothing else does; what is refused first when all strangers together ask too much.
import { expect, test } from "vitest";
import { costWithoutToken, type Operation, operations } from "../authority.ts";
import { type OpenShare, openShares } from "./open-shares.ts";

test("every operation that anyone may ask declares its share and its cost, and no other", () => {
  for (const name of Object.keys(operations) as Operation[]) {
    const isOpen = operations[name].allowed === "anyone";
    expect([name, costWithoutToken(name) !== undefined]).toEqual([name, isOpen]);
  }
});

test("documents leave most for others and pages nothing, and the log-in, alerts and health ask nobody", () => {
  const leaving = (Object.keys(openShares) as OpenShare[]).filter((share) => openShares[share].leaves !== undefined);
  const order = leaving.toSorted((one, other) => (openShares[other].leaves ?? 0) - (openShares[one].leaves ?? 0));
  expect([order[0], order.at(-1)]).toEqual(["document", "page"]);
  expect(Object.keys(openShares).filter((share) => !leaving.includes(share as OpenShare))).toEqual([
    "health",
    "log_in",
    "alert",
  ]);
});
