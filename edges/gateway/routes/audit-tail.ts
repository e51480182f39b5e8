// GET /v1/operations/audit/tail: the log as a stream of events (text/event-stream), each entry as the exact text that is hashed, under its sequence as
// the event's id. Whoever was cut off goes on with `Last-Event-ID`, as browsers do by themselves.
//
//  1. A page is asked for when the one before was read, with the caller's own token: a slow reader holds up only itself.
//  2. While nothing happens there is a comment every ten seconds, so that both ends know that the other is there.
//  3. How many may follow, and that a stream ends with its login: edges/gateway/lasting-stream.ts.
import { Fault } from "../../../contracts/src/fault.ts";
import type { AuditPage, TailAuditRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { declared } from "../declared/route.ts";
import { eventPiece, openingPiece, problemEvent, seated, seatsFor } from "../lasting-stream.ts";
import type { GatewayParts } from "../parts.ts";
import { readText } from "./audit.ts";

/** As many as the log itself lets wait. */
export const followersMax = 16;
const pageEntries = 100;
/** The log answers after ten seconds at the latest; this is for one that does not. */
const timeoutMs = 20_000;
const eventId = /^(0|[1-9][0-9]{0,15})$/;

type Parts = Pick<GatewayParts, "services" | "verify" | "timers">;

export function auditTail(parts: Parts): Route {
  const seats = seatsFor("the audit log", { allMax: followersMax });
  return {
    ...declared("tailAudit"),
    handle: (request) => {
      const begin = async () => {
        const from = await beginning(parts, request, startOf(request));
        if (typeof from !== "number") return from;
        return { pieces: (signal: AbortSignal) => follow(parts, request, from, signal) };
      };
      return seated(seats, request, begin, { parts, operation: "TailAudit" });
    },
  };
}

/** The log is asked once before anything is answered, so that a caller who may not, or asks for too much, is told so by the status. */
async function beginning(parts: Parts, request: HttpRequest, asked: number | undefined): Promise<number | HttpAnswer> {
  const sizes: number[] = [];
  const answer = await askAudit<TailAuditRequest, AuditPage>(parts, request, {
    service: "AuditDesk",
    method: "TailAudit",
    // There is an entry 0, so this does not wait.
    message: { from_sequence: 0, count_max: 1 },
    tell: ({ size }) => {
      sizes.push(size);
      return {};
    },
  });
  const [size] = sizes;
  if (size === undefined) return answer;
  if (asked !== undefined && asked > size) throw beyond(asked, size);
  return asked ?? size;
}

/** Where a browser left off is newer than what its address says. */
function startOf({ headers, query }: HttpRequest): number | undefined {
  const last = headers["last-event-id"];
  // Absent is not 0 here: it means what comes next.
  if (last === undefined) return (query as { readonly from_sequence?: number }).from_sequence;
  if (typeof last === "string" && eventId.test(last) && Number(last) < Number.MAX_SAFE_INTEGER) return Number(last) + 1;
  const sentence = "Last-Event-ID must be the sequence of the last entry that was read, in decimal digits.";
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

async function* follow(parts: Parts, request: HttpRequest, start: number, signal: AbortSignal): AsyncGenerator<string> {
  let next = start;
  yield openingPiece(`the audit log from entry ${next} on`);
  try {
    while (!signal.aborted) {
      const tailRequest: TailAuditRequest = { from_sequence: next, count_max: pageEntries };
      const outcome = await parts.services.call("AuditDesk", "TailAudit", tailRequest, {
        bearer: request.bearer(),
        requestId: request.requestId,
        timeoutMs,
        signal,
      });
      if (!outcome.ok) {
        yield problemEvent(outcome.denial.code, outcome.denial.reason);
        return;
      }
      const { texts } = outcome.value as AuditPage;
      if (texts.length === 0) yield ": nothing new\n\n";
      for (const bytes of texts) {
        yield eventOf(next, bytes);
        next += 1;
      }
    }
  } catch (thrown) {
    if (signal.aborted) return;
    if (!(thrown instanceof Fault)) throw thrown;
    yield problemEvent(thrown.code, thrown.message);
  }
}

/** No line end stands in the text of an entry that is one, and one in here would let it pass for another event. */
function eventOf(sequence: number, bytes: Uint8Array): string {
  const text = readText(bytes, sequence);
  if (!/[\r\n]/.test(text)) return eventPiece({ id: String(sequence), data: text });
  const facts = { code: "ENTRY_MALFORMED", sequence, expected: "one line", actual: "several" };
  const sentence = `The audit chain is broken: entry ${sequence} is not one line.`;
  throw new Fault("CHAIN_INTEGRITY", sentence, { retry: "never", facts });
}

function beyond(from: number, size: number): Fault {
  const sentence = `from_sequence is ${from}: the log has ${size} entries, counted from 0.`;
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
