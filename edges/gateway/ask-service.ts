// One question of a route to a service: with the caller's token and the request's id, within a time that leaves the listener its own. Messages
// are the generated ones of contracts; what comes back is made fit for JSON, which knows neither undefined nor infinity.
import type { HttpRequest } from "../../ports/http.ts";
import type { Outcome } from "../../ports/identity.ts";
import type { GatewayParts } from "./parts.ts";

/** Below the listener's bound on a route, so that the caller learns which service was late. */
const timeoutMsDefault = 10_000;

export interface Question<Request extends object> {
  readonly service:
    | "RiskEngine"
    | "RiskDesk"
    | "RiskWorkers"
    | "MarketDesk"
    | "Operations"
    | "HaltDesk"
    | "Oms"
    | "Treasury"
    | "Research";
  readonly method: string;
  readonly message: Request;
  readonly timeoutMs?: number;
  /** Travels beside the message. */
  readonly stepUpProof?: string | undefined;
}

export async function askService<Request extends object, Answer extends object>(
  parts: Pick<GatewayParts, "services">,
  request: Pick<HttpRequest, "bearer" | "requestId" | "idempotency">,
  { service, method, message, timeoutMs, stepUpProof }: Question<Request>,
): Promise<Outcome<Answer>> {
  const outcome = await parts.services.call(service, method, message, {
    bearer: request.bearer(),
    requestId: request.requestId,
    idempotency: request.idempotency,
    timeoutMs: timeoutMs ?? timeoutMsDefault,
    ...(stepUpProof === undefined ? {} : { stepUpProof }),
  });
  // A procedure's answer is the message that the protos name for it.
  return outcome as Outcome<Answer>;
}

/** The same value without what JSON cannot say: absent members, and numbers that are none. */
export function plain<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(plain) as Value;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== undefined && !isNoNumber(inner));
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner)])) as Value;
}

function isNoNumber(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}
