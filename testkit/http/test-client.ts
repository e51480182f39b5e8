// What tests of the HTTP listeners share: a server on free ports whose verifier they know, a client that sees everything, raw bytes
// on a socket, and what every problem document must have.
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { HttpLimits } from "../../adapters/http/limits/limits.ts";
import type { HttpMount } from "../../adapters/http/mount.ts";
import { type HttpServer, type HttpServerOptions, serveHttp } from "../../adapters/http/server.ts";
import { atMost } from "../../contracts/src/bounds/at-most.ts";
import type { TellRefusal } from "../../ports/attempts.ts";
import type { Listener, Route } from "../../ports/http.ts";
import { everyRole, testVerifier } from "../grpc/test-verifier.ts";
import { testPorts } from "./test-ports.ts";

export const both = ["operator", "public"] as const;

/** A body of any form, as large as any may be. */
export const anyBody = atMost(z.unknown(), { any: { values: 1_000_000, characters: 1_048_576 } });

/** A route that anyone may ask, on both listeners. */
export const hello: Route = {
  id: "getHello",
  method: "GET",
  path: "/v1/hello",
  listeners: both,
  sentence: "Says hello.",
  operation: "ReadHealth",
  answers: { 200: "text" },
  handle: async () => ({ status: 200, body: "hello" }),
};

export interface ServeOptions {
  readonly limits?: Partial<HttpLimits>;
  readonly mounts?: readonly HttpMount[];
  readonly baseUrl?: string;
  readonly trustedProxies?: readonly string[];
  readonly verifier?: ReturnType<typeof testVerifier>;
  readonly tellRefusal?: TellRefusal;
  readonly oncePerKey?: HttpServerOptions["oncePerKey"];
  readonly publicRate?: HttpServerOptions["publicRate"];
  readonly strangers?: HttpServerOptions["strangers"];
  readonly sockets?: HttpServerOptions["sockets"];
  readonly certificate?: HttpServerOptions["certificate"];
  readonly timers?: HttpServerOptions["timers"];
}

export async function serve(routes: readonly Route[], options: ServeOptions = {}) {
  const test = testPorts();
  const verifier = options.verifier ?? testVerifier();
  const server = await serveHttp({
    ...test.ports,
    timers: options.timers ?? test.ports.timers,
    verifier,
    routes,
    mounts: options.mounts ?? [],
    limits: options.limits ?? {},
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    trustedProxies: options.trustedProxies ?? [],
    sockets: options.sockets ?? [],
    certificate: options.certificate,
    ...(options.publicRate === undefined ? {} : { publicRate: options.publicRate }),
    ...(options.strangers === undefined ? {} : { strangers: options.strangers }),
    ...(options.oncePerKey === undefined ? {} : { oncePerKey: options.oncePerKey }),
    ...(options.tellRefusal === undefined ? {} : { tellRefusal: options.tellRefusal }),
    listeners: {
      operator: { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_HTTP_PORT" },
      public: { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_PUBLIC_PORT" },
    },
  });
  onTestFinished(async () => void (await server.drain(0)));
  return { server, verifier, ...test };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  readonly listener?: Listener;
  readonly agent?: Agent;
  /** Of a caller with every role unless another is given; null sends none. */
  readonly token?: string | null;
  readonly localAddress?: string;
}

export function ask(server: HttpServer, path: string, options: AskOptions = {}): Promise<Answer> {
  const { host, port } = server.addresses[options.listener ?? "operator"];
  const { method = "GET", agent, localAddress, token = everyRole } = options;
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...options.headers };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host, port, path, method, headers, agent, localAddress }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(options.body);
  });
}

/** What a POST of JSON needs. */
export function posted(body: unknown, more: AskOptions = {}): AskOptions {
  const headers = { "content-type": "application/json", ...more.headers };
  return { method: "POST", ...more, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

/** Writes raw bytes and collects everything until the other side ends the connection. */
export function rawAsk(server: HttpServer, bytes: string, listener: Listener = "operator"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTo(server, listener);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", reject);
    socket.write(bytes, "latin1");
  });
}

export function connectTo(server: HttpServer, listener: Listener = "operator"): Socket {
  const { host, port } = server.addresses[listener];
  return connect({ host, port });
}

export function expectProblem(answer: Answer, status: number, code: string, path: string): Record<string, unknown> {
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  expect(body).toMatchObject({ type: `urn:portcullis:problem:${code}`, status, code, instance: path });
  expect(body["title"]).toBeTypeOf("string");
  expect(body["request_id"]).toBe(answer.headers["x-request-id"]);
  expectSecured(answer.headers);
  return body;
}

export function expectSecured(headers: IncomingHttpHeaders): void {
  expect(headers).toMatchObject({
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  expect(headers["server"]).toBeUndefined();
  expect(headers["x-powered-by"]).toBeUndefined();
}

/** A handler that a test lets in and out. */
export function held() {
  const gate: Record<"enter" | "leave", () => void> = { enter: () => undefined, leave: () => undefined };
  const entered = new Promise<void>((resolve) => {
    gate.enter = resolve;
  });
  const left = new Promise<void>((resolve) => {
    gate.leave = resolve;
  });
  const wait = async (): Promise<void> => {
    gate.enter();
    await left;
  };
  return { wait, entered, leave: () => gate.leave() };
}
