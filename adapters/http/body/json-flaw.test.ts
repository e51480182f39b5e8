// The place of the first flaw: it agrees with the language's reader on what is JSON, and points where a person would look.
import fc from "fast-check";
import { expect, it } from "vitest";
import { inputCount } from "../../../testkit/full-count.ts";
import { jsonFlawOffset, placeIn } from "./json-flaw.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it.each([
  ['{\n  "side": "buy"\n  "quantity": "1"\n}', "line 3, column 3"],
  ['{"side": buy}', "line 1, column 10"],
  ['{"side": "buy",}', "line 1, column 16"],
  ['{"side": "buy"', "line 1, column 15"],
  ["{'side': 1}", "line 1, column 2"],
  ["", "line 1, column 1"],
  ["buy AAPL", "line 1, column 1"],
  ['{"a": 1} {"b": 2}', "line 1, column 10"],
  ['{"a": 01}', "line 1, column 8"],
  ['{"thesis": "two\nlines"}', "line 1, column 12"],
])("%j has its flaw at %s", (text, place) => {
  const at = jsonFlawOffset(text);
  expect(at).toBeDefined();
  expect(placeIn(text, at ?? 0)).toBe(place);
});

it("finds a flaw in what is no JSON, and none in what is", () => {
  const pieces = fc.constantFrom(..."{}[],:", '"a"', '"\\n"', '"\\x"', "1", "-0.5e3", "01", "true", "nul", " ", "\n");
  const mixed = fc.array(pieces, { maxLength: 12 }).map((some) => some.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.json(), mixed, fc.string()), (text) => {
      expect(jsonFlawOffset(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: inputCount(2_000) },
  );
});
