// What one connection can make the gateway do, through real sockets: bursts that nobody waits behind, answers in order, an end
// after so many requests. The numbers are those of the gate's header.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { HttpRequest, Listener, Route } from "../../../ports/http.ts";
import { testVerifier } from "../../../testkit/grpc/test-verifier.ts";
import { anyBody } from "../../../testkit/http/test-client.ts";
import { testPorts } from "../../../testkit/http/test-ports.ts";
import { type HttpServer, serveHttp } from "../server.ts";
import type { HttpLimits } from "./limits.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Params = Readonly<Record<string, string>>;
type Handle = (request: HttpRequest<Params>) => Promise<object>;

const anything = z.looseObject({});

async function serve(handle: Handle, limits: Partial<HttpLimits> = {}): Promise<HttpServer> {
  const route = (method: "GET" | "POST"): Route => ({
    id: method.toLowerCase(),
    method,
    path: "/v1/:name",
    listeners: ["operator", "public"],
    sentence: "Does what the test says.",
    operation: "ReadHealth",
    params: anything,
    ...(method === "POST" ? { body: anyBody } : {}),
    answers: { 200: anything },
    handle: async (request) => ({ status: 200, body: await handle(request as HttpRequest<Params>) }),
  });
  const server = await serveHttp({
    ...testPorts().ports,
    verifier: testVerifier(),
    routes: [route("GET"), route("POST")],
    limits,
    listeners: {
      operator: { host: "127.0.0.1", port: 0, environmentVariable: "NONE" },
      public: { host: "127.0.0.1", port: 0, environmentVariable: "NONE" },
    },
  });
  closers.push(() => server.drain(0));
  return server;
}

/** Writes all of it at once and collects what comes until the connection ends, by whoever's hand. */
function burst(server: HttpServer, bytes: string, listener: Listener = "public"): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.addresses[listener]);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    // A flooder's connection may be reset while it still writes.
    socket.on("error", () => undefined);
    socket.write(bytes);
  });
}

const get = (name: string | number, more = ""): string => `GET /v1/${name} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
const named = (answers: string): string[] => [...answers.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name ?? "");

describe("one connection", () => {
  it("cannot make others wait with a burst of 9,000 requests", async () => {
    let handledCount = 0;
    const server = await serve(async ({ params }) => {
      // Each request costs a millisecond of the event loop, as a real one might.
      for (const until = performance.now() + 1; performance.now() < until; );
      if (params["name"] === "flood") handledCount += 1;
      await sleep(1);
      return params;
    });
    const flood = burst(server, get("flood").repeat(9_000));
    await expect.poll(() => handledCount, { interval: 1 }).toBeGreaterThan(0);
    for (const listener of ["operator", "public"] as const) {
      expect(named(await burst(server, get("other", "connection: close\r\n"), listener))).toEqual(["other"]);
      // Behind the flood it would be answered after all 9,000.
      expect(handledCount).toBeLessThanOrEqual(100);
    }
    await flood;
    expect(handledCount).toBeLessThanOrEqual(100);
  });

  it("is answered in order, a few requests at once (1)", async () => {
    let nowCount = 0;
    let mostCount = 0;
    const server = await serve(
      async ({ params }) => {
        nowCount += 1;
        mostCount = Math.max(mostCount, nowCount);
        // Later ones are quicker, so order is not an accident.
        await sleep(Math.max(1, 30 - Number(params["name"])));
        nowCount -= 1;
        return params;
      },
      { requestsAtOncePerConnectionMax: 3 },
    );
    const names = Array.from({ length: 30 }, (_, at) => String(at));
    const requests = names.map((name) => get(name, name === "29" ? "connection: close\r\n" : ""));
    expect(named(await burst(server, requests.join("")))).toEqual(names);
    expect(mostCount).toBe(3);
  });

  it("gets its bodies through while it is held back", async () => {
    const server = await serve(
      async ({ params, body }) => {
        await sleep(2);
        return { ...params, length: JSON.stringify(body).length };
      },
      { requestsAtOncePerConnectionMax: 1, requestsPerConnectionMax: 12 },
    );
    const body = JSON.stringify("x".repeat(200_000));
    const post = (name: string): string =>
      `POST /v1/${name} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const names = Array.from({ length: 12 }, (_, at) => String(at));
    const answers = await burst(server, names.map(post).join(""));
    expect(named(answers)).toEqual(names);
    expect(answers.match(/"length":200002/g)).toHaveLength(12);
  });

  it.each([
    ["1.1", ""],
    ["1.0", "connection: keep-alive\r\n"],
  ])("ends with its last request, and no later one is looked at (2): HTTP/%s", async (version, more) => {
    const seen: string[] = [];
    const server = await serve(
      async ({ params }) => {
        seen.push(params["name"] ?? "");
        return params;
      },
      { requestsPerConnectionMax: 5 },
    );
    const requests = ["a", "b", "c", "d", "e", "f", "g"].map((name) =>
      get(name, more).replace("HTTP/1.1", `HTTP/${version}`),
    );
    const answers = await burst(server, requests.join(""));
    expect(named(answers)).toEqual(["a", "b", "c", "d", "e"]);
    expect(seen).toEqual(["a", "b", "c", "d", "e"]);
    expect(answers.toLowerCase().match(/connection: close/g)).toHaveLength(1);
  });
});
