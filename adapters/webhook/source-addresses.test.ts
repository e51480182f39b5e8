// Exactly the listed addresses, single ones and ranges; nobody without a list.
import { expect, it } from "vitest";
import { sourceAddresses } from "./source-addresses.ts";

it("admits listed addresses and ranges of both families, and nobody else", () => {
  const admits = sourceAddresses(["52.89.214.238", "10.1.0.0/16", "2001:db8::/32", "::1"]);
  for (const address of ["52.89.214.238", "10.1.255.3", "2001:db8::7", "::1"])
    expect([address, admits(address)]).toEqual([address, true]);
  for (const address of ["52.89.214.239", "10.2.0.1", "2001:db9::7", "127.0.0.1", "", "unknown"]) {
    expect([address, admits(address)]).toEqual([address, false]);
  }
});

it("admits nobody when the list is empty", () => {
  expect(sourceAddresses([])("127.0.0.1")).toBe(false);
});
