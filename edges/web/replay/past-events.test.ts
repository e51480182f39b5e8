// Events of the past as a replay asks for them: the newest without the rest, the first without what follows it, and never beyond the moment that is asked for.
import { describe, expect, it } from "vitest";
import { format, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import { eventsBetween, eventsMax, firstEvent, newestEvents, type PastEvent } from "./past-events.ts";

const end = parse("2026-11-19T12:00:00Z");
const dayMs = 86_400_000;
const fundId = "alpha";

/** A server with one event at each of these times before the end, in milliseconds. */
function server(backMs: readonly number[], of: (index: number) => Partial<PastEvent> = () => ({})) {
  const events = [...backMs]
    .sort((one, other) => other - one)
    .map((ms, index) => ({
      event_id: `e-${index}`,
      at: format(plusMilliseconds(end, -ms)),
      kind: "fill",
      ...of(index),
    }));
  const asked: { from: string; to: string; countMax: number }[] = [];
  const listTimeline = async (given: Record<string, unknown>) => {
    const { from, to, after, countMax, kinds, denied } = given as Record<string, string> & { countMax: number };
    asked.push({ from: from ?? "", to: to ?? "", countMax });
    expect(parse(to ?? "") - parse(from ?? "")).toBeLessThanOrEqual(31 * dayMs * 1_000);
    const place = after === undefined ? -1 : events.findIndex(({ event_id }) => event_id === after);
    return events
      .filter(({ at }, index) => at >= (from ?? "") && at <= (to ?? "") && index > place)
      .filter(({ kind }) => kinds === undefined || kinds === kind)
      .filter((one) => String(denied) !== "true" || "code" in one)
      .slice(0, countMax);
  };
  return { client: { listTimeline } as unknown as Pick<Client, "listTimeline">, asked, events };
}

const span = (days: number, to = end) => ({
  fundId,
  from: format(plusMilliseconds(to, -days * dayMs)),
  to: format(to),
});

describe("the newest events", () => {
  it("are found by looking back as far as the beginning, where there are few", async () => {
    const { client, asked } = server([1, dayMs * 29]);
    expect(await newestEvents(client, span(30), {})).toMatchObject({ events: [{}, {}], isCut: false });
    expect(asked.length).toBeLessThan(8);
    for (const { to } of asked) expect(to).toBe(format(end));
  });

  it("are enough of them where there are many, and it is said that there are older ones", async () => {
    const { client, events } = server(Array.from({ length: 6_000 }, (_none, index) => index * 14_000));
    const found = await newestEvents(client, span(1), {});
    expect(found.events.length).toBeGreaterThanOrEqual(500);
    expect(found.events.length).toBeLessThanOrEqual(eventsMax);
    expect(found.events.at(-1)).toEqual(events.at(-1));
    expect(found.isCut).toBe(true);
  });

  it("are the newest also where very many are of a few minutes", async () => {
    const { client, events } = server(Array.from({ length: 4_000 }, (_none, index) => index * 10));
    const found = await newestEvents(client, span(1), {});
    expect(found.events).toEqual(events.slice(-found.events.length));
    expect(found.events.length).toBeGreaterThan(500);
    expect(found.isCut).toBe(true);
  });

  it("of more than a month are of its last 31 days", async () => {
    const { client } = server([dayMs * 30, dayMs * 40]);
    expect(await newestEvents(client, span(90), {})).toMatchObject({ events: [{}], isCut: true });
  });
});

describe("events between two moments", () => {
  it("are read page by page, each once", async () => {
    const { client } = server(Array.from({ length: 1_700 }, (_none, index) => index));
    const { events, isWhole } = await eventsBetween(client, span(1), {});
    expect([new Set(events.map(({ event_id }) => event_id)).size, isWhole]).toEqual([1_700, true]);
  });

  it("are too many at some number, and no more are asked for", async () => {
    const { client, asked } = server(Array.from({ length: 3_000 }, (_none, index) => index));
    expect((await eventsBetween(client, span(1), {})).isWhole).toBe(false);
    expect(asked.length).toBe(5);
  });
});

describe("the first event after a moment", () => {
  const after = plusMilliseconds(end, -90 * dayMs);
  const first = (client: Pick<Client, "listTimeline">, sought: "any" | "halt" | "rejection") =>
    firstEvent(client, { fundId, after, to: end, sought }, {});

  it("is asked for alone, and is none of the moment itself", async () => {
    const { client, asked } = server([90 * dayMs, 80 * dayMs, 80 * dayMs - 1, 1]);
    expect(await first(client, "any")).toMatchObject({ at: format(plusMilliseconds(end, -80 * dayMs)) });
    for (const { countMax } of asked) expect(countMax).toBe(1);
    for (const [index, { from }] of asked.entries())
      if (index > 0) expect(from > (asked[index - 1]?.to ?? "")).toBe(true);
  });

  it("may be the first halt or the first decision that denied", async () => {
    const kinds = [
      { kind: "fill", code: "X" },
      { kind: "decision" },
      { kind: "decision", code: "MAX" },
      { kind: "halt", data: { severity: "FUND_HALT" } },
    ];
    const { client } = server([4, 3, 2, 1], (index) => kinds[index] as Partial<PastEvent>);
    expect(await first(client, "rejection")).toMatchObject({ event_id: "e-2" });
    expect(await first(client, "halt")).toMatchObject({ event_id: "e-3" });
  });

  it("is where something was halted, and no step or end of an earlier halt", async () => {
    const all = [
      { halt_id: "h-1", step: "BLOCKED" },
      { halt_id: "h-1", step: "NOTIFIED" },
      { request_id: "r-1", requested_by: "operator:duty" },
      { halt_id: "h-1", severity: "FUND_HALT", lifted_at: format(end) },
      { halt_id: "h-2", severity: "FIRM_HALT" },
      { halt_id: "h-2", step: "BLOCKED" },
    ];
    const halts = (index: number): Partial<PastEvent> => ({ kind: "halt", data: all[index] as PastEvent["data"] });
    const { client, asked } = server([6, 5, 4, 3, 2, 1], halts);
    expect(await first(client, "halt")).toMatchObject({ event_id: "e-4" });
    for (const { countMax } of asked) expect(countMax).toBe(1);
    const { client: lifted } = server([6, 5, 4, 3], halts);
    expect(await first(lifted, "halt")).toBeUndefined();
  });

  it("is none where there is none, up to the end", async () => {
    const { client, asked } = server([]);
    expect(await first(client, "halt")).toBeUndefined();
    expect(asked.at(-1)?.to).toBe(format(end));
  });
});
