// What the routes of market data on the public port share. Quotes, instruments, funds and halts are answered from what the services said last, with the
// moment at which they did; bars are asked for with the gateway's own token, because no client logs in there. A caller who asks again for what has not
// changed is told just that.
import { createHash } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import { gatewayOperations } from "../../contracts/src/gateway-operations.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { HttpAnswer, HttpRequest } from "../../ports/http.ts";
import { denied } from "./answers.ts";
import { plain, type Question } from "./ask-service.ts";
import type { GatewayParts } from "./parts.ts";
import { isStale, type Reported, type Source } from "./public/reported.ts";

/** What a request costs of its address's tokens. */
export const publicCost = gatewayOperations.ReadMarketData.withoutToken.cost;

/** Below the listener's bound on a route. */
const timeoutMs = 5_000;
/** What cannot change any more may be kept for a day without asking. */
const forEver = "public, max-age=86400, immutable";

export type PublicParts = Pick<GatewayParts, "services" | "ownToken" | "clock" | "marketFeed">;

interface Answered {
  readonly body: object;
  /** How long others may keep the answer; "for ever" what cannot change. */
  readonly freshS: number | "for ever";
  readonly asOf: Instant;
  readonly stale?: boolean;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The answer with everything that caches and careful readers need. */
export function publicAnswer({ body, freshS, asOf, stale = false, headers = {} }: Answered): HttpAnswer {
  const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url").slice(0, 27)}"`;
  return {
    status: 200,
    body,
    headers: {
      etag,
      "cache-control": freshS === "for ever" ? forEver : `public, max-age=${freshS}`,
      "portcullis-as-of": format(asOf),
      ...(stale && { "portcullis-stale": "true" }),
      ...headers,
    },
  };
}

/** From what was said last; `tell` gives undefined when there is nothing under that name. */
export function answerReported<Value>(
  { clock }: Pick<PublicParts, "clock">,
  source: Source<Value>,
  tell: (value: Value, now: Instant) => object | undefined,
  nothing?: string,
): HttpAnswer {
  const reported = source.newest();
  if (reported === undefined) return notYet();
  const now = clock.now();
  const body = tell(reported.value, now);
  if (body === undefined) return notFound(nothing, reported, now);
  return publicAnswer({ body: plain(body), freshS: 1, asOf: reported.at, stale: isStale(reported, now) });
}

function notYet(): HttpAnswer {
  const detail = "The services have not said anything since this gateway started: ask again in a second.";
  return { status: 503, body: { code: "SERVICE_UNAVAILABLE", detail }, headers: { "retry-after": "1" } };
}

function notFound(detail: string | undefined, reported: Reported<unknown>, now: Instant): HttpAnswer {
  return {
    status: 404,
    body: { code: "NOT_FOUND", ...(detail !== undefined && { detail }) },
    headers: { "portcullis-as-of": format(reported.at), ...(isStale(reported, now) && { "portcullis-stale": "true" }) },
  };
}

interface PublicQuestion<Request extends object, Answer extends object> extends Question<Request> {
  tell(answer: Answer, asOf: Instant): Answered;
}

/** From the service itself. */
export async function askPublic<Request extends object, Answer extends object>(
  parts: PublicParts,
  request: HttpRequest,
  { service, method, message, tell }: PublicQuestion<Request, Answer>,
): Promise<HttpAnswer> {
  const asking = { bearer: parts.ownToken(), requestId: request.requestId, timeoutMs };
  const outcome = await parts.services.call(service, method, message, asking).catch(refusedToUs);
  // A procedure's answer is the message that the protos name for it.
  return outcome.ok ? publicAnswer(tell(outcome.value as Answer, parts.clock.now())) : denied(outcome);
}

/** The caller showed nothing that could have been refused: when our own token is, the mistake is ours, and the log gets it. */
function refusedToUs(thrown: unknown): never {
  const isOurs = thrown instanceof Fault && (thrown.code === "PERMISSION_DENIED" || thrown.code === "UNAUTHENTICATED");
  throw isOurs ? new Error("The gateway's own token was refused.", { cause: thrown }) : thrown;
}
