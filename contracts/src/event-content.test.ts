// An event's content is the same however it is written, and another one with any other value in it.
import { describe, expect, test } from "vitest";
import { exampleFill, exampleNav } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { contentOf } from "./event-content.ts";
import { foreignDurableSubjects } from "./foreign-events.ts";
import type { Subject } from "./subject.ts";
import { subjectByName, subjects } from "./subjects.ts";

const { fillsCreated, fillsBusted, navUpdated } = subjects;
const said = (subject: Pick<Subject<unknown>, "name" | "schema">, payload: object): string =>
  contentOf(subject, subject.schema.parse(JSON.parse(JSON.stringify(payload))));

describe("the content of an event", () => {
  test("is the same in another order of members, with decimals written otherwise, and with fields that we do not know", () => {
    const turned = Object.fromEntries(Object.entries(exampleFill).reverse());
    const written = { ...turned, quantity: `${exampleFill.quantity}.00`, price: `${exampleFill.price}0`, added: 1 };
    expect(said(fillsCreated, written)).toBe(said(fillsCreated, exampleFill));
    const nav = { ...exampleNav, prices: { AAPL: { quantity: "10", price: "1.5", at: exampleNav.as_of } } };
    const same = { ...exampleNav, prices: { AAPL: { at: exampleNav.as_of, price: "1.50", quantity: "10.0" } } };
    expect(said(navUpdated, same)).toBe(said(navUpdated, nav));
  });

  test("is another one with ids that look like numbers, a member left out, or another subject", () => {
    const of = (differs: object) => said(fillsCreated, { ...exampleFill, ...differs });
    expect(of({ order_id: "10" })).not.toBe(of({ order_id: "10.0" }));
    expect(of({ fee: "0" })).not.toBe(of({}));
    const both = { ...exampleFill, bust_id: "b", reason: "r", at: exampleFill.filled_at };
    expect(said(fillsBusted, both)).not.toBe(said(fillsCreated, both));
  });

  test("follows every field that a program outside may publish", () => {
    const random = prng(45);
    for (const name of foreignDurableSubjects) {
      const subject = subjectByName(name);
      const payload: Record<string, unknown> = { a: "1.0", b: { c: ["x", 2] } };
      const loose = { name, schema: subject?.schema ?? fillsCreated.schema };
      const before = contentOf(loose, payload);
      for (const [path, value] of [
        ["a", `2.${random.below(9)}`],
        ["b", { c: ["x", 3] }],
        ["d", null],
      ] as const)
        expect(contentOf(loose, { ...payload, [path]: value })).not.toBe(before);
    }
  });
});
