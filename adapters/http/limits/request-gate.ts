// How much one connection may ask of us. HTTP/1.1 lets a caller write thousands of requests without waiting for an answer, and
// Node hands all of them over in one go: without a gate one connection keeps the event loop busy for seconds, and everybody
// else waits.
//  1. At most `requestsAtOncePerConnectionMax` requests of a connection are being answered; the next ones wait in order, and
//     nothing more is read from the connection meanwhile.
//  2. A connection whose caller proved nothing and asked for more than was left is answered, and rests: nothing more is read from it for a while, so that
//     refusing costs less than asking.
//  3. The connection's last request is answered with "connection: close"; whatever came after it is not looked at.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Timers } from "../../../ports/timers.ts";
import type { KeptCertificate } from "../../tls/kept-certificate.ts";
import { renewOn, serverOptions } from "../../tls/secure-server.ts";
import type { HttpLimits } from "./limits.ts";

/** Lets a request through to the handler when its turn comes. */
export type RequestGate = (request: IncomingMessage, response: ServerResponse, handle: RequestListener) => void;

interface Gate {
  readonly pass: RequestGate;
  /** Reads nothing more from this connection for `restMs`. */
  rest(socket: Socket): void;
}

interface Conversation {
  requestCount: number;
  answeringCount: number;
  /** Nothing more is wanted from this connection for now. */
  held: boolean;
  /** It asked for more than was left. */
  resting: boolean;
  readonly waiting: (() => void)[];
}

export function requestGate(limits: HttpLimits, timers: Pick<Timers, "after">): Gate {
  const conversations = new WeakMap<Socket, Conversation>();
  const pass: RequestGate = (request, response, handle) => {
    const socket = request.socket;
    const conversation = conversations.get(socket) ?? begin(socket);
    conversations.set(socket, conversation);
    conversation.requestCount += 1;
    if (conversation.requestCount > limits.requestsPerConnectionMax) return hold(socket, conversation);
    const last = conversation.requestCount === limits.requestsPerConnectionMax;
    if (last) response.shouldKeepAlive = false;
    const answer = (): void => {
      conversation.answeringCount += 1;
      response.once("close", () => {
        conversation.answeringCount -= 1;
        takeNext(socket, conversation, limits);
      });
      handle(request, response);
    };
    if (conversation.answeringCount < limits.requestsAtOncePerConnectionMax) return answer();
    conversation.waiting.push(answer);
    hold(socket, conversation);
  };
  const rest = (socket: Socket): void => {
    const conversation = conversations.get(socket);
    if (conversation === undefined || conversation.resting || limits.restMs === 0) return;
    conversation.resting = true;
    hold(socket, conversation);
    const cancel = timers.after(limits.restMs, () => {
      conversation.resting = false;
      goOn(socket, conversation, limits);
    });
    socket.once("close", cancel);
  };
  return { pass, rest };
}

/** A server whose requests, odd expectations included, all pass the gate. With a certificate it speaks TLS and nothing else. */
export function gatedServer(
  limits: HttpLimits,
  gate: RequestGate,
  handle: RequestListener,
  certificate: KeptCertificate | undefined,
): Server {
  const options = {
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.keepAliveMsMax,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytesMax,
    // A missing Host header is refused by our own hook, with a problem document.
    requireHostHeader: false,
  };
  const pass: RequestListener = (request, response) => gate(request, response, handle);
  const server = certificate === undefined ? createServer(options, pass) : secureServer(certificate);
  server.setTimeout(limits.silenceMsMax);
  return server;

  function secureServer(served: KeptCertificate): Server {
    const secure = serverOptions(served, { protocols: ["http/1.1"], handshakeMsMax: limits.firstRequestMsMax });
    const made = createSecureServer({ ...options, ...secure }, pass);
    renewOn(made, served);
    return made;
  }
}

function begin(socket: Socket): Conversation {
  const conversation: Conversation = { requestCount: 0, answeringCount: 0, held: false, resting: false, waiting: [] };
  // Node resumes a connection by itself when a request's body is wanted or thrown away; while it is held, that is undone.
  socket.on("resume", () => {
    if (conversation.held) socket.pause();
  });
  return conversation;
}

function hold(socket: Socket, conversation: Conversation): void {
  conversation.held = true;
  socket.pause();
}

function takeNext(socket: Socket, conversation: Conversation, limits: HttpLimits): void {
  if (socket.destroyed) {
    conversation.waiting.length = 0;
    return;
  }
  const next = conversation.waiting.shift();
  // The request that is taken may still be owed its body, so the connection moves again before it is handled.
  goOn(socket, conversation, limits);
  next?.();
}

function goOn(socket: Socket, conversation: Conversation, limits: HttpLimits): void {
  const ended = conversation.requestCount > limits.requestsPerConnectionMax;
  if (!conversation.held || conversation.resting || conversation.waiting.length > 0 || ended) return;
  conversation.held = false;
  socket.resume();
}
