// How the listeners answer: what a route gave, what went wrong as a problem document, and what was thrown as the nearest
// problem. All of them carry the request id and the security headers.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { HttpAnswer, Listener } from "../../ports/http.ts";
import type { HttpPorts } from "./http-ports.ts";
import { completeProblem, type Problem, type ProblemContext, problemContentType, thrownProblem } from "./problem.ts";
import { requestIdHeader } from "./request-id.ts";
import { loggedPath, pathOf } from "./route-facts.ts";
import { securityHeaders } from "./security-headers.ts";

const retryAfterS = 2;

export function sendAnswer(reply: FastifyReply, given: HttpAnswer, context: ProblemContext): FastifyReply {
  const failed = given.status >= 400;
  reply.code(given.status);
  if (typeof given.body === "string") {
    return reply.headers({ "content-type": "text/plain; charset=utf-8", ...contentOf(given) }).send(given.body);
  }
  if (given.body instanceof Uint8Array) {
    const { buffer, byteOffset, byteLength } = given.body;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return reply.headers({ "content-type": "application/octet-stream", ...contentOf(given) }).send(bytes);
  }
  const body = JSON.stringify(failed ? completeProblem(given.status, given.body, context) : given.body);
  const usual = failed ? problemContentType : "application/json; charset=utf-8";
  return reply.headers({ "content-type": usual, ...contentOf(given) }).send(body);
}

function contentOf(given: HttpAnswer): Readonly<Record<string, string>> {
  return { ...(given.contentType === undefined ? {} : { "content-type": given.contentType }), ...given.headers };
}

export function sendThrown(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  listener: Listener,
  ports: HttpPorts,
): void {
  const { bodyLimit } = request.routeOptions;
  const body = { bytesMax: bodyLimit, announced: request.headers["content-length"] };
  const reported = thrownProblem(thrown, { ...contextOf(request, listener), body });
  reportThrown(thrown, reported, loggedPath(request), ports);
  if (reply.sent) return;
  // What is refused because there is too much to do may be asked again soon.
  if (reported.status === 429 || reported.code === "IDEMPOTENCY_IN_PROGRESS")
    reply.header("retry-after", String(retryAfterS));
  sendProblem(reply, reported);
}

/** The log gets the reason of a failure that is ours, and a defect ends the program. */
export function reportThrown(thrown: unknown, reported: Problem, path: string, ports: HttpPorts): void {
  if (reported.status >= 500 && !(thrown instanceof Fault)) {
    ports.log.error("HTTP request failed", { request_id: reported.request_id, path, error: thrown });
  }
  // One turn later, so that the caller has a fair chance to hear that it was not answered.
  if (thrown instanceof Defect) ports.timers.after(0, () => ports.crash.die(thrown));
}

export function sendProblem(reply: FastifyReply, reported: Problem): FastifyReply {
  return reply
    .code(reported.status)
    .headers({ ...securityHeaders, [requestIdHeader]: reported.request_id, "content-type": problemContentType })
    .send(JSON.stringify(reported));
}

export function contextOf(request: FastifyRequest, listener: Listener): ProblemContext {
  return { requestId: request.id, path: pathOf(request.url), listener };
}
