// The HTTP listeners of the gateway: routes that are declared as data are mounted on the listener they name. Everything that
// goes wrong is answered as a problem document, every answer carries the request id and the security headers, and draining
// lets requests in hand finish. Paths are exact: a trailing or doubled slash is not found.
import { type IncomingMessage, METHODS, type ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { HttpAnswer, HttpRequest, Listener, Route } from "../../ports/http.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import { trackConnections } from "./connections.ts";
import { type HttpLimits, httpLimitsDefault } from "./limits.ts";
import { addressText, listenFault, resolveHost, type TcpAddress } from "./listen.ts";
import {
  completeProblem,
  type Problem,
  type ProblemContext,
  problemContentType,
  thrownProblem,
  transportProblem,
} from "./problem.ts";
import { refuseRaw } from "./raw-refusal.ts";
import { gatedServer, requestGate } from "./request-gate.ts";
import { requestIdFrom, requestIdHeader } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

export interface HttpPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly crash: Crash;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

export interface HttpListenerOptions extends TcpAddress {
  /** What an operator sets to move this listener; named when its port is taken. */
  readonly environmentVariable: string;
}

export interface HttpServerOptions extends HttpPorts {
  readonly listeners: Readonly<Record<Listener, HttpListenerOptions>>;
  readonly routes: readonly Route[];
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpServer {
  /** Where each listener really is, also when port 0 was asked for. */
  readonly addresses: Readonly<Record<Listener, TcpAddress>>;
  /** Stops accepting, lets requests in hand finish within the bound, then cuts what is left. */
  drain(timeoutMs: number): Promise<"drained" | "forced">;
}

interface OpenListener {
  readonly address: TcpAddress;
  drain(timeoutMs: number): Promise<"drained" | "forced">;
}

export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const operator = await openListener("operator", options);
  let open: OpenListener;
  try {
    open = await openListener("public", options);
  } catch (thrown) {
    await operator.drain(0);
    throw thrown;
  }
  return {
    addresses: { operator: operator.address, public: open.address },
    drain: async (timeoutMs) => {
      const ends = await Promise.all([operator.drain(timeoutMs), open.drain(timeoutMs)]);
      return ends.includes("forced") ? "forced" : "drained";
    },
  };
}

async function openListener(listener: Listener, options: HttpServerOptions): Promise<OpenListener> {
  const limits = { ...httpLimitsDefault, ...options.limits };
  const app = await createApp(listener, options, limits);
  const connections = trackConnections(app.server);
  let draining = false;
  app.addHook("onSend", async (_request, reply, payload) => {
    // Otherwise the caller would keep the connection, and the drain would wait for it to become bored.
    if (draining) reply.header("connection", "close");
    return payload;
  });
  mountRoutes(app, listener, options);
  const wanted = options.listeners[listener];
  const host = await resolveHost(wanted.host);
  try {
    await app.listen({ host, port: wanted.port, exclusive: true });
  } catch (thrown) {
    await app.close();
    // The library leaves a server that it did not make, and that never listened, to its maker.
    app.server.close();
    const purpose = `The ${listener} HTTP listener`;
    throw listenFault(thrown, purpose, addressText({ host, port: wanted.port }), wanted.environmentVariable);
  }
  const bound = app.server.address();
  const port = bound !== null && typeof bound === "object" ? bound.port : wanted.port;
  return {
    address: { host, port },
    drain: async (timeoutMs) => {
      draining = true;
      let end: "drained" | "forced" = "drained";
      const cancel = options.timers.after(timeoutMs, () => {
        end = "forced";
        connections.cutAll();
      });
      const closed = app.close();
      connections.cutIdle();
      await closed;
      cancel();
      return end;
    },
  };
}

async function createApp(listener: Listener, options: HttpServerOptions, limits: HttpLimits): Promise<FastifyInstance> {
  // Loaded here and not at the top: most processes of the platform never serve HTTP.
  const { fastify } = await import("fastify");
  const gate = requestGate(limits);
  const app: FastifyInstance = fastify({
    bodyLimit: limits.bodyBytesMax,
    handlerTimeout: limits.handlerMsMax,
    serverFactory: (handle) => gatedServer(limits, gate, handle),
    // A request that arrives on a kept connection while draining is still answered, and told to close.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => requestIdFrom(request.headers[requestIdHeader], options.random),
    frameworkErrors: (error, request, reply) => sendThrown(error, request, reply, listener, options),
    clientErrorHandler: (error, socket) => refuseRaw(error, socket, listener, options.random),
  });
  // Only JSON bodies: a text body that no route asked for is refused, not handed on unparsed.
  app.removeContentTypeParser("text/plain");
  app.setErrorHandler((error, request, reply) => sendThrown(error, request, reply, listener, options));
  app.setNotFoundHandler((request, reply) => {
    sendProblem(reply, transportProblem(404, contextOf(request, listener)));
  });
  const refuse = (raw: IncomingMessage, response: ServerResponse): void =>
    refuseExpectation(raw, response, listener, options.random);
  app.server.on("checkExpectation", (raw, response) => gate(raw, response, refuse));
  observe(app, listener, options);
  return app;
}

/** Such a request never reaches the router, so its answer is made by hand. */
function refuseExpectation(raw: IncomingMessage, response: ServerResponse, listener: Listener, random: Random): void {
  const requestId = requestIdFrom(raw.headers[requestIdHeader], random);
  const context = { requestId, path: pathOf(raw.url ?? ""), listener };
  response.statusCode = 417;
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  response.setHeader("connection", "close").setHeader(requestIdHeader, requestId);
  response.setHeader("content-type", problemContentType).end(JSON.stringify(transportProblem(417, context)));
}

/** What happens around every request, found or not: headers, the Host rule, one log line, one observation. */
function observe(app: FastifyInstance, listener: Listener, ports: HttpPorts): void {
  const seconds = ports.metrics.histogram(
    "portcullis_http_request_seconds",
    "Time from a request's headers to the end of its answer.",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ["listener", "method", "route", "status"],
  );
  const startedAt = new WeakMap<FastifyRequest, number>();
  app.addHook("onRequest", async (request, reply) => {
    startedAt.set(request, ports.clock.now());
    reply.headers(securityHeaders).header(requestIdHeader, request.id);
    const detail = complaintAbout(request.raw);
    if (detail === undefined) return undefined;
    return sendProblem(
      reply.header("connection", "close"),
      transportProblem(400, contextOf(request, listener), detail),
    );
  });
  app.addHook("onResponse", async (request, reply) => {
    const began = startedAt.get(request);
    const tookSeconds = began === undefined ? 0 : Math.max(0, (ports.clock.now() - began) / 1_000_000);
    const route = request.routeOptions.url ?? "none";
    const status = String(reply.statusCode);
    seconds.observe(tookSeconds, { listener, method: request.method, route, status });
    ports.log.debug("HTTP request answered", {
      request_id: request.id,
      listener,
      method: request.method,
      path: pathOf(request.url),
      status: reply.statusCode,
      took_ms: tookSeconds * 1_000,
    });
  });
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

function mountRoutes(app: FastifyInstance, listener: Listener, ports: HttpServerOptions): void {
  for (const method of METHODS) {
    // CONNECT never reaches a router: Node closes such a connection.
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const mine = ports.routes.filter((route) => route.listeners.includes(listener));
  const methodsByPath = new Map<string, Set<string>>();
  for (const route of mine) {
    const methods = methodsByPath.get(route.path) ?? new Set();
    methods.add(route.method);
    if (route.method === "GET") methods.add("HEAD");
    methodsByPath.set(route.path, methods);
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => answer(route, request, reply, listener, ports),
    });
  }
  for (const [path, methods] of methodsByPath) {
    const allow = [...methods].sort().join(", ");
    // Refused before the body is read, so that a wrong method is told as such whatever it sent.
    const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
      sendProblem(reply.header("allow", allow), transportProblem(405, contextOf(request, listener)));
    const others = app.supportedMethods.filter((method) => !methods.has(method));
    app.route({ method: others, url: path, onRequest: refuse, handler: refuse });
  }
}

async function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  listener: Listener,
  ports: HttpPorts,
): Promise<FastifyReply> {
  const fields = { listener, method: route.method, route: route.path, request_id: request.id };
  const given = await ports.tracer.span(`${route.method} ${route.path}`, fields, () => route.handle(asked(request)));
  return reply.sent ? reply : sendAnswer(reply, given, contextOf(request, listener));
}

function asked(request: FastifyRequest): HttpRequest {
  return {
    requestId: request.id,
    params: request.params as HttpRequest["params"],
    query: request.query as HttpRequest["query"],
    headers: request.headers,
    body: request.body,
  };
}

function sendAnswer(reply: FastifyReply, given: HttpAnswer, context: ProblemContext): FastifyReply {
  const failed = given.status >= 400;
  reply.code(given.status);
  if (typeof given.body === "string") {
    return reply.headers({ "content-type": "text/plain; charset=utf-8", ...contentOf(given) }).send(given.body);
  }
  const body = JSON.stringify(failed ? completeProblem(given.status, given.body, context) : given.body);
  const usual = failed ? problemContentType : "application/json; charset=utf-8";
  return reply.headers({ "content-type": usual, ...contentOf(given) }).send(body);
}

function contentOf(given: HttpAnswer): Readonly<Record<string, string>> {
  return { ...(given.contentType === undefined ? {} : { "content-type": given.contentType }), ...given.headers };
}

function sendThrown(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  listener: Listener,
  ports: HttpPorts,
): void {
  const told = thrownProblem(thrown, contextOf(request, listener));
  if (told.status >= 500 && !(thrown instanceof Fault)) {
    ports.log.error("HTTP request failed", { request_id: request.id, path: pathOf(request.url), error: thrown });
  }
  if (!reply.sent) sendProblem(reply, told);
  // One turn later, so that the caller has a fair chance to hear that it was not answered.
  if (thrown instanceof Defect) ports.timers.after(0, () => ports.crash.die(thrown));
}

function sendProblem(reply: FastifyReply, told: Problem): FastifyReply {
  return reply
    .code(told.status)
    .headers({ ...securityHeaders, [requestIdHeader]: told.request_id, "content-type": problemContentType })
    .send(JSON.stringify(told));
}

function contextOf(request: FastifyRequest, listener: Listener): ProblemContext {
  return { requestId: request.id, path: pathOf(request.url), listener };
}

function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
