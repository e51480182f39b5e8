// GET /v1/events: what happens on the platform as a stream (text/event-stream): the event's name is its subject, its data {id, subject, at, payload}.
// Whoever was cut off goes on with `Last-Event-ID`, at this gateway or after its restart: the ids are the store's.
//
//  1. A page is read when the one before was taken: a slow reader holds up only itself, and nothing is queued for it.
//  2. After `heartbeat_s` of silence there is a comment, with the id up to which everything was looked through.
//  3. What is no longer kept after the id is reported as the event `reset`, once: read anew what you show, then go on.
//  4. Prices are not kept: they have no id, and come at most four times a second for a symbol.
import { Fault } from "../../../contracts/src/fault.ts";
import { concernsFund, followedSubjects, heartbeatS } from "../../../contracts/src/followed-events.ts";
import { format, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { requestRefusal, type TokenFunds } from "../../../contracts/src/ownership/whose.ts";
import type { FeedEvent, FeedMark, FeedPage } from "../../../ports/event-feed.ts";
import type { HttpRequest, Route } from "../../../ports/http.ts";
import { conflatedMarks } from "../conflated-marks.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { eventPiece, openingPiece, problemEvent, seated, seatsFor } from "../lasting-stream.ts";
import type { GatewayParts } from "../parts.ts";
import { eventsQuery } from "../schemas/events.ts";

export const streamsMax = 200;
export const streamsPerPersonMax = 8;

type Parts = Pick<GatewayParts, "events" | "verify" | "timers" | "clock">;

interface Followed {
  readonly subjects: readonly string[];
  readonly fundId: string | undefined;
  readonly heartbeatMs: number;
}

export function events(parts: Parts): Route {
  const seats = seatsFor("the events", { allMax: streamsMax, personMax: streamsPerPersonMax });
  return defineRoute({
    ...declaredPlace("tailEvents"),
    query: eventsQuery,
    answers: declaredAnswers("tailEvents"),
    handle: (request) => {
      const { subjects: asked, fund_id: fundId, heartbeat_s: heartbeat = heartbeatS.usual } = request.query;
      const { roles, funds } = callerOf(request);
      mustBeOfFunds(fundId, funds);
      const subjects = followedSubjects(asked?.split(",") ?? [], roles.includes("admin"));
      const followed: Followed = { subjects, fundId, heartbeatMs: heartbeat * 1_000 };
      const begin = async () => {
        // Read once before anything is answered, so that whoever asks for what is no id is refused by the status.
        const first = await beginning(parts, request, followed);
        return { pieces: (signal: AbortSignal) => follow(parts, followed, first, signal) };
      };
      return seated(seats, request, begin, { parts, operation: "TailEvents" });
    },
  });
}

/** As the procedure's own guard would say it: this route reads the store, and asks no service. */
function mustBeOfFunds(fundId: string | undefined, funds: TokenFunds): void {
  const refusal = requestRefusal({ fund_id: fundId }, ["fund_id"], funds);
  if (refusal !== undefined) throw new Fault("FUND_NOT_YOURS", refusal, { retry: "never" });
}

async function beginning({ events: feed }: Parts, { headers }: HttpRequest, { subjects }: Followed): Promise<FeedPage> {
  const last = headers["last-event-id"];
  if (last === undefined || last === "") return { events: [], after: await feed.newest(), reset: false };
  if (typeof last !== "string") {
    throw new Fault("INVALID_ARGUMENT", "Last-Event-ID must be the id of the last event that was read.", {
      retry: "never",
    });
  }
  return feed.read({ after: last, subjects, waitMs: 0, signal: new AbortController().signal });
}

async function* follow(parts: Parts, followed: Followed, first: FeedPage, signal: AbortSignal): AsyncGenerator<string> {
  const { events: feed, clock, timers } = parts;
  const { subjects, heartbeatMs } = followed;
  const marks = conflatedMarks(feed, timers, subjects);
  const over = new Promise<"over">((resolve) =>
    signal.addEventListener("abort", () => resolve("over"), { once: true }),
  );
  let sentAt = clock.now();
  const silentMs = (): number => millisecondsBetween(sentAt, clock.now());
  const readOn = ({ after }: FeedPage): Promise<FeedPage> => {
    const reading = feed.read({ after, subjects, waitMs: Math.max(0, heartbeatMs - silentMs()), signal });
    // Whoever reads slowly comes back to it later; it is thrown then.
    reading.catch(() => undefined);
    return reading;
  };
  try {
    yield openingPiece(`events after ${first.after}`, first.events[0] === undefined ? first.after : undefined);
    let page = Promise.resolve(first);
    while (!signal.aborted) {
      const come = await Promise.race([page, marks.due().then(() => "marks" as const), over]);
      if (come === "over") return;
      const text = come === "marks" ? marksText(marks.take()) : pageText(come, followed);
      const piece =
        text !== "" || come === "marks" || silentMs() < heartbeatMs ? text : `id: ${come.after}\n: nothing new\n\n`;
      if (come !== "marks") page = readOn(come);
      if (piece === "") continue;
      sentAt = clock.now();
      yield piece;
    }
  } catch (thrown) {
    if (signal.aborted) return;
    if (!(thrown instanceof Fault)) throw thrown;
    yield problemEvent(thrown.code, thrown.message);
  } finally {
    marks.close();
  }
}

function pageText({ events: come, after, reset }: FeedPage, { fundId }: Followed): string {
  if (reset) {
    const detail = "What followed the last event that you read is no longer kept: read anew what you show.";
    return eventPiece({ id: after, event: "reset", data: JSON.stringify({ id: after, detail }) });
  }
  return come
    .filter(({ subject, payload }) => fundId === undefined || concernsFund(subject, payload, fundId))
    .map((event) => eventPiece({ id: event.id, event: event.subject, data: dataOf(event) }))
    .join("");
}

function marksText(come: readonly FeedMark[]): string {
  return come.map((mark) => eventPiece({ event: mark.subject, data: dataOf(mark) })).join("");
}

function dataOf({ subject, at, payload, ...rest }: FeedMark & Partial<Pick<FeedEvent, "id">>): string {
  return JSON.stringify({ ...rest, subject, at: format(at), payload });
}
