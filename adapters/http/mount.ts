// Foreign request handlers: a library that brings its own routing, reads bodies itself and writes its own answers is mounted under a
// prefix. Around it everything holds that holds around a route: who may come, how often, how large, how long, request id, security
// headers, log, figures, drain. What it does inside is its own.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../../contracts/src/authority.ts";
import type { Listener } from "../../ports/http.ts";
import type { HttpPorts } from "./http-ports.ts";
import type { MakeAttemptLimit } from "./limits/attempt-limits.ts";
import type { HttpLimits } from "./limits/limits.ts";
import { type Problem, thrownProblem, transportProblem } from "./problem.ts";
import { endWithProblem } from "./raw-refusal.ts";
import { encodingRefusal } from "./read-input.ts";
import { contextOf, reportThrown, sendProblem } from "./replies.ts";
import { requestIdHeader } from "./request-id.ts";
import { type AttemptLimit, loggedPath, pathOf } from "./route-facts.ts";
import { securityHeaders } from "./security-headers.ts";

interface MountAttempts {
  readonly method: string;
  /** Below the mount; whatever begins with it counts, case and encoding aside. */
  readonly path: string;
  readonly perMinuteMax: number;
}

export interface HttpMount {
  readonly listener: Listener;
  /** "/oidc": everything below it, and itself, goes to the handler; "/" is itself alone. */
  readonly prefix: string;
  /** The row of the table of authority that guards all of it. */
  readonly operation: Operation;
  readonly attempts: readonly MountAttempts[];
  /**
   * Answers. The request comes as it was sent: its address whole, its body unread. The security headers are set already: a handler
   * may set others in their place, and one that it drops comes back.
   */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface MountParts {
  readonly listener: Listener;
  readonly limits: HttpLimits;
  readonly ports: HttpPorts;
  readonly makeLimit: MakeAttemptLimit;
}

export function mountForeign(app: FastifyInstance, mount: HttpMount, parts: MountParts): void {
  const { prefix } = mount;
  const handOver = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const refused = refusalOf(mount, request, parts);
    if (refused !== undefined) {
      // The body stays unread, so the connection cannot be used again.
      return sendProblem(reply.header("connection", "close"), refused);
    }
    reply.hijack();
    await answer(mount, request, reply.raw, parts);
    return reply;
  };
  const attempts = attemptsOf(mount, parts.makeLimit);
  for (const url of prefix === "/" ? [prefix] : [prefix, `${prefix}/*`]) {
    app.route({
      method: app.supportedMethods,
      url,
      exposeHeadRoute: false,
      config: { facts: { access: mount.operation, attempts, prefix } },
      // Before the body would be read; the handler below is never reached.
      onRequest: handOver,
      handler: handOver,
    });
  }
}

/** Counts against every limit that fits, so that a narrow one and a wide one can stand together. */
function attemptsOf(mount: HttpMount, makeLimit: MakeAttemptLimit): AttemptLimit {
  const limits = mount.attempts.map(({ method, path, perMinuteMax }) => {
    return { method, path: plainPath(path), count: makeLimit(perMinuteMax) };
  });
  return async (request) => {
    const path = plainPath(pathOf(request.url).slice(mount.prefix.length));
    // What answers GET answers HEAD as well.
    const method = request.method === "HEAD" ? "GET" : request.method;
    const matching = limits.filter((limit) => limit.method === method && path.startsWith(limit.path));
    const waits = await Promise.all(matching.map((limit) => limit.count(request)));
    return waits.reduce((longest, wait) => (wait === undefined ? longest : Math.max(wait, longest ?? 0)), undefined);
  };
}

/** Foreign routers differ in what they take for the same path; whatever any of them might is one path here. */
function plainPath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // Not decodable: no router will take it for one of the named paths.
  }
  return decoded.toLowerCase().replace(/[/\\]+/g, "/");
}

function refusalOf(mount: HttpMount, request: FastifyRequest, { listener, limits }: MountParts): Problem | undefined {
  const context = contextOf(request, listener);
  const rest = request.url.slice(mount.prefix.length);
  // The router also finds us under an absolute or an encoded address; the handler, and whoever reads a log, should not have to.
  if (!request.url.startsWith(mount.prefix) || !/^(?:[/?]|$)/.test(rest)) return transportProblem(404, context);
  // The handler reads the body itself, and only an announced length can be bounded before it does.
  if (request.headers["transfer-encoding"] !== undefined) return transportProblem(411, context);
  if (Number(request.headers["content-length"] ?? 0) > limits.bodyBytesMax) return transportProblem(413, context);
  const encoded = encodingRefusal(request.headers);
  return encoded === undefined ? undefined : transportProblem(415, context, encoded);
}

async function answer(
  mount: HttpMount,
  request: FastifyRequest,
  response: ServerResponse,
  { listener, limits, ports }: MountParts,
): Promise<void> {
  const context = contextOf(request, listener);
  const path = loggedPath(request);
  const fail = (reported: Problem): void => {
    if (!response.headersSent) endWithProblem(response, reported);
    else if (!response.writableEnded) response.destroy();
  };
  secure(response, request.id);
  const cancel = ports.timers.after(limits.handlerMsMax, () => fail(transportProblem(504, context)));
  response.once("close", cancel);
  const fields = { listener, method: request.method, route: mount.prefix, request_id: request.id };
  try {
    await ports.tracer.span(`${request.method} ${mount.prefix}`, fields, () => mount.handle(request.raw, response));
  } catch (thrown) {
    const reported = thrownProblem(thrown, context);
    reportThrown(thrown, reported, path, ports);
    fail(reported);
  }
}

/** Puts our headers on, and once more at the last moment: error pages of foreign handlers begin by dropping all headers. */
function secure(response: ServerResponse, requestId: string): void {
  const ours = Object.entries({ ...securityHeaders, [requestIdHeader]: requestId });
  const putOn = (): void => {
    for (const [name, value] of ours) if (!response.hasHeader(name)) response.setHeader(name, value);
  };
  putOn();
  const writeHead = response.writeHead.bind(response);
  const secured = (...given: Parameters<typeof writeHead>): ServerResponse => {
    if (!response.headersSent) putOn();
    return writeHead(...given);
  };
  response.writeHead = secured as typeof response.writeHead;
}
