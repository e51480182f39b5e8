// The widest body of a description: as long as declared where that is declared, and otherwise as long as a body may be.
import { expect, test } from "vitest";
import { legalBodies } from "../../testkit/hostile/legal-body.ts";
import { widestBody } from "./widest-body.ts";

const taken = (): boolean => true;
const list = { type: "array", maxItems: 7, items: { type: "string", maxLength: 5 } };

test("a declared list and map are as long as they may be, with nothing in them twice", () => {
  const map = { type: "object", maxProperties: 3, additionalProperties: { type: "integer" } };
  const schema = { type: "object", properties: { names: list, limits: map } };
  const body = JSON.parse(widestBody(schema, {}, 1_000, taken) ?? "") as { names: string[]; limits: object };
  expect([body.names.length, new Set(body.names).size, body.names[0]?.length]).toEqual([7, 7, 5]);
  expect(Object.keys(body.limits)).toHaveLength(3);
});

test("what has no bound fills at least a quarter of what a body may have, and never more than that", () => {
  for (const items of [{ type: "string" }, { type: "object", properties: { a: list } }]) {
    const text = widestBody({ type: "array", items }, {}, 20_000, taken) ?? "";
    expect(text.length).toBeGreaterThan(5_000);
    expect(text.length).toBeLessThanOrEqual(20_000);
  }
});

test("what its description does not take is not sent", () => {
  expect(widestBody({ type: "object", properties: { names: list } }, {}, 1_000, () => false)).toBeUndefined();
});

test("what its route would not read is not sent", () => {
  const legal = legalBodies();
  const { isWithin = () => true, bytesMax } = legal.get("resumeHalt") ?? {};
  expect(bytesMax).toBe(1_048_576);
  const ids = (count: number) => ({ halt_ids: Array.from({ length: count }, (_, index) => `h${index}`) });
  expect([isWithin(ids(10_000)), isWithin(ids(10_001))]).toEqual([true, false]);
});
