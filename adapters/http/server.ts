// The HTTP listeners of the gateway: routes that are declared as data, and foreign handlers, are mounted on the listener they name.
// Every request passes the same steps in the same order, and the first that says no answers:
//  1. HTTP's own rules.  2. Whether a foreign web page sent it.  3. How often this address may try.  4. Who calls, whether they may,
//  and how often, and whoever proved nothing how much.  5. Its turn.  6. The path and the method.  7. The size and form of the body.
//  8. The route's schemas.  9. The route.
// Everything that goes wrong is answered as a problem document, every answer carries the request id and the security headers, and
// draining lets requests in hand finish. Paths are exact: a trailing or doubled slash is not found.
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { laneOf } from "../../contracts/src/doors/lanes.ts";
import type { Health } from "../../ports/health.ts";
import type { Listener, Route, SocketRoute } from "../../ports/http.ts";
import type { Random } from "../../ports/random.ts";
import { isLoopbackHost } from "../configuration/value-forms.ts";
import { type ConnectionRoom, type RoomOptions, standingOf } from "../listener/connection-limit.ts";
import { createTurns, type Turns } from "../listener/turns.ts";
import { sampledLines, type WriteSampled } from "../log/sampled-lines.ts";
import type { KeptCertificate } from "../tls/kept-certificate.ts";
import { challenge } from "./bearer.ts";
import { strictJsonReader } from "./body/json-reader.ts";
import { trackConnections } from "./connections.ts";
import { isPreflight, openToPages } from "./cross-origin.ts";
import type { HttpPorts } from "./http-ports.ts";
import { type GuardOptions, type IdentityGuard, identityGuard } from "./identity-guard.ts";
import { attemptLimits, checkAttempts, checkPersonAttempts } from "./limits/attempt-limits.ts";
import { boundConnections } from "./limits/bound-connections.ts";
import { foreignPageGate, type PageGate } from "./limits/foreign-pages.ts";
import { type HttpLimits, httpLimitsDefault } from "./limits/limits.ts";
import { logInPlaces } from "./limits/log-in-places.ts";
import { publicLimit } from "./limits/public-limit.ts";
import { gatedServer, type RequestGate, requestGate } from "./limits/request-gate.ts";
import { type StrangerShares, strangerBudget, strangerShares } from "./limits/stranger-budget.ts";
import { type StrangerGate, strangerGate } from "./limits/stranger-gate.ts";
import type { BucketOptions } from "./limits/token-buckets.ts";
import { type UnnamedProxy, unnamedProxy } from "./limits/unnamed-proxy.ts";
import { addressText, backlogMax, listenFault, resolveHost, type TcpAddress } from "./listen.ts";
import { type HttpMount, mountForeign } from "./mount.ts";
import { knowAllMethods, mountRoutes } from "./mount-routes.ts";
import { type Observer, observe, observer } from "./observe.ts";
import { transportProblem } from "./problem.ts";
import { endWithProblem, refuseRaw } from "./raw-refusal.ts";
import { type Refuse, refusals } from "./refusals.ts";
import { contextOf, sendProblem, sendThrown } from "./replies.ts";
import { requestIdFrom, requestIdHeader } from "./request-id.ts";
import { operationOf, pathOf, type TurnOf } from "./route-facts.ts";
import { type WebSockets, webSockets } from "./web-sockets.ts";

interface HttpListenerOptions extends TcpAddress {
  /** What an operator sets to move this listener; named when its port is taken. */
  readonly environmentVariable: string;
}

export interface HttpServerOptions extends HttpPorts {
  readonly listeners: Readonly<Record<Listener, HttpListenerOptions>>;
  readonly routes: readonly Route[];
  /** Foreign handlers, each with everything below its prefix. */
  readonly mounts?: readonly HttpMount[];
  /** Paths for WebSockets. */
  readonly sockets?: readonly SocketRoute[];
  /** Where people reach the operators' listener, without a slash at the end; absent means where it listens. */
  readonly baseUrl?: string;
  /** Addresses and CIDR ranges of proxies that are believed when they say for whom they ask; none unless they are named. */
  readonly trustedProxies?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** With it both listeners speak TLS and nothing else. */
  readonly certificate?: KeptCertificate | undefined;
  /** Told of connections that had to make way, or found no place of their own. */
  readonly onCrowded?: RoomOptions["onCrowded"];
  /** How often one address may ask of the public market data; as often as it likes when absent. */
  readonly publicRate?: BucketOptions;
  /** What callers without a token have of each port; as declared when absent. */
  readonly strangers?: StrangerShares;
}

export interface HttpServer {
  /** Where each listener really is, also when port 0 was asked for. */
  readonly addresses: Readonly<Record<Listener, TcpAddress>>;
  /** Failing while operators find no place among the connections. */
  health(): Health;
  /** Stops accepting, lets requests in hand finish within the bound, then cuts what is left. */
  drain(timeoutMs: number): Promise<"drained" | "forced">;
}

interface OpenListener {
  readonly address: TcpAddress;
  readonly room: ConnectionRoom;
  drain(timeoutMs: number): Promise<"drained" | "forced">;
}

/** One listener's surroundings. */
interface Surroundings {
  readonly listener: Listener;
  readonly options: HttpServerOptions;
  readonly limits: HttpLimits;
  readonly baseUrl: () => string;
  readonly writeRefusal: WriteSampled;
  /** Both listeners share one loop. */
  readonly turns: Turns;
  readonly proxies: UnnamedProxy;
}

export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...httpLimitsDefault, ...options.limits };
  let place: TcpAddress = options.listeners.operator;
  const baseUrl = (): string => options.baseUrl ?? `${schemeOf(options)}://${addressText(place)}`;
  const writeRefusal = sampledLines(options.log, options.timers, "more HTTP requests were refused in this second");
  const [turns, proxies] = [createTurns(options), unnamedProxy(options.clock)];
  const common = { options, limits, baseUrl, writeRefusal, turns, proxies };
  const operator = await openListener({ listener: "operator", ...common });
  place = operator.address;
  let open: OpenListener;
  try {
    open = await openListener({ listener: "public", ...common });
  } catch (thrown) {
    await operator.drain(0);
    throw thrown;
  }
  return {
    addresses: { operator: operator.address, public: open.address },
    health: () => {
      const places = operator.room.health();
      return places.status === "ok" ? proxies.health() : places;
    },
    drain: async (timeoutMs) => {
      const ends = await Promise.all([operator.drain(timeoutMs), open.drain(timeoutMs)]);
      return ends.includes("forced") ? "forced" : "drained";
    },
  };
}

function schemeOf({ certificate }: { readonly certificate?: unknown }): "http" | "https" {
  return certificate === undefined ? "http" : "https";
}

async function openListener(surroundings: Surroundings): Promise<OpenListener> {
  const { listener, options } = surroundings;
  // Not a hook of the library's: with one it closes its door a turn later.
  const draining = new AbortController();
  let room: ConnectionRoom | undefined;
  const onKnown: GuardOptions["onKnown"] = ({ raw }, identity) => room?.know(raw.socket, standingOf(identity));
  const { app, sockets } = await createApp({ ...surroundings, onKnown }, draining.signal);
  const isSecure = options.certificate !== undefined;
  const connections = trackConnections(app.server, isSecure);
  app.server.on("connection", surroundings.turns.arrived);
  sockets.attach(app.server, connections);
  const places = boundConnections(app.server, { ...options, listener, limits: surroundings.limits, isSecure });
  room = places;
  const wanted = options.listeners[listener];
  const host = await resolveHost(wanted.host);
  try {
    await app.listen({ host, port: wanted.port, exclusive: true, backlog: backlogMax });
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
    room: places,
    drain: async (timeoutMs) => {
      let end: "drained" | "forced" = "drained";
      const cancel = options.timers.after(timeoutMs, () => {
        end = "forced";
        connections.cutAll();
        sockets.cutAll();
      });
      const closed = app.close();
      draining.abort();
      connections.beginDrain();
      places.cutUnproven();
      await closed;
      cancel();
      return end;
    },
  };
}

async function createApp(
  surroundings: Surroundings & Pick<GuardOptions, "onKnown">,
  draining: AbortSignal,
): Promise<{ readonly app: FastifyInstance; readonly sockets: WebSockets }> {
  const { listener, options, limits, baseUrl, writeRefusal, turns } = surroundings;
  // Loaded here and not at the top: most processes of the platform never serve HTTP.
  const { fastify } = await import("fastify");
  const { pass: gate, rest } = requestGate(limits, options.timers);
  const refuse = refusals(listener, options, writeRefusal);
  const shares = options.strangers ?? strangerShares(listener === "public" ? options.publicRate : undefined);
  const strangers = strangerGate({ budget: strangerBudget(options.clock, shares), refuse, rest });
  const pageGate: PageGate = listener === "operator" ? foreignPageGate(refuse, baseUrl) : () => undefined;
  const { onKnown } = surroundings;
  const guard = identityGuard({
    listener,
    ports: options,
    refuse,
    baseUrl,
    onKnown,
    admitStranger: strangers.admit,
  });
  const { turnOf, placeOf } = waitsOf(guard, strangers, turns, options.timers);
  const watch = observer(listener, options, (request) => guard.identityOf(request)?.actor);
  const app: FastifyInstance = fastify({
    bodyLimit: limits.bodyBytesMax,
    trustProxy: trustOf(options.trustedProxies),
    handlerTimeout: limits.handlerMsMax,
    serverFactory: (handle) => gatedServer(limits, gate, stayingWithTls(handle, options, baseUrl), options.certificate),
    // A request that arrives on a kept connection while draining is still answered, and its connection told to close.
    return503OnClosing: false,
    requestIdHeader: false,
    // An id may have 128 characters, each of which three may stand for in a path.
    routerOptions: { maxParamLength: 400 },
    genReqId: (request) => requestIdFrom(request.headers[requestIdHeader], options.random),
    frameworkErrors: (error, request, reply) =>
      void refuseUnrouted(
        error,
        request as FastifyRequest,
        reply as FastifyReply,
        pageGate,
        guard,
        watch,
        surroundings,
      ),
    clientErrorHandler: (error, socket) => watch.unread(refuseRaw(error, socket, listener, options.random)),
  });
  // Only JSON bodies: a text body that no route asked for is refused, not handed on unparsed.
  app.removeContentTypeParser("text/plain");
  readJsonStrictly(app, turnOf, options.timers);
  knowAllMethods(app);
  app.setErrorHandler((error, request, reply) => sendThrown(error, request, reply, listener, options));
  app.setNotFoundHandler((request, reply) => {
    sendProblem(reply, transportProblem(404, contextOf(request, listener)));
  });
  refuseExpectations(app, gate, listener, options.random);
  const makeLimit = await attemptLimits(app);
  takeSteps(app, surroundings, { refuse, pageGate, guard, watch, turnOf, placeOf });
  const parts = { listener, ports: options, guard, makeLimit, limits, draining, turnOf };
  const mine = options.routes.filter((route) => route.listeners.includes(listener));
  mountRoutes(app, mine, parts);
  for (const mount of options.mounts ?? []) if (mount.listener === listener) mountForeign(app, mount, parts);
  const own = (options.sockets ?? []).filter((route) => route.listener === listener);
  return { app, sockets: await webSockets(app, own, parts) };
}

/** What a request waits for before work begins. */
function waitsOf(
  guard: IdentityGuard,
  strangers: StrangerGate,
  turns: Turns,
  timers: HttpPorts["timers"],
): Pick<Steps, "turnOf" | "placeOf"> {
  const turnOf: TurnOf = (request) => {
    const isKnown = guard.identityOf(request) !== undefined;
    return turns.take(laneOf(operationOf(request), isKnown), isKnown ? 1 : strangers.urgencyOf(request));
  };
  const places = logInPlaces(timers);
  const placeOf: Steps["placeOf"] = (request, reply) => {
    const isLogIn = operationOf(request) === "LogIn" && guard.identityOf(request) === undefined;
    if (!isLogIn) return undefined;
    const { ready, giveBack } = places.take(strangers.urgencyOf(request));
    reply.raw.once("close", giveBack);
    return ready;
  };
  return { turnOf, placeOf };
}

interface Steps {
  readonly refuse: Refuse;
  readonly pageGate: PageGate;
  readonly guard: IdentityGuard;
  readonly watch: Observer;
  readonly turnOf: TurnOf;
  /** Waited for by a log-in that shows no token. */
  readonly placeOf: (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
}

/** Those before a route is looked at, in their order. */
function takeSteps(
  app: FastifyInstance,
  { listener, options, baseUrl, proxies }: Surroundings,
  { refuse, pageGate, guard, watch, turnOf, placeOf }: Steps,
): void {
  observe(app, listener, watch);
  app.addHook("onRequest", async (request) => proxies.see(request));
  app.addHook("onRequest", async (request, reply) => pageGate(request, reply));
  const limit = publicLimit(listener === "public" ? options.publicRate : undefined, options.clock, refuse);
  app.addHook("onRequest", async (request, reply) => (isPreflight(request) ? undefined : limit.check(request, reply)));
  app.addHook("onRequest", (request, reply) => checkAttempts(request, reply, refuse));
  app.addHook("onRequest", (request, reply) => guard.check(request, reply));
  app.addHook("onRequest", (request, reply) => checkPersonAttempts(request, reply, refuse, guard));
  app.addHook("onRequest", async (request, reply) => placeOf(request, reply));
  app.addHook("onRequest", async (request) => turnOf(request));
  // Refused again and looked up never: a path that leads nowhere is refused as such before its body is read.
  app.addHook("onRequest", async (request, reply) =>
    request.is404 ? sendProblem(reply, transportProblem(404, contextOf(request, listener))) : undefined,
  );
  app.addHook("onSend", async (_request, reply, payload) => {
    // A route's own 401 must say as well how one logs in.
    const bare = reply.statusCode === 401 && !reply.hasHeader("www-authenticate");
    if (bare) reply.header("www-authenticate", challenge(baseUrl(), false));
    if (listener === "public") openToPages(reply);
    return payload;
  });
}

const strictTransport = "max-age=31536000";

/** Browsers are asked to stay with TLS where a name is ours alone: this machine's own name belongs to every program on it. */
function stayingWithTls(handle: RequestListener, options: HttpServerOptions, baseUrl: () => string): RequestListener {
  if (options.certificate === undefined) return handle;
  const isNamed = (): boolean => {
    const { hostname } = new URL(baseUrl());
    return !isLoopbackHost(hostname) && isIP(hostname.replace(/^\[(.*)\]$/, "$1")) === 0;
  };
  return (request, response) => {
    if (isNamed()) response.setHeader("strict-transport-security", strictTransport);
    handle(request, response);
  };
}

/** A larger body is read in a turn of its own. */
const smallBodyBytes = 16_384;

/** Whatever the route. */
function readJsonStrictly(app: FastifyInstance, turnOf: TurnOf, timers: HttpServerOptions["timers"]): void {
  const read = strictJsonReader(app, timers);
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const turn = body.length > smallBodyBytes ? turnOf(request) : undefined;
    if (turn === undefined) read(request, body, done);
    else turn.then(() => read(request, body, done)).catch(done);
  });
}

/** The library takes an empty list for trust in nobody in particular, and then reads the headers all the same. */
function trustOf(proxies: readonly string[] = []): string[] | false {
  return proxies.length === 0 ? false : [...proxies];
}

/** An address that the router cannot read passes none of its hooks, so the steps before the path are taken here. */
async function refuseUnrouted(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  pageGate: PageGate,
  guard: IdentityGuard,
  watch: Observer,
  { listener, options }: Surroundings,
): Promise<void> {
  watch.begin(request, reply);
  reply.raw.once("finish", () => watch.end(request, reply));
  try {
    const refused = pageGate(request, reply) ?? (await guard.check(request, reply));
    if (refused === undefined) sendThrown(error, request, reply, listener, options);
  } catch (thrown) {
    sendThrown(thrown, request, reply, listener, options);
  }
}

/** Such a request never reaches the router, so its answer is made by hand. */
function refuseExpectations(app: FastifyInstance, gate: RequestGate, listener: Listener, random: Random): void {
  const refuse = (raw: IncomingMessage, response: ServerResponse): void => {
    const requestId = requestIdFrom(raw.headers[requestIdHeader], random);
    endWithProblem(response, transportProblem(417, { requestId, path: pathOf(raw.url ?? ""), listener }));
  };
  app.server.on("checkExpectation", (raw, response) => gate(raw, response, refuse));
}
