// The source that follows the stream: lists are read once and then when an event touched them; without a stream they are polled; a slow list holds up no halt,
// one that fails fails alone, and who is logged out is asked no more.
import { expect, it } from "vitest";
// Loaded on demand by what is under test: loading it must not be part of what is waited for.
import "../../contracts/src/codes.ts";
import { followedSubjects } from "../../contracts/src/followed-events.ts";
import { matchesAny, subjects } from "../../contracts/src/subjects.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { ApiError, type ErrorCode, UnreachableError } from "../client/src/errors.ts";
import type { EventsAsked, EventsOptions, EventsReset, PlatformEvent } from "../client/src/events.ts";
import { operationTable } from "../client/src/generated/operations.ts";
import type { Client } from "../client/src/types.ts";
import { alwaysNeeded, type ListName } from "./lists.ts";
import { liveSource } from "./live-source.ts";
import type { SourceEvent } from "./source.ts";
import { followedPatterns, touchedBy } from "./touched-lists.ts";

const problem = (status: number, code: ErrorCode) =>
  new ApiError({ status, code, detail: `${code}.`, problem: undefined, retryAfterS: undefined });
const lost = () => new UnreachableError("http://x", "cannot be reached");

type Answers = Readonly<Record<string, () => Promise<unknown>>>;

/** A stream that says what the test says, and ends as it says. */
function scriptedStream() {
  let hooks: EventsOptions = {};
  let asked: EventsAsked = {};
  let opened = 0;
  let wake: () => void = () => undefined;
  const queue: (PlatformEvent | EventsReset | Error)[] = [];
  return {
    opened: () => opened,
    asked: () => asked,
    alive: () => hooks.onAlive?.(),
    lose: () => hooks.onLost?.(lost()),
    push(...events: readonly (PlatformEvent | EventsReset | Error)[]) {
      queue.push(...events);
      wake();
    },
    async *events(given: EventsAsked, options: EventsOptions): AsyncGenerator<PlatformEvent | EventsReset> {
      [asked, hooks, opened] = [given, options, opened + 1];
      options.signal?.addEventListener("abort", () => wake());
      while (options.signal?.aborted !== true) {
        const next = queue.shift();
        if (next instanceof Error) throw next;
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

function running(answers: Answers = {}, wanted: readonly ListName[] = ["positions"]) {
  const time = scheduler({ seed: 1 });
  const stream = scriptedStream();
  const events: SourceEvent[] = [];
  const answer = (name: string) =>
    answers[name] ?? (() => Promise.resolve(name === "getHaltStatus" ? { halts: [] } : []));
  const client = new Proxy(
    {},
    { get: (_target, name) => (name === "events" ? stream.events : answer(String(name))) },
  ) as Client;
  const stop = new AbortController();
  const source = liveSource({ client, clock: time.clock, timeoutMs: 1_000 }, time.timers);
  source.want(wanted);
  const run = source.run((event) => events.push(event), stop.signal);
  return {
    source,
    stream,
    events,
    wait: (ms: number) => time.run({ untilMs: time.elapsedMs() + ms }),
    /** What was emitted since the last look. */
    since: () => events.splice(0),
    async end() {
      stop.abort();
      await time.finish("the source ends", run);
    },
  };
}

const named = (events: readonly SourceEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === "list" ? [event.name] : [])).sort();
const kinds = (events: readonly SourceEvent[], kind: SourceEvent["kind"]): readonly SourceEvent[] =>
  events.filter((event) => event.kind === kind);
const event = (subject: string): PlatformEvent => ({ type: "event", subject, at: "2026-11-15T03:00:00Z", payload: {} });

it("polls every two seconds, halts every second, for as long as there is no stream", async () => {
  const { wait, since, end } = running();
  await wait(100);
  expect(named(since())).toEqual([...alwaysNeeded, "positions"].sort());
  await wait(2_000);
  const later = since();
  expect(named(later).filter((name) => name === "halts")).toHaveLength(2);
  expect(named(later).filter((name) => name === "positions")).toHaveLength(1);
  expect(kinds(later, "heard")).toContainEqual(expect.objectContaining({ mode: "polling" }));
  await end();
});

it("reads what the stream touched, once for many events, and says what is still so", async () => {
  const { stream, wait, since, end } = running({}, ["orders"]);
  await wait(100);
  expect(stream.asked()).toMatchObject({ heartbeatS: 2, subjects: followedPatterns });
  since();
  stream.alive();
  expect(kinds(since(), "heard")).toMatchObject([{ mode: "stream", current: [] }]);
  await wait(1_000);
  // Everything once more, because the stream begins only now.
  expect(named(since())).toEqual([...alwaysNeeded, "orders"].sort());
  stream.alive();
  expect(kinds(since(), "heard")).toMatchObject([{ current: expect.arrayContaining(["halts", "orders"]) }]);
  stream.push(...Array.from({ length: 50 }, () => event(subjects.ordersUpdated.name)));
  await wait(2_000);
  const read = named(since());
  // One for the first event, one for those that came while it was read.
  expect(read.filter((name) => name === "orders")).toHaveLength(2);
  // Nobody was halted, and no event said otherwise; prices move without events.
  expect(read).not.toContain("halts");
  expect(read).toContain("blocks");
  await end();
});

it("never calls a list current that was touched and is not read yet", async () => {
  let count = 0;
  const hanging = (): Promise<unknown> => (++count > 4 ? new Promise(() => undefined) : Promise.resolve([]));
  const { stream, wait, since } = running({ listOrders: hanging }, ["orders"]);
  await wait(100);
  stream.alive();
  await wait(1_000);
  stream.alive();
  expect(kinds(since(), "heard").at(-1)).toMatchObject({ current: expect.arrayContaining(["orders"]) });
  stream.push(event(subjects.ordersUpdated.name));
  await wait(1_000);
  stream.alive();
  expect(kinds(since(), "heard").at(-1)).toMatchObject({ current: expect.not.arrayContaining(["orders"]) });
});

it("reads a halt within a quarter of a second of its event", async () => {
  const { stream, wait, since, end } = running();
  await wait(100);
  stream.alive();
  await wait(5_000);
  since();
  stream.push(event(subjects.haltRequested.name));
  await wait(250);
  expect(named(since())).toContain("halts");
  await end();
});

it("reads every list anew after a reset, and after a stream that was lost and came back", async () => {
  const { stream, wait, since, end } = running({}, ["orders"]);
  await wait(100);
  stream.alive();
  await wait(5_000);
  since();
  stream.push({ type: "reset", id: "40" });
  await wait(1_050);
  expect(named(since())).toEqual(expect.arrayContaining([...alwaysNeeded, "orders"]));
  stream.lose();
  expect(since()).toMatchObject([{ kind: "unreachable" }]);
  await wait(1_050);
  const polled = since();
  expect(named(polled)).toEqual(expect.arrayContaining([...alwaysNeeded, "orders"]));
  expect(kinds(polled, "heard")).toContainEqual(expect.objectContaining({ mode: "polling" }));
  stream.alive();
  expect(kinds(since(), "heard")).toMatchObject([{ mode: "stream", current: [] }]);
  await wait(1_050);
  expect(named(since())).toEqual(expect.arrayContaining([...alwaysNeeded, "orders"]));
  await end();
});

it("says nothing of an open stream that is silent: an answer to a question is no event", async () => {
  const { stream, wait, since, end } = running();
  await wait(100);
  stream.alive();
  await wait(1_100);
  since();
  await wait(6_000);
  const silent = since();
  expect(kinds(silent, "heard")).toEqual([]);
  expect(named(silent)).toContain("blocks");
  await end();
});

it("polls on where a stream is refused, and asks for it again later", async () => {
  const { stream, wait, since, end } = running();
  stream.push(problem(403, "PERMISSION_DENIED"));
  await wait(10_000);
  expect(stream.opened()).toBe(1);
  expect(kinds(since(), "heard").every((each) => each.kind === "heard" && each.mode === "polling")).toBe(true);
  await wait(25_000);
  expect(stream.opened()).toBe(2);
  await end();
});

it("reads halts again while another list never answers", async () => {
  const never = (): Promise<unknown> => new Promise(() => undefined);
  const { wait, events, end: _hangs } = running({ listFunds: never });
  await wait(5_000);
  expect(named(events).filter((name) => name === "halts").length).toBeGreaterThan(3);
});

it("says of one list why it is not to be had, tries again, and hears all the same", async () => {
  const { wait, since, end } = running({ listBlocks: () => Promise.reject(problem(503, "SERVICE_UNAVAILABLE")) });
  await wait(5_000);
  const events = since();
  const failed = kinds(events, "list failed");
  expect(failed.length).toBeGreaterThan(1);
  expect(failed[0]).toEqual({ kind: "list failed", name: "blocks", detail: "SERVICE_UNAVAILABLE." });
  expect(kinds(events, "unreachable")).toEqual([]);
  await end();
});

it("is out of reach when nothing answers", async () => {
  const none = Object.keys(operationTable).map((name) => [name, () => Promise.reject(lost())] as const);
  const { wait, events, end } = running(Object.fromEntries(none));
  await wait(5_000);
  expect(events.length).toBeGreaterThan(0);
  expect(events.every(({ kind }) => kind === "unreachable")).toBe(true);
  await end();
});

it.each(["a list", "the stream"])("ends with the login, whichever says so: %s", async (which) => {
  const over = problem(401, "UNAUTHENTICATED");
  const { stream, wait, since, end } = running(which === "a list" ? { getHaltStatus: () => Promise.reject(over) } : {});
  if (which === "the stream") stream.push(over);
  await wait(1_000);
  expect(kinds(since(), "login over").length).toBeGreaterThan(0);
  await wait(60_000);
  expect(since()).toEqual([]);
  await end();
});

it("reads a list of another screen when it is wanted, and no longer when it is not", async () => {
  const { source, wait, since, end } = running({}, ["positions"]);
  await wait(3_000);
  since();
  source.want(["orders"]);
  await wait(50);
  expect(named(since())).toEqual(["orders"]);
  await wait(10_000);
  expect(named(since())).not.toContain("positions");
  source.want(["positions"]);
  await wait(50);
  expect(named(since())).toContain("positions");
  await end();
});

it("asks for the subjects that touch a list, in no more patterns than may be asked for", () => {
  expect(followedSubjects(followedPatterns, false)).toEqual(expect.arrayContaining([...followedPatterns]));
  for (const { name } of Object.values(subjects)) {
    expect([name, matchesAny(followedPatterns, name)]).toEqual([name, touchedBy(name).length > 0]);
  }
  expect(touchedBy(subjects.haltRequested.name)).toContain("halts");
  expect(touchedBy(subjects.gatePassed.name)).toEqual([]);
});
