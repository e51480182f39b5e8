// What the three routes of market data on the public port share: they ask the services with the gateway's own token, because nobody logs in
// there; one source address may ask so often and no oftener; and whoever asks again for what has not changed is reported just that.
import { createHash } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import type { HttpAnswer, HttpRequest } from "../../ports/http.ts";
import { denied } from "./answers.ts";
import { plain, type Question } from "./ask-service.ts";
import type { GatewayParts } from "./parts.ts";

/** For each of the routes and each source address; an IPv6 network of 64 bits counts as one. */
export const publicRequestsPerMinuteMax = 600;
/** Bars are made when they are asked for, up to a thousand at once, which costs a hundred times as much as a quote. */
export const publicBarsPerMinuteMax = 60;

/** Below the listener's bound on a route. */
const timeoutMs = 5_000;

export type PublicParts = Pick<GatewayParts, "services" | "ownToken" | "clock">;

interface PublicQuestion<Request extends object, Answer extends object> extends Question<Request> {
  /** How long others may keep the answer. */
  readonly freshS: number;
  /** Undefined when there is nothing under that name. */
  tell(answer: Answer): object | undefined;
  /** What is said then. */
  readonly nothing?: string;
  headers?(answer: Answer): Readonly<Record<string, string>> | undefined;
}

export async function answerPublic<Request extends object, Answer extends object>(
  parts: PublicParts,
  request: HttpRequest,
  { service, method, message, freshS, tell, nothing, headers }: PublicQuestion<Request, Answer>,
): Promise<HttpAnswer> {
  const asking = { bearer: parts.ownToken(), requestId: request.requestId, timeoutMs };
  const outcome = await parts.services.call(service, method, message, asking).catch(refusedToUs);
  if (!outcome.ok) return denied(outcome);
  // A procedure's answer is the message that the protos name for it.
  const reported = tell(outcome.value as Answer);
  if (reported === undefined) {
    return { status: 404, body: { code: "NOT_FOUND", ...(nothing !== undefined && { detail: nothing }) } };
  }
  const body = plain(reported);
  const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url").slice(0, 27)}"`;
  const more = headers?.(outcome.value as Answer) ?? {};
  return { status: 200, body, headers: { etag, "cache-control": `public, max-age=${freshS}`, ...more } };
}

/** The caller showed nothing that could have been refused: when our own token is, the mistake is ours, and the log gets it. */
function refusedToUs(thrown: unknown): never {
  const isOurs = thrown instanceof Fault && (thrown.code === "PERMISSION_DENIED" || thrown.code === "UNAUTHENTICATED");
  throw isOurs ? new Error("The gateway's own token was refused.", { cause: thrown }) : thrown;
}
