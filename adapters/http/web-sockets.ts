// WebSockets on an HTTP listener, with `ws`. A handshake is a request like any other: it passes the router with its limits, its guard and its log, and is
// then handed over; what is no handshake is answered as if nothing had been said of an upgrade. Messages are bounded before they are read.
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type WebSocket from "ws";
import type { Listener, SocketConnection, SocketRoute } from "../../ports/http.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import { callerKey } from "../listener/caller-key.ts";
import { addressOf } from "./caller-address.ts";
import type { Connections } from "./connections.ts";
import type { HttpPorts } from "./http-ports.ts";
import { refuseOtherMethods } from "./mount-routes.ts";
import { problem } from "./problem.ts";
import { refuseRaw } from "./raw-refusal.ts";
import { contextOf, sendProblem } from "./replies.ts";

const pingEveryMs = 20_000;
/** Who left so many pings in a row unanswered is gone. */
const unansweredMax = 3;
/** How long the other side of a closing has to hear of it. */
const closingMs = 1_000;

export interface WebSockets {
  /** Takes handshakes from this server; its connections are ours from then on. */
  attach(server: Server, connections: Connections): void;
  /** Cuts what is still open. */
  cutAll(): void;
}

interface Handshake {
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface Options {
  readonly listener: Listener;
  readonly ports: HttpPorts;
  /** Aborts when the listener begins to drain. */
  readonly draining: AbortSignal;
}

export async function webSockets(
  app: FastifyInstance,
  routes: readonly SocketRoute[],
  options: Options,
): Promise<WebSockets> {
  if (routes.length === 0) return { attach: () => undefined, cutAll: () => undefined };
  const { listener, ports, draining } = options;
  const handshakes = new WeakMap<IncomingMessage, Handshake>();
  const open = new Set<WebSocket>();
  let connections: Connections | undefined;
  for (const route of routes) {
    const accept = await acceptor(route);
    app.route({
      method: "GET",
      url: route.path,
      config: { facts: { access: route.operation, publicCost: route.publicCost } },
      handler: async (request, reply) => {
        const handshake = handshakes.get(request.raw);
        if (handshake === undefined || !isWebSocket(request.raw)) return needsUpgrade(request, reply, listener);
        reply.hijack();
        reply.raw.detachSocket(handshake.socket as Socket);
        connections?.handOver(handshake.socket as Socket);
        const socket = await accept(request.raw, handshake);
        if (socket !== undefined) converse(route, socket, callerKey(addressOf(request)), open);
        return reply;
      },
    });
    refuseOtherMethods(app, route.path, [{ method: "GET", ...route }], listener);
    draining.addEventListener("abort", () => route.shutDown(), { once: true });
  }
  keepAlive(open, ports, draining);
  return {
    attach: (server, tracked) => {
      connections = tracked;
      server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        socket.on("error", () => socket.destroy());
        // Nobody reads a body after this: a request that has one is not answered as if it had none.
        if (request.method !== "GET" && request.method !== "HEAD") {
          return void refuseRaw(new Error("an upgrade of what has a body"), socket as Socket, listener, ports.random);
        }
        handshakes.set(request, { socket, head });
        const response = new ServerResponse(request);
        response.shouldKeepAlive = false;
        response.assignSocket(socket as Socket);
        response.once("finish", () => (socket as Socket).destroySoon());
        app.routing(request, response);
      });
    },
    cutAll: () => {
      for (const socket of open) socket.terminate();
    },
  };
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

function needsUpgrade(request: FastifyRequest, reply: FastifyReply, listener: Listener): FastifyReply {
  const detail = "This is a WebSocket: connect to it with ws:// and the same path.";
  const reported = problem(426, "INVALID_ARGUMENT", detail, contextOf(request, listener));
  return sendProblem(reply.headers({ upgrade: "websocket", connection: "close" }), reported);
}

type Accept = (request: IncomingMessage, handshake: Handshake) => Promise<WebSocket | undefined>;

/** Answers handshakes of one route; what the library finds wrong in one it answers itself. */
async function acceptor({ messageBytesMax, closings }: SocketRoute): Promise<Accept> {
  // Loaded here and not at the top, like the server itself: most processes of the platform never serve HTTP.
  const { default: Base, WebSocketServer } = await import("ws");
  const standard = new Map<number | undefined, SocketRoute["closings"]["tooLarge"]>([
    [1009, closings.tooLarge],
    [1007, closings.malformed],
  ]);
  /** What the library closes by itself has our codes and names as well. */
  class NamedWebSocket extends Base {
    override close(code?: number, reason?: string | Buffer): void {
      const named = standard.get(code);
      if (named === undefined) super.close(code, reason);
      else super.close(named.code, named.reason);
    }
  }
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    WebSocket: NamedWebSocket,
  });
  return (request, { socket, head }) =>
    new Promise((resolve) => {
      socket.once("close", () => resolve(undefined));
      server.handleUpgrade(request, socket, head, resolve);
    });
}

function converse(route: SocketRoute, socket: WebSocket, caller: string, open: Set<WebSocket>): void {
  open.add(socket);
  // It is closed as well, and that is heard below.
  socket.on("error", () => undefined);
  socket.once("close", () => open.delete(socket));
  const connection: SocketConnection = {
    caller,
    send: (text) => socket.send(text, { binary: false }),
    bufferedBytes: () => socket.bufferedAmount,
    close: (code, reason) => socket.close(code, reason),
  };
  const session = route.open(connection);
  if (session === undefined) return;
  socket.on("message", (data, isBinary) => {
    if (isBinary) socket.close(route.closings.malformed.code, route.closings.malformed.reason);
    else session.hear(String(data));
  });
  socket.once("close", () => session.closed());
}

/** Pings everybody, and cuts who does not answer; while draining, everybody who has not left in time. */
function keepAlive(open: ReadonlySet<WebSocket>, { timers }: HttpPorts, draining: AbortSignal): void {
  const unanswered = new WeakMap<WebSocket, number>();
  let next: CancelTimer | undefined;
  const look = (): void => {
    next = timers.after(pingEveryMs, look);
    for (const socket of open) {
      const count = unanswered.get(socket) ?? 0;
      if (count === 0) socket.once("pong", () => unanswered.delete(socket));
      unanswered.set(socket, count + 1);
      if (count >= unansweredMax) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }
  };
  next = timers.after(pingEveryMs, look);
  draining.addEventListener(
    "abort",
    () => {
      next?.();
      timers.after(closingMs, () => {
        for (const socket of open) socket.terminate();
      });
    },
    { once: true },
  );
}
