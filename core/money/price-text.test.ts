// Prices in sentences: the instrument's digits, never more.
import { expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { priceText } from "./price-text.ts";

it.each([
  ["187.495", "0.01", "187.5"],
  ["187.485", "0.01", "187.48"],
  ["64123.123456", "0.5", "64123.1"],
  ["15012.7", "1", "15013"],
  ["0.00001234", "0.00000001", "0.00001234"],
  ["-3.999", "0.01", "-4"],
])("%s at a tick of %s reads %s", (price, tick, text) => {
  expect(priceText(parse(price), parse(tick))).toBe(text);
});

it("without a tick size reads as it is", () => {
  expect(priceText(parse("1.234567"), undefined)).toBe("1.234567");
});
