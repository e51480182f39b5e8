// The client of the operator API: `createClient({ baseUrl, token })` gives an object with one method per operation. It runs in
// browsers and in Node on nothing but `fetch`, and never follows a redirect: the token is for the server that was named.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { ApiError, type Problem, UnreachableError } from "./errors.ts";
import { operationTable } from "./generated/operations.ts";
import { type Arguments, type OperationPlace, type RequestShape, requestShape } from "./operation.ts";
import type { CallOptions, Client } from "./types.ts";

/** A token, or a way to get one that is good now; undefined calls as nobody. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  /** Where the server is: "http://127.0.0.1:8080". A path is kept as a prefix. */
  readonly baseUrl: string;
  readonly token?: TokenSource | undefined;
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch | undefined;
  /** How long a call may take altogether. */
  readonly timeoutMs?: number | undefined;
}

const timeoutMsDefault = 30_000;
/** Timers that are asked for more fire at once. */
const timeoutMsMax = 2_147_483_647;

interface Connection {
  readonly baseUrl: string;
  readonly token: TokenSource | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

export function createClient(options: ClientOptions): Client {
  const connection: Connection = {
    baseUrl: checkedBaseUrl(options.baseUrl),
    token: options.token,
    // Browsers refuse a fetch that is called as anybody's method.
    fetch: options.fetch ?? ((...parameters) => fetch(...parameters)),
    timeoutMs: options.timeoutMs ?? timeoutMsDefault,
  };
  const methods = Object.entries<OperationPlace>(operationTable).map(([id, place]) => [
    id,
    (given: Arguments = {}, call: CallOptions = {}) => perform(id, place, given, call, connection),
  ]);
  // The table and the types are generated from one document, so each method is what its type says.
  return Object.fromEntries(methods) as unknown as Client;
}

function checkedBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new TypeError("baseUrl must be a URL such as http://127.0.0.1:8080", { cause });
  }
  const plain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!/^https?:$/.test(url.protocol) || !plain) {
    throw new TypeError("baseUrl must begin with http:// or https:// and carry no user, query or fragment");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

async function perform(
  id: string,
  place: OperationPlace,
  given: Arguments,
  call: CallOptions,
  connection: Connection,
): Promise<unknown> {
  const shape = requestShape(id, place, given);
  const token = typeof connection.token === "function" ? await connection.token() : connection.token;
  const timeoutMs = call.timeoutMs ?? connection.timeoutMs;
  const ending = endOf(call.signal, timeoutMs);
  const { baseUrl } = connection;
  let response: Response;
  let text: string;
  try {
    response = await connection.fetch(`${baseUrl}${shape.path}`, requestInit(shape, token, ending.signal));
    // The bound holds until the last byte of the body.
    text = await response.text();
  } catch (cause) {
    call.signal?.throwIfAborted();
    throw new UnreachableError(
      baseUrl,
      ending.isLate() ? `did not answer within ${timeoutMs} ms` : whyNot(cause),
      cause,
    );
  } finally {
    ending.clear();
  }
  const answer = readAnswer(place, response, text, baseUrl);
  call.onHeaders?.(response.headers);
  return answer;
}

/**
 * Aborts when the time is over or the caller gives up. The controller is held by the timer: a signal that is made of others
 * (AbortSignal.any) holds none of them, and one of a timeout that nobody else knows may be collected and never fire.
 */
function endOf(given: AbortSignal | undefined, timeoutMs: number) {
  const controller = new AbortController();
  let late = false;
  const giveUp = (): void => controller.abort(given?.reason);
  const timer = setTimeout(
    () => {
      late = true;
      controller.abort();
    },
    Math.min(timeoutMs, timeoutMsMax),
  );
  given?.addEventListener("abort", giveUp, { once: true });
  if (given?.aborted === true) giveUp();
  return {
    signal: controller.signal,
    isLate: () => late,
    clear(): void {
      clearTimeout(timer);
      given?.removeEventListener("abort", giveUp);
    },
  };
}

function requestInit(shape: RequestShape, token: string | undefined, signal: AbortSignal): RequestInit {
  return {
    method: shape.method,
    headers: {
      accept: "application/json, application/problem+json, text/plain",
      ...(shape.body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(shape.body === undefined ? {} : { body: shape.body }),
    signal,
    redirect: "manual",
    // A cookie of the same site is no part of this API, and sending one would let other pages act for its owner.
    credentials: "omit",
  };
}

/** The platform's reason hides in the cause ("connect ECONNREFUSED 127.0.0.1:8080"); browsers tell none. */
function whyNot(thrown: unknown): string {
  const inner = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const reason = inner instanceof Error ? inner.message : "";
  return reason === "" ? "cannot be reached" : `cannot be reached: ${reason}`;
}

function readAnswer(place: OperationPlace, response: Response, text: string, baseUrl: string): unknown {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new UnreachableError(baseUrl, "sends callers elsewhere; use the address that it points to");
  }
  if (response.status >= 400) throw apiError(response, text);
  if (place.answer === "text") return text;
  const read = readJson(text);
  if (read === undefined) {
    throw new UnreachableError(
      baseUrl,
      `answered ${response.status} with something that is not JSON; is it Portcullis?`,
    );
  }
  return read.value;
}

function apiError(response: Response, text: string): ApiError {
  const value = readJson(text)?.value;
  const problem = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Problem) : undefined;
  const retryAfter = response.headers.get("retry-after") ?? "";
  return new ApiError({
    status: response.status,
    code: typeof problem?.code === "string" ? problem.code : codeOfStatus(response.status),
    detail: typeof problem?.detail === "string" ? problem.detail : undefined,
    problem,
    // The other form is a date, which only helps whoever trusts both clocks.
    retryAfterS: /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  });
}

function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    // What cannot be read is reported by its absence; both callers say what that means.
    return undefined;
  }
}

const codesByStatus: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  413: "MESSAGE_TOO_LARGE",
  429: "RESOURCE_EXHAUSTED",
  501: "UNIMPLEMENTED",
  502: "SERVICE_UNAVAILABLE",
  503: "SERVICE_UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** For answers of whatever stands between us and the server, which know nothing of our codes. */
function codeOfStatus(status: number): string {
  return codesByStatus[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}
