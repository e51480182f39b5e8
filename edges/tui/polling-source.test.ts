// The source that polls: every list arrives, a slow one holds up no halt, one that fails fails alone, and who is logged out is asked no more.
import { expect, it } from "vitest";
import { systemTimers } from "../../adapters/system/timers.ts";
// Loaded on demand by what names a failure: loading it must not be part of what is waited for.
import "../../contracts/src/codes.ts";
import { start } from "../../testkit/tui/desk-fixture.ts";
import { ApiError, type ErrorCode, UnreachableError } from "../client/src/errors.ts";
import type { Client } from "../client/src/types.ts";
import { pollingSource } from "./polling-source.ts";
import type { SourceEvent } from "./source.ts";

const problem = (status: number, code: ErrorCode) =>
  new ApiError({ status, code, detail: `${code}.`, problem: undefined, retryAfterS: undefined });

/** A client whose operations answer with empty lists, but for those that are named. */
function clientWith(answers: Readonly<Record<string, () => Promise<unknown>>>): Client {
  const answer = (name: string) =>
    answers[name] ?? (() => Promise.resolve(name === "getHaltStatus" ? { halts: [] } : []));
  return new Proxy({}, { get: (_target, name) => answer(String(name)) }) as Client;
}

async function eventsOf(
  answers: Readonly<Record<string, () => Promise<unknown>>>,
  isEnough: (events: readonly SourceEvent[]) => boolean,
): Promise<readonly SourceEvent[]> {
  const timers = systemTimers();
  const stop = new AbortController();
  const events: SourceEvent[] = [];
  const source = pollingSource({ client: clientWith(answers), clock: { now: () => start }, timeoutMs: 1_000 }, timers);
  source.want(["positions"]);
  const run = source.run((event) => events.push(event), stop.signal);
  await expect.poll(() => isEnough(events)).toBe(true);
  stop.abort();
  await run;
  timers.release();
  return events;
}

const named = (events: readonly SourceEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === "list" ? [event.name] : []));

it("reads what is wanted and what every screen needs", async () => {
  const events = await eventsOf({}, (so) => named(so).includes("positions") && named(so).includes("halts"));
  expect(named(events)).toEqual(expect.arrayContaining(["halts", "blocks", "funds", "positions", "watchdogs"]));
  expect(events).toContainEqual({ kind: "heard", at: start, mode: "polling" });
});

it("reads halts again while another list never answers", async () => {
  const never = (): Promise<unknown> => new Promise(() => undefined);
  const timers = systemTimers();
  const events: SourceEvent[] = [];
  const stop = new AbortController();
  const client = clientWith({ listFunds: never });
  void pollingSource({ client, clock: { now: () => start }, timeoutMs: 1_000 }, timers).run(
    (event) => events.push(event),
    stop.signal,
  );
  await expect.poll(() => named(events).filter((name) => name === "halts").length).toBeGreaterThan(1);
  stop.abort();
  timers.release();
});

it("says of one list why it is not to be had, and hears all the same", async () => {
  const events = await eventsOf({ listBlocks: () => Promise.reject(problem(503, "SERVICE_UNAVAILABLE")) }, (so) =>
    so.some(({ kind }) => kind === "list failed"),
  );
  expect(events).toContainEqual({ kind: "list failed", name: "blocks", detail: "SERVICE_UNAVAILABLE." });
  expect(events.some(({ kind }) => kind === "unreachable")).toBe(false);
});

it("is out of reach when nothing answers, and over with the login", async () => {
  const lost = () => Promise.reject(new UnreachableError("http://x", "cannot be reached"));
  const all = [
    "getHaltStatus",
    "listBlocks",
    "listFunds",
    "listStops",
    "listDifferences",
    "listWatchdogs",
    "getLimitUse",
    "getPositions",
  ];
  const events = await eventsOf(Object.fromEntries(all.map((name) => [name, lost])), (so) =>
    so.some(({ kind }) => kind === "unreachable"),
  );
  expect(events.every(({ kind }) => kind === "unreachable")).toBe(true);
  const over = await eventsOf({ getHaltStatus: () => Promise.reject(problem(401, "UNAUTHENTICATED")) }, (so) =>
    so.some(({ kind }) => kind === "login over"),
  );
  expect(over.some(({ kind }) => kind === "login over")).toBe(true);
});
