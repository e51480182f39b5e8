// The stream of events: what it sends, where it goes on, how many may be open, and that it ends with its login.
import { describe, expect, it } from "vitest";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { EventFeed, FeedMark, FeedPage, FeedRequest } from "../../../ports/event-feed.ts";
import type { HttpRequest, HttpStream } from "../../../ports/http.ts";
import type { Identity } from "../../../ports/identity.ts";
import { duty, nowForTests } from "../../../testkit/gateway/parts.ts";
import { exampleMark, exampleNav } from "../../../testkit/record-examples.ts";
import { events, streamsMax, streamsPerPersonMax } from "./events.ts";

const at = nowForTests;
const nav = (id: string, fund = "alpha") => ({
  id,
  subject: subjects.navUpdated.name,
  at,
  payload: { ...exampleNav, fund_id: fund },
});
const quiet = (after: string): FeedPage => ({ events: [], after, reset: false });

type Read = (request: FeedRequest, count: number) => Promise<FeedPage> | FeedPage;

/** The first page after "5" is what the test says; then nothing comes until the reader is gone. */
function fixture(read: Read, given: { identity?: Identity; verify?: () => Promise<Identity> } = {}) {
  const requests: FeedRequest[] = [];
  let ms = 0;
  const marks = new Set<(mark: FeedMark) => void>();
  const untilGone = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve());
    });
  const feed: EventFeed = {
    newest: async () => "5",
    read: async (request) => {
      requests.push(request);
      await Promise.resolve();
      // Every page took its time.
      ms += 20_000;
      const page = await read(request, requests.length);
      if (page.events.length === 0 && !page.reset) await untilGone(request.signal);
      return page;
    },
    onMark: (heard) => {
      marks.add(heard);
      return () => void marks.delete(heard);
    },
  };
  const clock = { now: () => (at + ms * 1_000) as typeof at };
  const route = events({ events: feed, timers: systemTimers(), clock, verify: given.verify ?? (async () => duty) });
  const ask = (query: object = {}, headers: HttpRequest["headers"] = {}, identity = given.identity ?? duty) =>
    route.handle({
      requestId: "r",
      identity,
      bearer: () => "the-callers-token",
      remoteAddress: "127.0.0.1",
      headers,
      params: undefined,
      query: route.query?.safeParse(query).data,
      body: undefined,
    });
  return { ask, requests, marks, route };
}

async function take(body: unknown, count: number): Promise<readonly string[]> {
  const pieces: string[] = [];
  const stop = new AbortController();
  for await (const piece of (body as HttpStream).pieces(stop.signal)) {
    pieces.push(piece);
    if (pieces.length === count) break;
  }
  stop.abort();
  return pieces;
}

describe("GET /v1/events", () => {
  it("names the subject, the id and the time of each event, from now on", async () => {
    const { ask, requests } = fixture(({ after }) =>
      after === "5" ? { ...quiet("7"), events: [nav("6"), nav("7")] } : quiet(after),
    );
    const [first, second] = await take((await ask()).body, 2);
    expect(first).toBe("retry: 1000\nid: 5\n: events after 5\n\n");
    const data = { id: "6", subject: subjects.navUpdated.name, at: "2026-11-15T13:30:00.000000Z", payload: exampleNav };
    expect(second?.split("\n\n")[0]).toBe(`id: 6\nevent: ${subjects.navUpdated.name}\ndata: ${JSON.stringify(data)}`);
    expect(second?.split("\n\n")[1]).toMatch(/^id: 7\n/);
    expect(requests.map(({ after }) => after)).toEqual(["5", "7"]);
  });

  it("goes on after Last-Event-ID, and does not name an id that it has not sent", async () => {
    const { ask } = fixture(({ after }) => (after === "2.3" ? { ...quiet("4"), events: [nav("4")] } : quiet(after)));
    const [first, second] = await take((await ask({}, { "last-event-id": "2.3" })).body, 2);
    expect(first).not.toContain("id:");
    expect(second).toMatch(/^id: 4\n/);
  });

  it("says once that what followed the id is gone, then goes on", async () => {
    const { ask } = fixture(({ after }) => {
      if (after === "2") return { events: [], after: "9", reset: true };
      return after === "9" ? { ...quiet("10"), events: [nav("10")] } : quiet(after);
    });
    const pieces = await take((await ask({}, { "last-event-id": "2" })).body, 3);
    expect(pieces[1]).toMatch(/^id: 9\nevent: reset\ndata: \{"id":"9","detail":"/);
    expect(pieces[2]).toMatch(/^id: 10\n/);
  });

  it("gives a sign of life with the id up to which it has looked, also while only other funds do something", async () => {
    const { ask, requests } = fixture(({ after }) => ({
      ...quiet(`${Number(after) + 1}`),
      events: [nav("x", "beta")],
    }));
    const pieces = await take((await ask({ heartbeat_s: "1", fund_id: "alpha" })).body, 3);
    expect(pieces.slice(1)).toEqual(["id: 6\n: nothing new\n\n", "id: 7\n: nothing new\n\n"]);
    expect(requests.every(({ waitMs }) => waitMs <= 1_000)).toBe(true);
  });

  it("sends the newest price of a symbol, without an id", async () => {
    const { ask, marks } = fixture(({ after }) => quiet(after));
    const stop = new AbortController();
    const pieces: string[] = [];
    const tell = (price: string) => {
      for (const heard of marks) heard({ subject: subjects.marketMarks.name, at, payload: { ...exampleMark, price } });
    };
    for await (const piece of ((await ask()).body as HttpStream).pieces(stop.signal)) {
      pieces.push(piece);
      if (pieces.length === 1) for (const price of ["1", "2", "3"]) tell(price);
      else break;
    }
    stop.abort();
    const lines = pieces[1]?.trimEnd().split("\n") ?? [];
    expect(lines[0]).toBe(`event: ${subjects.marketMarks.name}`);
    expect(JSON.parse(lines[1]?.slice(6) ?? "")).toMatchObject({ payload: { price: "3" } });
    expect(lines).toHaveLength(2);
    expect(marks.size).toBe(0);
  });

  it("keeps people's sessions from whoever is no admin", async () => {
    const viewer: Identity = { ...duty, roles: ["viewer"] };
    const { ask, requests } = fixture(({ after }) => ({ ...quiet(after), events: [nav("6")] }), {
      identity: viewer,
      verify: async () => viewer,
    });
    await expect(async () => ask({ subjects: "svc.v1.identity.>" })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await take((await ask({ subjects: "svc.v1.>" })).body, 2);
    expect(requests[0]?.subjects).toContain(`!${subjects.sessionOpened.name}`);
  });

  it.each(["0", "31", "x", "1.5"])("refuses heartbeat_s=%s", (heartbeat) => {
    const { route } = fixture(({ after }) => quiet(after));
    expect(route.query?.safeParse({ heartbeat_s: heartbeat }).success).toBe(false);
  });

  it("reports what goes wrong, and ends", async () => {
    const { ask } = fixture(() => {
      throw new Fault("BUS_UNAVAILABLE", "gone", { retry: "later" });
    });
    const pieces = await take((await ask()).body, 9);
    expect(pieces.slice(1)).toEqual(['event: problem\ndata: {"code":"BUS_UNAVAILABLE","detail":"gone"}\n\n']);
  });

  it("ends when the login does, while nothing happens", async () => {
    const { ask } = fixture(({ after }) => quiet(after), {
      verify: () => Promise.reject(new Fault("UNAUTHENTICATED", "The session was ended.", { retry: "never" })),
    });
    const pieces = await take((await ask({ heartbeat_s: "30" })).body, 9);
    expect(pieces.slice(1)).toEqual([
      'event: problem\ndata: {"code":"UNAUTHENTICATED","detail":"The session was ended."}\n\n',
    ]);
  });

  it(`lets a person open ${streamsPerPersonMax}, and all of them ${streamsMax}`, async () => {
    const { ask } = fixture(({ after }) => quiet(after));
    const open: HttpStream[] = [];
    for (let n = 0; n < streamsMax; n += 1) {
      const person = { ...duty, subject: `person ${Math.floor(n / streamsPerPersonMax)}` };
      open.push((await ask({}, {}, person)).body as HttpStream);
      if (n === streamsPerPersonMax - 1) {
        await expect(ask({}, {}, person)).rejects.toMatchObject({
          code: "TOO_MANY_STREAMS",
          message: expect.stringMatching(/one person/),
        });
      }
    }
    await expect(ask({}, {}, { ...duty, subject: "late" })).rejects.toMatchObject({ code: "TOO_MANY_STREAMS" });
    open[0]?.close();
    open[0]?.close();
    expect((await ask({}, {}, { ...duty, subject: "late" })).status).toBe(200);
    await expect(ask({}, {}, { ...duty, subject: "later" })).rejects.toMatchObject({ code: "TOO_MANY_STREAMS" });
  });
});
