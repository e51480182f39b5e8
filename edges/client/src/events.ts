// The platform's events as an async iterator: it reconnects by itself and goes on after the last event that was taken, so that nothing is missed and nothing
// comes twice. What the server no longer keeps is reported as a `reset`, never left out in silence.
import type { CallOptions } from "./call-options.ts";
import { type Connection, openStream, readJson } from "./connection.ts";
import { ApiError, type ErrorCode, UnreachableError } from "./errors.ts";
import { jittered, pause } from "./retry.ts";
import { type ServerSentEvent, serverSentEvents } from "./server-sent-events.ts";

export interface EventsAsked {
  /** Names or patterns such as `svc.v1.risk.>`; all that the caller may read when absent. */
  readonly subjects?: readonly string[];
  readonly fundId?: string;
  /** The id of the last event that was read; from now on when absent. */
  readonly after?: string;
  /** After this many seconds of silence the server sends a sign of life; 1 to 30. */
  readonly heartbeatS?: number;
}

export interface PlatformEvent {
  readonly type: "event";
  /** Where to go on after it; prices have none. */
  readonly id?: string;
  readonly subject: string;
  readonly at: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What a caller may hear of the connection beside its events. */
export interface EventsOptions extends Pick<CallOptions, "signal"> {
  /** Something arrived, be it a sign of life: what is shown is as new as that. */
  readonly onAlive?: () => void;
  /** The connection ended or could not be opened, and why; it is tried again. */
  readonly onLost?: (reason: unknown) => void;
}

/** What followed the last event is no longer kept: read anew what you show. */
export interface EventsReset {
  readonly type: "reset";
  readonly id: string;
}

const heartbeatSDefault = 10;

/** Ends when the caller's signal aborts or the loop is left; throws what will not pass, such as a login that ended. */
export async function* followEvents(
  { subjects, fundId, after, heartbeatS = heartbeatSDefault }: EventsAsked,
  { signal, onAlive, onLost }: EventsOptions,
  connection: Connection,
): AsyncGenerator<PlatformEvent | EventsReset> {
  const query = new URLSearchParams({ heartbeat_s: String(heartbeatS) });
  if (subjects !== undefined) query.set("subjects", subjects.join(","));
  if (fundId !== undefined) query.set("fund_id", fundId);
  const stop = new AbortController();
  const giveUp = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  const place: Place = { after };
  try {
    let endings = 0;
    for (let failures = 0; !stop.signal.aborted; ) {
      let isOpen = false;
      try {
        for await (const event of connected(`/v1/events?${query}`, place, heartbeatS, connection, stop.signal)) {
          isOpen = true;
          failures = 0;
          if (event === "alive") onAlive?.();
          else {
            endings = 0;
            yield event;
          }
        }
        onLost?.(new UnreachableError(connection.baseUrl, "ended the stream of events", undefined, true));
      } catch (thrown) {
        if (stop.signal.aborted) return;
        if (isOpen && ranOut(thrown, connection)) {
          // A stream lives as long as the token that opened it: whoever can get another one goes on, and a login that is over is refused at the door.
          endings += 1;
          failures = endings - 1;
        } else if (!passes(thrown)) throw thrown;
        else onLost?.(thrown);
      }
      failures += 1;
      await pause(jittered(failures, connection.retry), stop.signal).catch(() => undefined);
    }
  } finally {
    signal?.removeEventListener("abort", giveUp);
    stop.abort();
  }
}

interface Place {
  after: string | undefined;
}

/** A server that is away or overloaded comes back; a refusal stays one. */
function passes(thrown: unknown): boolean {
  if (thrown instanceof ApiError) return thrown.status >= 500 || thrown.status === 429;
  // A body that breaks off is thrown by the platform, each in its own form.
  return !(thrown instanceof TypeError && /takes no|must be/.test(thrown.message));
}

function ranOut(thrown: unknown, { token }: Connection): boolean {
  return thrown instanceof ApiError && thrown.status === 401 && typeof token === "function";
}

/** One connection, until it ends or is silent for too long. */
async function* connected(
  path: string,
  place: Place,
  heartbeatS: number,
  connection: Connection,
  signal: AbortSignal,
): AsyncGenerator<PlatformEvent | EventsReset | "alive"> {
  const silenceMsMax = Math.max(3 * heartbeatS, 10) * 1_000;
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  signal.addEventListener("abort", giveUp, { once: true });
  let timer = setTimeout(giveUp, silenceMsMax);
  try {
    const headers: Record<string, string> = place.after === undefined ? {} : { "last-event-id": place.after };
    const response = await openStream(path, headers, connection, over.signal);
    const take = serverSentEvents();
    for await (const piece of textsOf(response)) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, silenceMsMax);
      for (const event of take(piece)) {
        const reported = platformEventOf(event);
        place.after = event.id ?? place.after;
        if (reported !== undefined) yield reported;
      }
      yield "alive";
    }
  } catch (thrown) {
    if (signal.aborted || !over.signal.aborted) throw thrown;
    throw new UnreachableError(connection.baseUrl, `was silent for ${silenceMsMax} ms`, thrown, true);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    over.abort();
  }
}

async function* textsOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** An event that says why the stream ends is thrown as the refusal that it is. */
function platformEventOf({ id, event, data }: ServerSentEvent): PlatformEvent | EventsReset | undefined {
  const value = (data === undefined ? undefined : readJson(data)?.value) as
    | Readonly<Record<string, unknown>>
    | undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (event === "problem") {
    const code = String(value["code"]) as ErrorCode;
    const status = statusOf(code);
    throw new ApiError({ status, code, detail: String(value["detail"]), problem: value, retryAfterS: undefined });
  }
  if (event === "reset") return { type: "reset", id: id ?? String(value["id"]) };
  const { subject, at, payload } = value;
  if (typeof subject !== "string" || typeof at !== "string" || typeof payload !== "object" || payload === null)
    return undefined;
  const own = value["id"];
  return {
    type: "event",
    ...(typeof own === "string" ? { id: own } : {}),
    subject,
    at,
    payload: payload as PlatformEvent["payload"],
  };
}

/** Of what a stream can end with; the rest passes. */
function statusOf(code: ErrorCode): number {
  if (code === "UNAUTHENTICATED") return 401;
  return code === "PERMISSION_DENIED" ? 403 : 503;
}
