// Requests with an Idempotency-Key. What the gateway only asks of a service is done once by that service; what it does by itself is done once here. A
// halt is done first, always, and looked up afterwards: it never waits for its key and is never refused for it.
import { answerOf, type FaultCode } from "../../../contracts/src/codes.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import {
  idempotencyKeyHeader,
  isDoneByGateway,
  isIdempotencyKey,
  isRepeatable,
  keyLengthMax,
  takesIdempotencyKey,
} from "../../../contracts/src/idempotency.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { HttpAnswer, HttpRequest, IdempotencyAsked, Listener, Route } from "../../../ports/http.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import {
  type Ending,
  type Job,
  type KeyedWork,
  type OncePerKey,
  placeOf,
  sha256Hex,
} from "../../records/once-per-key.ts";
import type { FieldError } from "../field-errors.ts";

interface KeyedPorts {
  readonly oncePerKey?: OncePerKey;
  readonly timers: Timers;
  readonly log: Log;
}

type KeyHeader = { readonly key: string | undefined } | { readonly errors: readonly FieldError[] };

/** The key of a request to a route that takes one; elsewhere the header says nothing. */
export function readKey(route: Route, listener: Listener, headers: HttpRequest["headers"]): KeyHeader {
  const given = headers[idempotencyKeyHeader];
  if (given === undefined || listener !== "operator" || !takesIdempotencyKey(route)) return { key: undefined };
  if (typeof given === "string" && isIdempotencyKey(given)) return { key: given };
  const expected = `1 to ${keyLengthMax} printable ASCII characters, and not only spaces`;
  return { errors: [{ field: "Idempotency-Key", expected }] };
}

/** One key at two paths is two; names and values stand as they were understood, however they were written. */
export function askedUnder(key: string, route: Route, params: unknown, replayed: () => void): IdempotencyAsked {
  const values = new URLSearchParams(params as Readonly<Record<string, string>>).toString();
  return { key, path: values === "" ? route.path : `${route.path} ${values}`, replayed };
}

/** The route's answer, or the first one that it gave under this key. */
export async function handleOnce(route: Route, request: HttpRequest, ports: KeyedPorts): Promise<HttpAnswer> {
  const { idempotency, identity } = request;
  const { oncePerKey } = ports;
  if (idempotency === undefined || identity === undefined || oncePerKey === undefined) return route.handle(request);
  const asked: KeyedWork = {
    key: { caller: identity.subject, place: placeOf(route.id, idempotency.path), key: idempotency.key },
    bodyHash: sha256Hex(JSON.stringify([request.body ?? null, request.query ?? null])),
    repeatable: isRepeatable(route.operation),
  };
  if (route.neverWaitsForKey !== undefined) return handleFirst(route, request, asked, { ...ports, oncePerKey });
  if (!isDoneByGateway(route.operation)) return route.handle(request);
  const { value, replayed } = await oncePerKey.once(asked, jobOf(route, request));
  if (replayed) idempotency.replayed();
  if ("thrown" in value) throw value.thrown;
  return value.answer;
}

type Settled = { readonly answer: HttpAnswer } | { readonly thrown: unknown };

function jobOf(route: Route, request: HttpRequest): Job<Settled> {
  return {
    work: () =>
      route.handle(request).then(
        (answer): Settled => ({ answer }),
        (thrown: unknown): Settled => ({ thrown }),
      ),
    ending: (settled) =>
      "answer" in settled ? endingOfAnswer(route, request, settled.answer) : endingOfThrown(settled.thrown),
    replay: settledOf,
  };
}

/** What was refused for want of authority, or because it was tried too often, is not done and may be asked again. */
const undone: ReadonlySet<number> = new Set([401, 403, 429]);

function endingOfAnswer(route: Route, request: HttpRequest, answer: HttpAnswer): Ending {
  if (answer.status >= 500) return { state: "unknown" };
  if (undone.has(answer.status)) return { state: "undone" };
  if (answer.status >= 400 || route.answersSecret === undefined) return kept({ answer });
  const { id } = route.answersSecret;
  const made = id === undefined ? undefined : (answer.body as Readonly<Record<string, unknown>>)[id];
  return { state: "unkept", made: typeof made === "string" ? made : request.requestId };
}

function endingOfThrown(thrown: unknown): Ending {
  if (!(thrown instanceof Fault)) return { state: "unknown" };
  const { http } = answerOf(thrown.code);
  if (undone.has(http)) return { state: "undone" };
  if (http >= 500 || thrown.retry !== "never") return { state: "unknown" };
  return kept({ code: thrown.code, message: thrown.message });
}

type KeptForm = { readonly answer: HttpAnswer } | { readonly code: FaultCode; readonly message: string };

function kept(form: KeptForm): Ending {
  return { state: "kept", answer: bytesOf(form) };
}

function bytesOf(form: KeptForm): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(form));
}

function settledOf(bytes: Uint8Array): Settled {
  // Written by ourselves, a moment or a day ago.
  const form = parseJson(new TextDecoder().decode(bytes)) as KeptForm;
  if ("answer" in form) return { answer: form.answer };
  return { thrown: new Fault(form.code, form.message, { retry: "never", isReported: true }) };
}

/** An answer that says that a halt stands must not wait long for what it was the first time. */
const rememberMsMax = 500;

async function handleFirst(
  route: Route,
  request: HttpRequest,
  asked: KeyedWork,
  { oncePerKey, timers, log }: Required<KeyedPorts>,
): Promise<HttpAnswer> {
  const answer = await route.handle(request);
  if (answer.status >= 400) return answer;
  const over = new AbortController();
  const first = oncePerKey.remember(asked, bytesOf({ answer })).catch((thrown: unknown) => {
    log.warn("the answer to an idempotency key could not be kept", { route: route.id, error: messageOf(thrown) });
    return undefined;
  });
  const late = timers.sleep(rememberMsMax, over.signal).then(() => undefined);
  const before = await Promise.race([first, late]).finally(() => over.abort());
  const settled = before === undefined ? undefined : settledOf(before);
  if (settled === undefined || !("answer" in settled)) return answer;
  if (route.neverWaitsForKey?.isSame(settled.answer.body as object, answer.body as object) !== true) return answer;
  request.idempotency?.replayed();
  return settled.answer;
}
