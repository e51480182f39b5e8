// How the routes about the audit chain ask for it. A broken chain is a fault of the service with the place and the two values that differ as
// its facts; here it becomes the problem that carries them, because they are what an operator needs first.
import { answerOf } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { AuditEntry, ChainIntegrityError } from "../../contracts/src/generated/svc/v1/audit.ts";
import type { HttpAnswer, HttpRequest } from "../../ports/http.ts";
import { answerTo } from "./answers.ts";
import { plain } from "./ask-service.ts";
import type { GatewayParts } from "./parts.ts";

const timeoutMsDefault = 10_000;

interface AuditQuestion<Request extends object, Answer extends object> {
  readonly service: "Operations" | "AuditDesk";
  readonly method: string;
  readonly message: Request;
  readonly timeoutMs?: number;
  readonly status?: 200 | 201;
  /** What the caller is told of the answer. */
  tell(answer: Answer): object;
}

export async function askAudit<Request extends object, Answer extends object>(
  parts: Pick<GatewayParts, "services">,
  request: HttpRequest,
  { service, method, message, timeoutMs, status, tell }: AuditQuestion<Request, Answer>,
): Promise<HttpAnswer> {
  try {
    const outcome = await parts.services.call(service, method, message, {
      bearer: request.bearer(),
      requestId: request.requestId,
      idempotency: request.idempotency,
      timeoutMs: timeoutMs ?? timeoutMsDefault,
    });
    // A procedure's answer is the message that the protos name for it.
    return answerTo(outcome, status ?? 200, (value) => tell(value as Answer));
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "CHAIN_INTEGRITY") return brokenChain(thrown);
    throw thrown;
  }
}

/** The same for an answer that is a text, which no JSON schema describes. */
export async function askAuditText<Request extends object, Answer extends object>(
  parts: Pick<GatewayParts, "services">,
  request: HttpRequest,
  question: Omit<AuditQuestion<Request, Answer>, "tell"> & { textOf(answer: Answer): string },
): Promise<HttpAnswer> {
  const { textOf, ...rest } = question;
  const reported = await askAudit<Request, Answer>(parts, request, { ...rest, tell: (answer) => [textOf(answer)] });
  return Array.isArray(reported.body) ? { ...reported, body: String(reported.body[0]) } : reported;
}

export function brokenChain(fault: Fault): HttpAnswer {
  const error = integrityErrorOf(fault);
  return {
    status: answerOf(fault.code).http,
    body: {
      code: fault.code,
      detail: fault.message,
      // Its own `code` says what is broken, so it stands apart from the problem's.
      ...(error === undefined ? {} : { chain_integrity_error: error }),
    },
  };
}

/** Undefined when the facts were lost on the way: the sentence is then all there is. */
function integrityErrorOf({ facts }: Fault): ChainIntegrityError | undefined {
  const { code, sequence, expected, actual } = facts;
  const at = Number(sequence ?? Number.NaN);
  if (typeof code !== "string" || !Number.isSafeInteger(at)) return undefined;
  return { code, sequence: at, expected: String(expected ?? ""), actual: String(actual ?? "") };
}

/** An entry for JSON; the codec leaves out data that is empty. */
export function entryJson(entry: AuditEntry): object {
  return { ...entry, data: plain(entry.data ?? {}) };
}

/** The log that was asked for; nothing is said of the one that is written. */
export function logIn({ log }: { readonly log?: number | undefined }): { readonly log?: number } {
  return log === undefined ? {} : { log };
}
