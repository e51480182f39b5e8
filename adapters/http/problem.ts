// Errors over HTTP: one document shape (RFC 9457, application/problem+json) for everything that goes wrong, from a route's
// own fault to a request that Node's parser refused. What a stranger may read is decided here and nowhere else.
import { STATUS_CODES } from "node:http";
import { type FaultCode, faults } from "../../contracts/src/codes/faults.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Listener } from "../../ports/http.ts";
import { beyondError, bytesError } from "./body/refuse-beyond.ts";
import { detailOf, type FieldError } from "./field-errors.ts";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance: string;
  readonly code: string;
  readonly request_id: string;
  /** What is wrong with which field of the request. */
  readonly errors?: readonly FieldError[];
  /** What was made by a request whose answer is not kept. */
  readonly id?: string;
}

export interface ProblemContext {
  readonly requestId: string;
  /** The path that was asked for, without its query: queries may carry what must not be repeated. */
  readonly path: string;
  readonly listener: Listener;
  /** How large a body may be here, and how large this one says it is. */
  readonly body?: { readonly bytesMax: number; readonly announced: string | undefined };
}

export const problemContentType = "application/problem+json; charset=utf-8";

/** What HTTP itself refuses. The status tells the cases apart; the code is the registry's nearest word. */
const transport: Readonly<Record<number, { readonly code: FaultCode; readonly detail: string }>> = {
  400: { code: "INVALID_ARGUMENT", detail: "The request is malformed." },
  401: { code: "UNAUTHENTICATED", detail: "This needs a token that says who you are." },
  403: { code: "PERMISSION_DENIED", detail: "This is not for you." },
  404: { code: "NOT_FOUND", detail: "Nothing is served under this path; paths are exact, slashes included." },
  405: {
    code: "INVALID_ARGUMENT",
    detail: "This path does not answer that method; the Allow header has those it does.",
  },
  408: { code: "DEADLINE_EXCEEDED", detail: "The request did not arrive in time." },
  411: { code: "INVALID_ARGUMENT", detail: "A body that is sent here must announce its length." },
  413: { code: "MESSAGE_TOO_LARGE", detail: "The request body is larger than the limit." },
  414: { code: "MESSAGE_TOO_LARGE", detail: "The address is longer than the limit." },
  415: { code: "INVALID_ARGUMENT", detail: "The body must be application/json." },
  417: { code: "INVALID_ARGUMENT", detail: "The Expect header asks for something that is not done here." },
  431: { code: "MESSAGE_TOO_LARGE", detail: "The request headers are larger than the limit." },
  429: { code: "RESOURCE_EXHAUSTED", detail: "Too many attempts." },
  504: { code: "DEADLINE_EXCEEDED", detail: "The answer took longer than the limit." },
};

export function problem(status: number, code: string, detail: string | undefined, context: ProblemContext): Problem {
  return {
    type: `urn:portcullis:problem:${code}`,
    title: titleOf(status, code),
    status,
    ...(detail === undefined ? {} : { detail }),
    instance: context.path,
    code,
    request_id: context.requestId,
  };
}

export function transportProblem(status: number, context: ProblemContext, detail?: string): Problem {
  const known = transport[status];
  return problem(status, known?.code ?? "INVALID_ARGUMENT", detail ?? known?.detail, context);
}

/** What the route's schemas had to say about a request. */
export function inputProblem(errors: readonly FieldError[], context: ProblemContext): Problem {
  return { ...problem(400, "INVALID_ARGUMENT", detailOf(errors), context), errors };
}

/** Completes what a route answered with a status of 400 or more: the route says what it knows, the rest follows. */
export function completeProblem(status: number, body: object, context: ProblemContext): object {
  const code = "code" in body && typeof body.code === "string" ? body.code : codeOfStatus(status);
  return { ...problem(status, code, undefined, context), ...body };
}

/** Any thrown thing as a problem. Only a Fault's own words reach the caller, and on the public side not those of a 5xx. */
export function thrownProblem(thrown: unknown, context: ProblemContext): Problem {
  if (thrown instanceof Fault) {
    const status = faults[thrown.code].http;
    const reported = status < 500 || context.listener === "operator";
    const answer = problem(status, thrown.code, reported ? thrown.message : undefined, context);
    const beyond = beyondError(thrown);
    if (beyond !== undefined) return { ...answer, errors: [beyond] };
    const id = thrown.code === "IDEMPOTENT_ANSWER_NOT_KEPT" ? thrown.facts["id"] : undefined;
    return typeof id === "string" && id !== "" ? { ...answer, id } : answer;
  }
  const refused = refusedStatus(thrown);
  if (refused === 413 && context.body !== undefined) {
    const errors = [bytesError(context.body)];
    return { ...transportProblem(413, context, detailOf(errors)), errors };
  }
  if (refused !== undefined) return transportProblem(refused, context, wordsOf(thrown, refused));
  return problem(500, "INTERNAL", undefined, context);
}

/** The status of an error that the HTTP library raised about the request itself; undefined for everything else. */
function refusedStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return undefined;
  if (thrown.code === "FST_ERR_HANDLER_TIMEOUT") return 504;
  if (!thrown.code.startsWith("FST_ERR_") || !("statusCode" in thrown)) return undefined;
  const status = thrown.statusCode;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

/** The library's sentence is useful for a malformed body ("not valid JSON"); elsewhere ours is better. */
function wordsOf(thrown: unknown, status: number): string | undefined {
  return status === 400 && thrown instanceof Error ? thrown.message : undefined;
}

function titleOf(status: number, code: string): string {
  const entry = isFaultCode(code) ? faults[code] : undefined;
  return entry?.http === status ? entry.sentence : (STATUS_CODES[status] ?? "Error");
}

function codeOfStatus(status: number): FaultCode {
  return transport[status]?.code ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(faults, code);
}
