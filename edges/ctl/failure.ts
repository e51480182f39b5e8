// How a command ends badly: one shape for what ctl itself refuses, what the server refuses and what cannot be reached, each with a
// stable code, a sentence and an exit code. Under --json it is the problem object of the HTTP API plus `exit_code`.
import { type ExitCode, exitCodes } from "../../contracts/src/codes/shape.ts";

/** Ctrl-C, as shells count it. */
export const interruptedExit = 130;
type CtlExit = ExitCode | typeof interruptedExit;

/** What ctl itself says no to, before or instead of asking a server. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly exit: CtlExit;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(exit: CtlExit, code: string, detail: string, hint?: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.exit = exit;
    this.code = code;
    this.hint = hint;
  }
}

export function usageRefusal(detail: string, hint?: string): Refusal {
  return new Refusal(exitCodes.usage, "INVALID_ARGUMENT", detail, hint);
}

export function loginRefusal(detail: string, hint = "Log in with `ctl auth login`."): Refusal {
  return new Refusal(exitCodes.notLoggedIn, "UNAUTHENTICATED", detail, hint);
}

/** What only a ctl with a repository around it can offer; the others leave it out of the hint. */
export const startHere = "; `ctl up` starts a platform here";

function unreachable(detail: string, cause?: unknown): Refusal {
  const hint = `\`ctl doctor\` looks closer${startHere}.`;
  return new Refusal(exitCodes.unavailable, "SERVICE_UNAVAILABLE", detail, hint, cause);
}

export function interrupted(): Refusal {
  return new Refusal(interruptedExit, "CANCELLED", "Stopped by Ctrl-C.");
}

/** What is printed of a failure. */
export interface Failure {
  readonly exit: CtlExit;
  readonly code: string;
  readonly detail: string;
  readonly hint: string | undefined;
  /** The server's own problem object, when it sent one. */
  readonly problem: Readonly<Record<string, unknown>> | undefined;
}

interface ApiErrorLike extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string | undefined;
  readonly problem: unknown;
  readonly retryAfterS: number | undefined;
}

/** By shape and not by class, so that the client is not loaded just to say that it was never needed. */
export function isApiError(thrown: unknown): thrown is ApiErrorLike {
  return thrown instanceof Error && thrown.name === "ApiError" && typeof (thrown as ApiErrorLike).status === "number";
}

/** The code of the innermost reason of a request that got no answer, for example ECONNREFUSED; undefined for anything else. */
export function connectionProblem(thrown: unknown): string | undefined {
  for (let at: unknown = thrown, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^(E[A-Z]+|UND_ERR_[A-Z_]+|ERR_(TLS|SSL)[A-Z_]*)$|CERT|_SIGNATURE$/.test(code))
      return code;
    if (at.name === "TimeoutError") return "no answer in time";
  }
  return thrown instanceof TypeError && thrown.message === "fetch failed" ? "no connection" : undefined;
}

export async function failureOf(thrown: unknown): Promise<Failure> {
  if (thrown instanceof Refusal) {
    return { exit: thrown.exit, code: thrown.code, detail: thrown.message, hint: thrown.hint, problem: undefined };
  }
  if (isApiError(thrown)) return apiFailure(thrown);
  // The client's word for a server that did not answer, or not in our language.
  if (thrown instanceof Error && thrown.name === "UnreachableError") return failureOf(unreached(thrown));
  if (thrown instanceof Error && thrown.name === "AbortError") return failureOf(interrupted());
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return { exit: exitCodes.failed, code: "INTERNAL", detail, hint: undefined, problem: undefined };
}

function unreached(thrown: Error & { readonly baseUrl?: unknown }): Refusal {
  const { baseUrl } = thrown;
  // What a TLS library says when the answer to its greeting is plain text.
  const isPlain = /ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/.test(
    connectionProblem(thrown) ?? "",
  );
  const untrusted = untrustedCertificate(connectionProblem(thrown) ?? "");
  if (untrusted !== undefined && typeof baseUrl === "string") {
    const [sentence, hint] = untrusted;
    const detail = `${baseUrl} cannot be trusted: ${sentence}. Nothing was sent.`;
    return new Refusal(exitCodes.unavailable, "SERVICE_UNAVAILABLE", detail, hint, thrown);
  }
  if (!isPlain || typeof baseUrl !== "string") return unreachable(`${thrown.message}.`);
  return new Refusal(
    exitCodes.unavailable,
    "SERVICE_UNAVAILABLE",
    `${baseUrl} cannot be reached: it speaks http, not https.`,
    `Use ${baseUrl.replace(/^https:/, "http:")} with --server or PORTCULLIS_URL.`,
    thrown,
  );
}

/** What is wrong with the certificate that a server showed, and what to do; undefined when it is something else. */
function untrustedCertificate(problem: string): readonly [string, string] | undefined {
  if (problem === "CERT_HAS_EXPIRED") return ["its certificate has run out", "Its operators have to renew it."];
  if (problem === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return ["its certificate is for another name", "Use the name in its certificate with --server or PORTCULLIS_URL."];
  }
  if (!/CERT|_SIGNATURE$/.test(problem)) return undefined;
  const hint = "Name its authority's file in NODE_EXTRA_CA_CERTS.";
  return [`its certificate comes from an authority that this machine does not know (${problem})`, hint];
}

async function apiFailure(error: ApiErrorLike): Promise<Failure> {
  const { codeEntry } = await import("../../contracts/src/codes.ts");
  const entry = codeEntry(error.code);
  const exit = entry !== undefined && entry.kind !== "alarm" ? entry.exit : exitOfStatus(error.status);
  const problem = typeof error.problem === "object" && error.problem !== null ? { ...error.problem } : undefined;
  const detail = error.detail ?? entry?.sentence ?? `The server answered ${error.status}.`;
  const wait = error.retryAfterS === undefined ? undefined : `Try again in ${error.retryAfterS} s.`;
  return { exit, code: error.code, detail, hint: wait ?? hintFor(exit, error.code), problem };
}

/** For an answer whose code is not ours: a proxy in between, or a newer server. */
function exitOfStatus(status: number): ExitCode {
  const known: Readonly<Record<number, ExitCode>> = {
    400: exitCodes.usage,
    401: exitCodes.notLoggedIn,
    403: exitCodes.forbidden,
    409: exitCodes.conflict,
    412: exitCodes.conflict,
    422: exitCodes.refused,
    429: exitCodes.unavailable,
    502: exitCodes.unavailable,
    503: exitCodes.unavailable,
    504: exitCodes.unavailable,
  };
  return known[status] ?? exitCodes.failed;
}

function hintFor(exit: CtlExit, code: string): string | undefined {
  if (exit === exitCodes.notLoggedIn)
    return "`ctl auth whoami` says which token was used; `ctl auth login` gets a new one.";
  if (code === "STEP_UP_REQUIRED") return "Add --totp CODE, and --reason TEXT where it wants one.";
  if (code === "PERMISSION_DENIED") return "`ctl auth whoami` shows your roles.";
  if (exit === exitCodes.unavailable) return "Try again in a moment; `ctl doctor` looks closer.";
  return undefined;
}
