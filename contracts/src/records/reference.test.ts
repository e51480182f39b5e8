// Calendars travel as reference data and come back as the definitions that the platform computes with.
import { describe, expect, it } from "vitest";
import { exampleInstrument } from "../../../testkit/record-examples.ts";
import { tradingCalendar } from "../calendar.ts";
import { alwaysOpen, usEquities } from "../calendars.ts";
import { calendarDefinition, calendarReference, calendarReferenceOf, referenceContents } from "./reference.ts";

describe("a calendar as reference data", () => {
  it.each([usEquities, alwaysOpen])("goes there and back: $definition.name", ({ definition }) => {
    const reference = calendarReferenceOf(definition);
    expect(calendarReference.parse(JSON.parse(JSON.stringify(reference)))).toEqual(reference);
    expect(calendarDefinition(reference)).toEqual(definition);
    expect(tradingCalendar(calendarDefinition(reference)).definition).toEqual(definition);
  });

  const always = calendarReferenceOf(alwaysOpen.definition);
  it.each([
    ["a weekday that is none", { sessions: [{ weekday: 8, open: "09:30", close: "16:00" }] }],
    ["a time that is none", { sessions: [{ weekday: 1, open: "9:30", close: "16:00" }] }],
    ["no session at all", { sessions: [] }],
    ["a holiday that is no date", { holidays: ["2026-02-30"] }],
    ["an early close on no date", { early_closes: { tomorrow: "13:00" } }],
    ["a key that nobody knows", { earlyCloses: {} }],
  ])("is refused with %s", (_what, differs) => {
    expect(calendarReference.safeParse({ ...always, ...differs }).success).toBe(false);
  });
});

it("an instrument with a key that nobody knows is refused where it is set", () => {
  expect(referenceContents.instruments.safeParse([exampleInstrument]).success).toBe(true);
  expect(referenceContents.instruments.safeParse([{ ...exampleInstrument, lot: "1" }]).success).toBe(false);
});
