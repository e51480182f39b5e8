// What happens around every request, found or not: the headers of every answer, the rules that HTTP has and the parser does not
// keep, one log line, one observation.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Listener } from "../../ports/http.ts";
import { type BadRequestKind, badRequests } from "../listener/bad-requests.ts";
import { noteCallerAddress } from "./caller-address.ts";
import type { HttpPorts } from "./http-ports.ts";
import { transportProblem } from "./problem.ts";
import { contextOf, sendProblem } from "./replies.ts";
import { requestIdHeader } from "./request-id.ts";
import { loggedPath, routeLabel } from "./route-facts.ts";
import { securityHeaders } from "./security-headers.ts";

export interface Observer {
  begin(request: FastifyRequest, reply: FastifyReply): void;
  end(request: FastifyRequest, reply: FastifyReply): void;
  /** Of bytes that never became a request. */
  unread(status: number | undefined): void;
}

/** Answers to requests that could not be read, or were too large to be. */
const badStatuses: ReadonlyMap<number, BadRequestKind> = new Map([
  [400, "malformed"],
  [413, "oversized"],
  [414, "oversized"],
  [415, "malformed"],
  [431, "oversized"],
]);

export function observer(
  listener: Listener,
  ports: HttpPorts,
  actorOf: (request: FastifyRequest) => string | undefined,
): Observer {
  const bad = badRequests(ports.metrics, "http");
  const countBad = (status: number, actor: string | undefined): void => {
    const kind = badStatuses.get(status);
    if (kind !== undefined) bad.count(kind, actor);
  };
  const seconds = ports.metrics.histogram(
    "portcullis_http_request_seconds",
    "Time from a request's headers to the end of its answer.",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ["listener", "method", "route", "status"],
  );
  const startedAt = new WeakMap<FastifyRequest, number>();
  return {
    begin: (request, reply) => {
      startedAt.set(request, ports.clock.now());
      noteCallerAddress(request);
      reply.headers(securityHeaders).header(requestIdHeader, request.id);
    },
    end: (request, reply) => {
      const began = startedAt.get(request);
      const tookSeconds = began === undefined ? 0 : Math.max(0, (ports.clock.now() - began) / 1_000_000);
      const status = reply.statusCode;
      countBad(status, actorOf(request));
      seconds.observe(tookSeconds, {
        listener,
        method: request.method,
        route: routeLabel(request),
        status: String(status),
      });
      ports.log.debug("HTTP request answered", {
        request_id: request.id,
        listener,
        method: request.method,
        path: loggedPath(request),
        status,
        took_ms: tookSeconds * 1_000,
      });
    },
    unread: (status) => {
      if (status !== undefined) countBad(status, undefined);
    },
  };
}

export function observe(app: FastifyInstance, listener: Listener, { begin, end }: Observer): void {
  app.addHook("onRequest", async (request, reply) => {
    begin(request, reply);
    const detail = complaintAbout(request.raw);
    if (detail === undefined) return undefined;
    return sendProblem(
      reply.header("connection", "close"),
      transportProblem(400, contextOf(request, listener), detail),
    );
  });
  app.addHook("onResponse", async (request, reply) => end(request, reply));
}

/** What the parser lets pass and HTTP does not. Two hosts would let a proxy and us disagree on who was asked. */
function complaintAbout(raw: IncomingMessage): string | undefined {
  if (raw.httpVersion !== "1.1" && raw.httpVersion !== "1.0") {
    return "The request line must end with HTTP/1.1 or HTTP/1.0.";
  }
  const hostCount = raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === "host").length;
  if (hostCount === 1 || (hostCount === 0 && raw.httpVersion === "1.0")) return undefined;
  return "An HTTP/1.1 request must carry exactly one Host header.";
}
