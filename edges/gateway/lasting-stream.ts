// What the gateway's streams share: how many may be open, how an event looks on the wire, and that a stream ends with the login that opened it.
//
//  1. A stream takes a seat before anything is asked for it, and gives it back once, however it ends.
//  2. The token is asked about again every second, also while nothing is sent: a login that was ended ends its streams.
//  3. What goes wrong after the beginning is reported as the event `problem`, and ends the stream.
import { mayCall, type Operation, whyNot } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { HttpAnswer, HttpRequest, HttpStream } from "../../ports/http.ts";
import { callerOf } from "./define-route.ts";
import type { GatewayParts } from "./parts.ts";

interface Seats {
  /** Answers the function that gives the seat back; more than once is once. */
  take(request: HttpRequest): () => void;
}

export function seatsFor(
  what: string,
  { allMax, personMax = allMax }: { readonly allMax: number; readonly personMax?: number },
): Seats {
  let all = 0;
  const byPerson = new Map<string, number>();
  return {
    take(request) {
      const { subject } = callerOf(request);
      const own = byPerson.get(subject) ?? 0;
      if (all >= allMax)
        throw tooMany(`${allMax} callers follow ${what} here already, as many as may: come back later.`);
      if (own >= personMax) {
        throw tooMany(
          `You follow ${what} over ${personMax} streams already, as many as one person may: close one of them.`,
        );
      }
      all += 1;
      byPerson.set(subject, own + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        all -= 1;
        const left = (byPerson.get(subject) ?? 1) - 1;
        if (left === 0) byPerson.delete(subject);
        else byPerson.set(subject, left);
      };
    },
  };
}

const tooMany = (sentence: string): Fault => new Fault("TOO_MANY_STREAMS", sentence, { retry: "later" });

/** Takes a seat for as long as the answer lasts; `begin` may still refuse, and its pieces are sent while the login stands. */
export async function seated(
  seats: Seats,
  request: HttpRequest,
  begin: () => Promise<
    HttpAnswer | { pieces(signal: AbortSignal): AsyncIterable<string>; readonly contentType?: string }
  >,
  login: LoginWatch,
): Promise<HttpAnswer> {
  const close = seats.take(request);
  try {
    const begun = await begin();
    if (!("pieces" in begun)) {
      close();
      return begun;
    }
    const body: HttpStream = { pieces: (signal) => whileLoggedIn(request, begun.pieces, login, signal), close };
    return { status: 200, body, ...(begun.contentType === undefined ? {} : { contentType: begun.contentType }) };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

interface LoginWatch {
  readonly parts: Pick<GatewayParts, "verify" | "timers">;
  readonly operation: Operation;
  /** How the end is reported; as an event unless it says otherwise. */
  readonly tellEnd?: (code: string, detail: string) => string;
}

const askEveryMs = 1_000;

async function* whileLoggedIn(
  request: HttpRequest,
  pieces: (signal: AbortSignal) => AsyncIterable<string>,
  { parts, operation, tellEnd = problemEvent }: LoginWatch,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  let lost: Fault | undefined;
  const watching = watch();
  async function watch(): Promise<void> {
    while (!ended.aborted) {
      await parts.timers.sleep(askEveryMs, ended);
      if (ended.aborted) return;
      lost = await whyOver(request, operation, parts);
      if (lost !== undefined) over.abort();
    }
  }
  try {
    for await (const piece of pieces(ended)) {
      if (lost !== undefined) break;
      yield piece;
    }
    if (lost !== undefined) yield tellEnd(lost.code, lost.message);
  } finally {
    over.abort();
    await watching;
  }
}

/** Not knowing is never a yes. */
async function whyOver(
  request: HttpRequest,
  operation: Operation,
  { verify }: Pick<GatewayParts, "verify">,
): Promise<Fault | undefined> {
  try {
    const identity = await verify(request.bearer() ?? "");
    if (mayCall(operation, identity)) return undefined;
    return new Fault("PERMISSION_DENIED", whyNot(operation), { retry: "never" });
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
}

/** One event of text/event-stream. A line end in it would let it pass for another one, so `data` is JSON, which has none. */
export function eventPiece({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}): string {
  return `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}

export function problemEvent(code: string, detail: string): string {
  return eventPiece({ event: "problem", data: JSON.stringify({ code, detail }) });
}

/** How long to wait before coming back, and a sign that the stream stands. */
export function openingPiece(comment: string, id?: string): string {
  return `retry: 1000\n${id === undefined ? "" : `id: ${id}\n`}: ${comment}\n\n`;
}
