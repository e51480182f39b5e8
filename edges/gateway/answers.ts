// How an outcome becomes an HTTP answer, in one place: what was granted with its own status, a denial as a problem with the
// status of its code, its reason as the detail, and how long to wait when waiting helps.
import { answerOf } from "../../contracts/src/codes.ts";
import type { HttpAnswer } from "../../ports/http.ts";
import type { Outcome, Requested } from "../../ports/identity.ts";

type Denied = Extract<Outcome<never>, { readonly ok: false }>;

export function answerTo<Value>(
  outcome: Outcome<Value>,
  status: 200 | 201 | 202,
  bodyOf: (value: Value) => object,
): HttpAnswer {
  return outcome.ok ? { status, body: bodyOf(outcome.value) } : denied(outcome);
}

/** The same for what a second admin may have to sign first: a request that was made instead is 202. */
export function answerOrRequest<Value extends object>(
  outcome: Outcome<Value | Requested>,
  status: 200 | 201 | 202,
  bodyOf: (value: Value) => object,
  requestBodyOf: (requested: Requested) => object,
): HttpAnswer {
  if (!outcome.ok) return denied(outcome);
  return "request" in outcome.value
    ? { status: 202, body: requestBodyOf(outcome.value) }
    : { status, body: bodyOf(outcome.value) };
}

export function denied({ denial, retryAfterS }: Omit<Denied, "ok">): HttpAnswer {
  const { code, reason, loosens } = denial;
  return {
    status: answerOf(code).http,
    body: { code, detail: reason, ...(loosens === undefined ? {} : { loosens }) },
    // Whole seconds, rounded up: a caller who comes back when told must not be early.
    ...(retryAfterS === undefined ? {} : { headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterS))) } }),
  };
}
