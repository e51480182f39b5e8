// Every rule about reference data, each by a document that breaks only it.
import { describe, expect, it } from "vitest";
import { atOnce } from "../../contracts/src/bounds/at-once.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import { readingContent, referenceMistakes } from "./reference-rules.ts";

const at = "2026-11-15T12:00:00.000000Z";
const fine = paperReference(at);
const mistakes = (differs: Partial<ReferenceContents>) => referenceMistakes({ ...fine, ...differs });
const [aapl] = fine.instruments;
const [alpha, beta] = fine.funds;
const [always] = fine.calendars.filter(({ sessions }) => sessions === "always");
if (aapl === undefined || alpha === undefined || beta === undefined || always === undefined) throw new Error("seeds");

describe("reference data", () => {
  it("as it is seeded has no mistakes", () => expect(referenceMistakes(fine)).toEqual([]));

  it.each<[string, Partial<ReferenceContents>, RegExp]>([
    ["an instrument twice", { instruments: [...fine.instruments, aapl] }, /^instruments: AAPL is there twice/],
    ["a rate twice", { fx: [...fine.fx, ...fine.fx.slice(0, 1)] }, /^fx: EUR\/USD is there twice/],
    ["a borrow twice", { borrow: [...fine.borrow, ...fine.borrow.slice(0, 1)] }, /^borrow: AAPL is there twice/],
    ["a calendar twice", { calendars: [...fine.calendars, always] }, /^calendars: always-open is there twice/],
    [
      "a restriction twice",
      { restricted: ["a", "b"].map((reason) => ({ symbol: "XOM", reason })) },
      /^restricted: XOM is there twice/,
    ],
    ["a fund twice", { funds: [...fine.funds, { ...alpha, strategies: [] }] }, /^funds: alpha is there twice/],
    [
      "a strategy of two funds",
      { funds: [alpha, { ...beta, strategies: ["alpha-momentum"] }] },
      /^funds: alpha-momentum is there twice; .* one namespace/,
    ],
    ["a strategy named as a fund", { funds: [alpha, { ...beta, strategies: ["alpha"] }] }, /alpha is there twice/],
    [
      "a venue twice",
      { venues: ["a", "b"].map((name) => ({ venue: "XNAS", priced_by: [name] })) },
      /^venues: XNAS is there twice/,
    ],
    [
      "a venue that the simulated market prices",
      { venues: [{ venue: "XNAS", priced_by: ["feed", "paper"] }] },
      /^venues: XNAS names paper in priced_by, which is no feed from outside/,
    ],
    [
      "an instrument that a service of ours prices",
      { instruments: [{ ...aapl, priced_by: ["treasury"] }] },
      /^instruments: AAPL names treasury in priced_by/,
    ],
    [
      "a LIVE fund that our treasury should value",
      { funds: [{ ...alpha, mode: "LIVE", valued_by: "treasury" }, beta] },
      /^funds: alpha is LIVE, and our treasury values PAPER funds alone/,
    ],
    [
      "a fund that a service of ours should value that values none",
      { funds: [{ ...alpha, valued_by: "oms" }, beta] },
      /^funds: alpha names oms in valued_by, which values no fund/,
    ],
    [
      "an instrument on an unknown calendar",
      { instruments: [{ ...aapl, calendar: "moon" }] },
      /^instruments: AAPL follows the calendar moon, which is not there/,
    ],
    [
      "a calendar that is gone under a fund",
      { calendars: fine.calendars.filter(({ name }) => name !== always.name) },
      /^funds: beta follows the calendar always-open/m,
    ],
    [
      "a session that ends before it begins",
      {
        calendars: [
          ...fine.calendars,
          { ...always, name: "x", sessions: [{ weekday: 1, open: "16:00", close: "09:30" }] },
        ],
      },
      /^calendars: x: .*ends before it begins/,
    ],
    [
      "a zone that nobody knows",
      { calendars: [...fine.calendars, { ...always, name: "x", zone: "Mars/Olympus" }] },
      /^calendars: x: /,
    ],
    [
      "a rate into itself",
      { fx: [{ base: "USD", quote: "USD", rate: "1", as_of: at }] },
      /^fx: USD has a rate into itself/,
    ],
    [
      "a currency as a symbol",
      { instruments: [...fine.instruments, { ...aapl, symbol: "EUR" }] },
      /^instruments: EUR is a currency/,
    ],
    [
      "an option without its strike",
      { instruments: [{ ...aapl, asset_class: "OPTION" }] },
      /^instruments: the option AAPL lacks/,
    ],
  ])("refuses %s", (_what, differs, sentence) => {
    expect(mistakes(differs).join("\n")).toMatch(sentence);
  });

  it("is read by its schema, and what is wrong is named by its place", () => {
    expect(atOnce(readingContent("restricted", '[{"symbol":"XOM","reason":"r"}]'))).toEqual({
      ok: true,
      content: [{ symbol: "XOM", reason: "r" }],
    });
    const bad = (kind: "instruments" | "fx", json: string) => {
      const read = atOnce(readingContent(kind, json));
      return read.ok ? [] : read.mistakes;
    };
    expect(bad("fx", "{")[0]).toMatch(/^content_json is not JSON/);
    expect(bad("fx", "{}")[0]).toMatch(/^fx: /);
    expect(bad("fx", `[{"base":"EUR","quote":"USD","rate":"-1","as_of":"${at}"}]`)[0]).toMatch(/^fx\.0\.rate: /);
    expect(bad("instruments", JSON.stringify([{ ...aapl, lot: "1" }]))[0]).toMatch(/^instruments\.0: .*lot/);
    expect(bad("fx", JSON.stringify(Array.from({ length: 50 }, () => ({})))).length).toBeLessThanOrEqual(20);
    const late = Array.from({ length: 500 }, (_, index) => ({ symbol: "XOM", reason: index === 412 ? 1 : "r" }));
    expect(atOnce(readingContent("restricted", JSON.stringify(late)))).toMatchObject({
      ok: false,
      mistakes: [expect.stringMatching(/^restricted\.412\.reason: /)],
    });
    expect(bad("fx", `[${"0,".repeat(10_000)}0]`)).toEqual(["fx: expected at most 10000 records."]);
  });

  it("of a large document lets others have their turn between its records", () => {
    const records = Array.from({ length: 1_000 }, () => ({ symbol: "XOM", reason: "r" }));
    const reading = readingContent("restricted", JSON.stringify(records));
    let turns = 0;
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) turns += 1;
    expect([turns, step.value.ok && step.value.content.length]).toEqual([5, 1_000]);
  });
});
