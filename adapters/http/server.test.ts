// The HTTP listeners, through real sockets: right answers, every kind of refusal as a problem document, and bounds that hold.
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { HttpRequest, Route } from "../../ports/http.ts";
import { testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { keptConnections } from "../../testkit/http/kept-connection.ts";
import {
  anyBody,
  ask,
  both,
  connectTo,
  expectProblem,
  expectSecured,
  held,
  hello as helloText,
  posted,
  rawAsk,
  serve,
} from "../../testkit/http/test-client.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { serveHttp } from "./server.ts";

const anything = z.looseObject({});
const hello: Route = {
  ...helloText,
  answers: { 200: anything },
  handle: async () => ({ status: 200, body: { hello: "world" } }),
};
const echo: Route = {
  id: "echo",
  method: "POST",
  path: "/v1/echo/:name",
  listeners: ["operator"],
  sentence: "Repeats what it was sent.",
  operation: "ReadIdentity",
  params: z.object({ name: z.string() }),
  query: anything,
  body: anyBody,
  answers: { 200: anything },
  handle: async ({ params, query, body }) => ({ status: 200, body: { params, query, body } }),
};

function thrower(path: string, thrown: () => unknown): Route {
  const handle = async (): Promise<never> => {
    throw thrown();
  };
  return { ...helloText, id: path.slice(1), path, sentence: "Fails.", handle };
}

describe("answers", () => {
  it("mounts a route only on the listeners it names", async () => {
    const { server } = await serve([hello, echo]);
    for (const listener of both) {
      const answer = await ask(server, "/v1/hello", { listener });
      expect(answer).toMatchObject({ status: 200, text: '{"hello":"world"}' });
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expectSecured(answer.headers);
    }
    expect((await ask(server, "/v1/echo/a", posted({}))).status).toBe(200);
    const elsewhere = await ask(server, "/v1/echo/a", posted({}, { listener: "public", token: null }));
    expectProblem(elsewhere, 404, "NOT_FOUND", "/v1/echo/a");
  });

  it("hands over parameters, query and body", async () => {
    const { server } = await serve([echo]);
    const answer = await ask(server, "/v1/echo/a%20b?x=1&x=2&y=3", posted({ n: 1 }));
    expect(JSON.parse(answer.text)).toEqual({
      params: { name: "a b" },
      query: { x: ["1", "2"], y: "3" },
      body: { n: 1 },
    });
  });

  it("answers HEAD like GET without a body", async () => {
    const { server } = await serve([hello]);
    const answer = await ask(server, "/v1/hello", { method: "HEAD" });
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(answer.headers["content-length"]).toBe("17");
  });

  it("lets a route choose its content type and override a security header", async () => {
    const page: Route = {
      ...helloText,
      path: "/page",
      handle: async () => ({
        status: 200,
        body: "<p>hello",
        contentType: "text/html; charset=utf-8",
        headers: { "content-security-policy": "default-src 'self'" },
      }),
    };
    const { server } = await serve([page]);
    const { headers, text } = await ask(server, "/page");
    expect(text).toBe("<p>hello");
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'self'",
    });
  });

  it("keeps a sane request id, replaces any other, and hands it to the route", async () => {
    const seen: HttpRequest[] = [];
    const spy: Route = {
      ...hello,
      handle: async (request) => {
        seen.push(request);
        return { status: 200, body: {} };
      },
    };
    const { server } = await serve([spy]);
    const sane = await ask(server, "/v1/hello", { headers: { "x-request-id": "abc-1.2:3" } });
    expect(sane.headers["x-request-id"]).toBe("abc-1.2:3");
    for (const bad of ["", "a b", "x".repeat(129), 'a"b', "<script>"]) {
      const answer = await ask(server, "/v1/hello", { headers: { "x-request-id": bad } });
      expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(seen[0]?.requestId).toBe("abc-1.2:3");
  });

  it("logs one line and observes one figure per request, by route and never by path", async () => {
    const { server, lines, observations, spans } = await serve([echo]);
    await ask(server, "/v1/echo/zed?secret=1", posted({}, { headers: { "x-request-id": "r1" } }));
    await ask(server, "/nowhere");
    await expect.poll(() => observations.length).toBe(2);
    expect(observations.map(({ name, labels }) => ({ name, ...labels }))).toEqual([
      {
        name: "portcullis_http_request_seconds",
        listener: "operator",
        method: "POST",
        route: "/v1/echo/:name",
        status: "200",
      },
      { name: "portcullis_http_request_seconds", listener: "operator", method: "GET", route: "none", status: "404" },
    ]);
    expect(lines[0]).toMatchObject({ level: "debug", fields: { request_id: "r1", path: "/v1/echo/zed", status: 200 } });
    expect(JSON.stringify(lines)).not.toContain("secret");
    expect(spans).toEqual(["POST /v1/echo/:name"]);
  });
});

describe("refusals are problem documents", () => {
  it("404 for what is not there, exact slashes included", async () => {
    const { server } = await serve([hello]);
    for (const path of ["/", "/v1/hello/", "//v1/hello", "/v1//hello", "/V1/hello", "/v1/hello%2F"]) {
      expectProblem(await ask(server, path), 404, "NOT_FOUND", path);
    }
    const body = expectProblem(await ask(server, "/x?token=s3cret"), 404, "NOT_FOUND", "/x");
    expect(JSON.stringify(body)).not.toContain("s3cret");
  });

  it("405 with Allow for a wrong method, whatever its body", async () => {
    const { server } = await serve([hello, echo]);
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "TRACE"]) {
      const answer = await ask(server, "/v1/hello", { method });
      expectProblem(answer, 405, "INVALID_ARGUMENT", "/v1/hello");
      expect(answer.headers["allow"]).toBe("GET, HEAD");
    }
    const broken = { method: "PUT", headers: { "content-type": "application/json" }, body: "{" };
    expect((await ask(server, "/v1/echo/a", broken)).headers["allow"]).toBe("POST");
  });

  it.each([
    ["malformed JSON", "application/json", "{", 400, "INVALID_ARGUMENT"],
    ["an empty JSON body", "application/json", "", 400, "INVALID_ARGUMENT"],
    ["a poisoned prototype", "application/json", '{"__proto__":{"admin":true}}', 400, "INVALID_ARGUMENT"],
    ["a text body", "text/plain", "hello", 415, "INVALID_ARGUMENT"],
    ["an unknown type", "application/x-what", "hello", 415, "INVALID_ARGUMENT"],
    ["a body over the limit", "application/json", JSON.stringify("x".repeat(2_000)), 413, "MESSAGE_TOO_LARGE"],
  ])("%s", async (_name, type, body, status, code) => {
    const { server } = await serve([echo], { limits: { bodyBytesMax: 1_000 } });
    const answer = await ask(server, "/v1/echo/a", { method: "POST", headers: { "content-type": type }, body });
    expectProblem(answer, status, code, "/v1/echo/a");
  });

  it("22.11: what cannot be read or is too large is counted for its caller, bytes that never became a request for nobody", async () => {
    const { server, observations } = await serve([echo], { limits: { bodyBytesMax: 1_000 } });
    await ask(server, "/v1/echo/a", posted("{"));
    await ask(server, "/v1/echo/a", posted("x".repeat(2_000)));
    await rawAsk(server, "nonsense\r\n\r\n");
    const counted = () => observations.filter(({ name }) => name === "portcullis_bad_requests_total");
    await expect.poll(() => counted().length).toBe(3);
    expect(counted().map(({ labels }) => [labels["face"], labels["caller"], labels["kind"]])).toEqual([
      ["http", "operator:everyRole", "malformed"],
      ["http", "operator:everyRole", "oversized"],
      ["http", "nobody", "malformed"],
    ]);
  });

  it("400 for an address that cannot be decoded", async () => {
    const { server } = await serve([echo]);
    expectProblem(await ask(server, "/v1/echo/%zz", { method: "POST" }), 400, "INVALID_ARGUMENT", "/v1/echo/%zz");
  });

  it("417 for an expectation that is not 100-continue", async () => {
    const { server } = await serve([hello]);
    const answer = await ask(server, "/v1/hello", { headers: { expect: "miracle" } });
    expectProblem(answer, 417, "INVALID_ARGUMENT", "/v1/hello");
  });

  it.each([
    ["garbage", "\x16\x03\x01 nonsense\r\n\r\n", 400],
    ["a missing Host", "GET /v1/hello HTTP/1.1\r\nconnection: close\r\n\r\n", 400],
    ["two Hosts", "GET /v1/hello HTTP/1.1\r\nhost: a\r\nHOST: b\r\n\r\n", 400],
    ["two Hosts, old", "GET /v1/hello HTTP/1.0\r\nhost: a\r\nhost: a\r\nconnection: keep-alive\r\n\r\n", 400],
    ["no version", "GET /v1/hello\r\n\r\n", 400],
    ["a version that is not spoken here", "GET /v1/hello HTTP/2.0\r\nhost: a\r\n\r\n", 400],
    ["headers over the limit", `GET /v1/hello HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, 431],
    ["two lengths", "POST /v1/hello HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx", 400],
    [
      "length and chunks",
      "POST /v1/hello HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
  ])("raw: %s", async (_name, bytes, status) => {
    const { server } = await serve([hello]);
    const text = await rawAsk(server, bytes);
    expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(text.toLowerCase()).toContain("content-type: application/problem+json");
    expect(text).toContain(`"status":${status}`);
    expect((await ask(server, "/v1/hello")).status).toBe(200);
  });
});

describe("failures of a route", () => {
  const secret = "connect to 10.0.0.7 with password hunter2";
  const routes = [
    thrower("/fault", () => new Fault("STORE_UNAVAILABLE", "The database at db-7 is away.", { retry: "later" })),
    thrower("/mine", () => new Fault("INVALID_ARGUMENT", "fund_id is missing.", { retry: "never" })),
    thrower("/bug", () => new TypeError(secret)),
    thrower("/string", () => secret),
    thrower("/status", () => Object.assign(new Error(secret), { statusCode: 404, code: "ENOENT" })),
    thrower("/defect", () => new Defect(secret)),
  ];

  it("a fault has its registered status; a 5xx says its reason to operators only", async () => {
    const { server } = await serve(routes);
    const reported = expectProblem(await ask(server, "/fault"), 503, "STORE_UNAVAILABLE", "/fault");
    expect(reported["detail"]).toBe("The database at db-7 is away.");
    const hidden = await ask(server, "/fault", { listener: "public" });
    expect(expectProblem(hidden, 503, "STORE_UNAVAILABLE", "/fault")).not.toHaveProperty("detail");
    const mine = await ask(server, "/mine", { listener: "public" });
    expect(expectProblem(mine, 400, "INVALID_ARGUMENT", "/mine")["detail"]).toBe("fund_id is missing.");
  });

  it("anything else is 500 without a word of the reason, which is in the log with the request id", async () => {
    const { server, lines } = await serve(routes);
    for (const path of ["/bug", "/string", "/status"]) {
      const answer = await ask(server, path, { headers: { "x-request-id": `r${path.slice(1)}` } });
      expectProblem(answer, 500, "INTERNAL", path);
      expect(answer.text).not.toContain("hunter2");
      const line = lines.find((one) => one.fields["request_id"] === `r${path.slice(1)}` && one.level === "error");
      expect(String(line?.fields["error"])).toContain("hunter2");
    }
  });

  it("a defect is answered and then ends the program", async () => {
    const { server, deaths } = await serve(routes);
    expectProblem(await ask(server, "/defect"), 500, "INTERNAL", "/defect");
    await expect.poll(() => deaths.length).toBe(1);
  });

  it("a route that answers with a failing status gets the rest of the document", async () => {
    const handle = async () => ({ status: 503, body: { code: "SERVICE_UNAVAILABLE", detail: "oms is away" } });
    const { server } = await serve([{ ...hello, handle }]);
    const body = expectProblem(await ask(server, "/v1/hello"), 503, "SERVICE_UNAVAILABLE", "/v1/hello");
    expect(body["detail"]).toBe("oms is away");
  });

  it("504 when a route takes too long, also when it ends afterwards", async () => {
    let finish: () => void = () => undefined;
    const slow: Route = {
      ...hello,
      handle: async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { status: 200, body: {} };
      },
    };
    const { server } = await serve([slow], { limits: { handlerMsMax: 50 } });
    expectProblem(await ask(server, "/v1/hello"), 504, "DEADLINE_EXCEEDED", "/v1/hello");
    finish();
    await sleep(20);
    expectProblem(await ask(server, "/none"), 404, "NOT_FOUND", "/none");
  });
});

describe("bounds", () => {
  it("a slow loris is answered 408 and cut while others are served", async () => {
    const { server } = await serve([hello], { limits: { headersMsMax: 200, requestMsMax: 300, checkEveryMs: 50 } });
    const [headersNever, bodyNever] = await Promise.all([
      rawAsk(server, "GET /v1/hello HTTP/1.1\r\nhost: a\r\nx-slow: "),
      rawAsk(server, "POST /v1/nothing HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n"),
      expect.poll(() => ask(server, "/v1/hello").then(({ status }) => status)).toBe(200),
    ]);
    expect(headersNever).toContain("HTTP/1.1 408 ");
    expect(bodyNever).toContain("HTTP/1.1 408 ");
  });

  it("a connection that says nothing is cut", async () => {
    const { server } = await serve([hello], { limits: { silenceMsMax: 100 } });
    expect(await rawAsk(server, "")).toBe("");
  });

  it("more connections than the limit are dropped, and the first still works", async () => {
    const { server } = await serve([hello], { limits: { connectionsMax: 1 } });
    const agent = keptConnections(1);
    expect((await ask(server, "/v1/hello", { agent })).status).toBe(200);
    await expect(ask(server, "/v1/hello")).rejects.toThrow();
    expect((await ask(server, "/v1/hello", { agent })).status).toBe(200);
    agent.destroy();
  });
});

describe("drain", () => {
  function heldRoute() {
    const { wait, entered, leave } = held();
    const handle: Route["handle"] = async () => {
      await wait();
      return { status: 200, body: { held: true } };
    };
    return { route: { ...hello, path: "/held", handle }, entered, leave };
  }

  it("finishes the request in hand, refuses new connections and closes kept ones", async () => {
    const { route, entered, leave } = heldRoute();
    const { server } = await serve([route, hello]);
    const agent = keptConnections();
    await ask(server, "/v1/hello", { agent });
    const silent = connectTo(server);
    await new Promise((resolve) => silent.once("connect", resolve));
    const silentClosed = new Promise((resolve) => silent.once("close", resolve));
    silent.on("error", () => undefined);
    const answer = ask(server, "/held");
    await entered;
    const drained = server.drain(10_000);
    await silentClosed;
    await expect(ask(server, "/v1/hello")).rejects.toThrow(/ECONNREFUSED/);
    leave();
    expect(await answer).toMatchObject({ status: 200, text: '{"held":true}', headers: { connection: "close" } });
    expect(await drained).toBe("drained");
    agent.destroy();
  });

  it("cuts what does not finish within the bound, and says so", async () => {
    const { route, entered, leave } = heldRoute();
    const { server } = await serve([route]);
    const answer = ask(server, "/held").then(
      () => "answered",
      () => "cut",
    );
    await entered;
    expect(await server.drain(50)).toBe("forced");
    expect(await answer).toBe("cut");
    leave();
  });
});

describe("a port in use", () => {
  it.each([
    ["operator", "PORTCULLIS_HTTP_PORT"],
    ["public", "PORTCULLIS_PUBLIC_PORT"],
  ] as const)("%s: names the address and the variable, and leaves nothing listening", async (listener, variable) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => void taken.close(() => resolve())));
    const bound = taken.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    const free = { host: "localhost", port: 0 };
    const busy = { host: "127.0.0.1", port };
    const started = serveHttp({
      ...testPorts().ports,
      verifier: testVerifier(),
      routes: [hello],
      listeners: {
        operator: { ...(listener === "operator" ? busy : free), environmentVariable: "PORTCULLIS_HTTP_PORT" },
        public: { ...(listener === "public" ? busy : free), environmentVariable: "PORTCULLIS_PUBLIC_PORT" },
      },
    });
    await expect(started).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}.*${variable}`)),
      facts: { environment_variable: variable },
    });
  });
});
