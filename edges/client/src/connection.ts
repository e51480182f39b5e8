// How the clients speak to a server: one request with its bound, its token and its tries; and one that stays open.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { CallOptions, Deprecated } from "./call-options.ts";
import { ApiError, type ErrorCode, type Problem, UnreachableError } from "./errors.ts";
import type { RequestShape } from "./operation.ts";
import { freshKey, pause, pauseBefore, type RetryOptions, retryDefaults } from "./retry.ts";

/** A token, or a way to get one that is good now; undefined calls as nobody. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface ConnectionOptions {
  /** Where the server is: "http://127.0.0.1:8080". A path is kept as a prefix. */
  readonly baseUrl: string;
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch | undefined;
  /** How long a call may take altogether, every try included. */
  readonly timeoutMs?: number | undefined;
  /** How calls that are safe to repeat are tried again; false never. */
  readonly retry?: RetryOptions | false | undefined;
  /** Called when a server says that what was called is left behind. */
  readonly onDeprecated?: ((facts: Deprecated) => void) | undefined;
}

export interface Connection {
  readonly baseUrl: string;
  readonly token: TokenSource | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly retry: Required<RetryOptions>;
  readonly onDeprecated: ((facts: Deprecated) => void) | undefined;
}

const timeoutMsDefault = 30_000;
/** Timers that are asked for more fire at once. */
const timeoutMsMax = 2_147_483_647;

export function connectionOf(options: ConnectionOptions, token?: TokenSource): Connection {
  const { retry = {} } = options;
  return {
    baseUrl: checkedBaseUrl(options.baseUrl),
    token,
    // Browsers refuse a fetch that is called as anybody's method.
    fetch: options.fetch ?? ((...parameters) => fetch(...parameters)),
    timeoutMs: options.timeoutMs ?? timeoutMsDefault,
    retry: retry === false ? { ...retryDefaults, attemptsMax: 1 } : { ...retryDefaults, ...retry },
    onDeprecated: options.onDeprecated,
  };
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
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
}

interface Asked {
  readonly id: string;
  readonly shape: RequestShape;
  readonly answer: "json" | "text" | "bytes";
  /** A POST that the server does once for a key, however often it comes. */
  readonly takesKey: boolean;
}

interface Answered {
  readonly value: unknown;
  readonly headers: Headers;
}

/** One call with its tries, all of them within one time. */
export async function perform(asked: Asked, call: CallOptions, connection: Connection): Promise<Answered> {
  const timeoutMs = call.timeoutMs ?? connection.timeoutMs;
  const ending = endOf(call.signal, timeoutMs);
  const key = asked.takesKey ? (call.idempotencyKey ?? freshKey()) : call.idempotencyKey;
  const isSafe = asked.shape.method === "GET" || (asked.takesKey && key !== undefined);
  const headers = key === undefined ? {} : { "idempotency-key": key };
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await performOnce(asked, headers, connection, ending.signal);
      } catch (thrown) {
        call.signal?.throwIfAborted();
        if (ending.isLate()) throw late(connection.baseUrl, timeoutMs, thrown);
        const waitMs = isSafe ? pauseBefore(attempt, thrown, connection.retry) : undefined;
        // Waiting beyond the caller's time would only turn the server's own words into ours.
        if (waitMs === undefined || waitMs >= timeoutMs) throw thrown;
        await pause(waitMs, ending.signal).catch(() => {
          call.signal?.throwIfAborted();
          throw thrown;
        });
      }
    }
  } finally {
    ending.clear();
  }
}

function late(baseUrl: string, timeoutMs: number, cause: unknown): unknown {
  return cause instanceof ApiError
    ? cause
    : new UnreachableError(baseUrl, `did not answer within ${timeoutMs} ms`, cause);
}

async function performOnce(
  { id, shape, answer }: Asked,
  more: Readonly<Record<string, string>>,
  connection: Connection,
  signal: AbortSignal,
): Promise<Answered> {
  const token = await tokenOf(connection);
  const { baseUrl } = connection;
  let response: Response;
  let text: string;
  let bytes: Uint8Array | undefined;
  try {
    response = await connection.fetch(`${baseUrl}${shape.path}`, requestInit(shape, token, more, signal));
    // The bound holds until the last byte of the body.
    if (answer === "bytes" && response.status < 400) bytes = new Uint8Array(await response.arrayBuffer());
    text = bytes === undefined ? await response.text() : "";
  } catch (cause) {
    throw new UnreachableError(baseUrl, whyNot(cause), cause, true);
  }
  refuseRedirect(response, baseUrl);
  tellDeprecated(id, response.headers, connection);
  if (response.status >= 400) throw apiError(response, text);
  if (bytes !== undefined) return { value: bytes, headers: response.headers };
  if (answer === "text") return { value: text, headers: response.headers };
  const read = readJson(text);
  if (read === undefined) {
    throw new UnreachableError(
      baseUrl,
      `answered ${response.status} with something that is not JSON; is it Portcullis?`,
    );
  }
  return { value: read.value, headers: response.headers };
}

/** A request whose answer stays open; the caller reads its body. */
export async function openStream(
  path: string,
  more: Readonly<Record<string, string>>,
  connection: Connection,
  signal: AbortSignal,
): Promise<Response> {
  const token = await tokenOf(connection);
  const { baseUrl } = connection;
  const init = requestInit(
    { method: "GET", path, body: undefined },
    token,
    { accept: "text/event-stream", ...more },
    signal,
  );
  const response = await connection.fetch(`${baseUrl}${path}`, init).catch((cause: unknown) => {
    throw new UnreachableError(baseUrl, whyNot(cause), cause, true);
  });
  refuseRedirect(response, baseUrl);
  if (response.status >= 400) throw apiError(response, await response.text().catch(() => ""));
  return response;
}

async function tokenOf({ token }: Connection): Promise<string | undefined> {
  return typeof token === "function" ? token() : token;
}

/**
 * Aborts when the time is over or the caller gives up. The controller is held by the timer: a signal that is made of others
 * (AbortSignal.any) holds none of them, and one of a timeout that nobody else knows may be collected and never fire.
 */
function endOf(given: AbortSignal | undefined, timeoutMs: number) {
  const controller = new AbortController();
  let late = false;
  const giveUp = (): void => controller.abort(given?.reason);
  const boundMs = Math.min(timeoutMs, timeoutMsMax);
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, boundMs);
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

function requestInit(
  shape: RequestShape,
  token: string | undefined,
  more: Readonly<Record<string, string>>,
  signal: AbortSignal,
): RequestInit {
  return {
    method: shape.method,
    headers: {
      accept: "application/json, application/problem+json, text/plain",
      ...(shape.body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...more,
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

function refuseRedirect(response: Response, baseUrl: string): void {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new UnreachableError(baseUrl, "sends callers elsewhere; use the address that it points to");
  }
}

/** In the forms of RFC 9745 and RFC 8594. */
function tellDeprecated(operation: string, headers: Headers, { onDeprecated }: Connection): void {
  const since = /^@(\d{1,11})$/.exec(headers.get("deprecation") ?? "")?.[1];
  if (onDeprecated === undefined || since === undefined) return;
  onDeprecated({ operation, since: new Date(Number(since) * 1_000), sunset: headers.get("sunset") ?? undefined });
}

function apiError(response: Response, text: string): ApiError {
  const value = readJson(text)?.value;
  const problem = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Problem) : undefined;
  const retryAfter = response.headers.get("retry-after") ?? "";
  return new ApiError({
    status: response.status,
    // A newer server may know codes that this version does not: whoever compares codes has a case for the rest.
    code: typeof problem?.code === "string" ? (problem.code as ErrorCode) : codeOfStatus(response.status),
    detail: typeof problem?.detail === "string" ? problem.detail : undefined,
    problem,
    // The other form is a date, which only helps whoever trusts both clocks.
    retryAfterS: /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  });
}

export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    // What cannot be read is left out; callers say what that means.
    return undefined;
  }
}

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
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
function codeOfStatus(status: number): ErrorCode {
  return codesByStatus[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}
