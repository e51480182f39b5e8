// Nothing reaches a gate that is not classified: every operation that tells the engine something has its word, and every word that is no "nothing" is about
// something that the engine is told.
import { expect, it } from "vitest";
import { inputOperations } from "./engine-inputs.ts";
import { looseningWords } from "./loosening-words.ts";

const operations = new Set(Object.values(inputOperations).flatMap((by) => (typeof by === "string" ? [] : by)));

it("every operation that tells the engine something says what that does", () => {
  for (const operation of operations) {
    expect([operation, looseningWords[operation].loosens]).not.toEqual([operation, "NOTHING"]);
  }
});

it("every operation that is said to move what gates read tells the engine something", () => {
  const said = Object.entries(looseningWords).flatMap(([operation, { loosens }]) =>
    loosens === "NOTHING" ? [] : [operation],
  );
  expect(said.filter((operation) => !operations.has(operation as never))).toEqual([]);
});
