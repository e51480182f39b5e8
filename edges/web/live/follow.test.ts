// One stream for a browser: what an event concerns is passed on at once, many events together, and a cut is never live.
import { expect, test } from "vitest";
import { fromUnixMs, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { PlatformEvent } from "../../client/src/events.ts";
import { openLive } from "./follow.ts";

interface Step {
  readonly ms: number;
  readonly subject?: string;
}

function fixture(steps: readonly Step[]) {
  let now = fromUnixMs(1_800_000_000_000);
  const leaving = new AbortController();
  const due: (() => void)[] = [];
  const heard: unknown[] = [];
  const posted: { readonly kind: string }[] = [];
  async function* events() {
    for (const { ms, subject } of steps) {
      now = plusMilliseconds(now, ms);
      if (subject !== undefined) yield { id: subject, subject, type: "event" } as unknown as PlatformEvent;
    }
    leaving.abort();
  }
  const live = openLive({
    client: { events } as never,
    clock: { now: () => now },
    timers: { after: (_ms: number, work: () => void) => void due.push(work), sleep: async () => undefined } as never,
    channel: { postMessage: (message: { readonly kind: string }) => void posted.push(message), onmessage: null },
    signal: leaving.signal,
    lead: (work) => work(),
  });
  live.onTopics((topics) => heard.push(topics));
  return { live, heard, due, posted };
}

test("the first event after a while is passed on at once, those right after it together", async () => {
  const { live, heard, due, posted } = fixture([
    { ms: 0, subject: "svc.v1.operations.halt.requested" },
    { ms: 10, subject: "svc.v1.oms.fills.created" },
    { ms: 10, subject: "svc.v1.oms.orders.updated" },
  ]);
  await live.run();
  expect(heard).toEqual([["operations.halt.requested"]]);
  expect(due).toHaveLength(1);
  due[0]?.();
  expect(heard).toEqual([["operations.halt.requested"], ["oms.fills.created", "oms.orders.updated"]]);
  expect(posted.filter(({ kind }) => kind === "topics")).toHaveLength(2);
});

test("a tab whose timers stand still passes on with the next event what it gathered", async () => {
  const { live, heard } = fixture([
    { ms: 0, subject: "svc.v1.oms.fills.created" },
    { ms: 10, subject: "svc.v1.operations.resume.requested" },
    { ms: 2_000, subject: "svc.v1.oms.fills.created" },
  ]);
  await live.run();
  expect(heard).toEqual([["oms.fills.created"], ["operations.resume.requested", "oms.fills.created"]]);
});

test("a tab whose login ran out lets another one lead", async () => {
  let tries = 0;
  const live = openLive({
    client: {
      // biome-ignore lint/correctness/useYield: it is refused before anything comes.
      async *events() {
        tries += 1;
        live.report({ kind: "expired", expired: true });
        throw new Error("not logged in");
      },
    } as never,
    clock: { now: () => fromUnixMs(0) },
    timers: { after: () => undefined, sleep: async () => undefined } as never,
    channel: { postMessage: () => undefined, onmessage: null },
    signal: new AbortController().signal,
    lead: (work) => work(),
  });
  await live.run();
  expect(tries).toBe(1);
});
