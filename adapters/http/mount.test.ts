// A foreign handler under a prefix, through real sockets: it reads bodies and writes answers itself, and what holds around a route
// holds around it.
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { keptConnections } from "../../testkit/http/kept-connection.ts";
import {
  ask,
  expectProblem,
  expectSecured,
  held,
  hello,
  posted,
  rawAsk,
  serve,
} from "../../testkit/http/test-client.ts";
import type { HttpMount } from "./mount.ts";

type Handle = HttpMount["handle"];

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request;
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ method, url, body: await text(request) }));
}

function mounted(handle: Handle = echo, more: Partial<HttpMount> = {}): HttpMount {
  return { listener: "operator", prefix: "/oidc", operation: "LogIn", attempts: [], handle, ...more };
}

describe("a mount", () => {
  it("gets everything below its prefix with every method, the address whole and the body unread", async () => {
    const { server, verifier } = await serve([hello], { mounts: [mounted()] });
    const form = { "content-type": "application/x-www-form-urlencoded", "content-length": "16" };
    for (const [method, url] of [
      ["GET", "/oidc"],
      ["GET", "/oidc?x=1"],
      ["POST", "/oidc/token?x=%2F"],
      ["PUT", "/oidc/a//b/"],
      ["DELETE", "/oidc/a"],
      ["OPTIONS", "/oidc/token"],
      ["PROPFIND", "/oidc/token"],
    ] as const) {
      const body = method === "GET" ? "" : "grant_type=a&b=c";
      const answer = await ask(server, url, { method, headers: method === "GET" ? {} : form, body, token: "expired" });
      expect(JSON.parse(answer.text)).toEqual({ method, url, body });
      expectSecured(answer.headers);
    }
    // Its clients authenticate to it, not to us.
    expect(verifier.asked).toEqual([]);
  });

  it("is only there: not beside its prefix, under another spelling or on the other listener", async () => {
    const { server } = await serve([hello], { mounts: [mounted()] });
    for (const path of ["/oidcx", "/OIDC/token", "/v1/oidc/token", "/%6fidc/token"]) {
      expectProblem(await ask(server, path), 404, "NOT_FOUND", path);
    }
    expect((await ask(server, "/oidc/token", { listener: "public" })).status).toBe(404);
    const absolute = await rawAsk(server, "GET http://a/oidc/token HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(absolute).toContain("HTTP/1.1 404 ");
  });

  it("is guarded by its operation like a route", async () => {
    const { server } = await serve([], { mounts: [mounted(echo, { operation: "RotateSigningKeys" })] });
    expect((await ask(server, "/oidc/a", { token: null })).status).toBe(401);
    expect((await ask(server, "/oidc/a", { token: "viewer" })).status).toBe(403);
    expect((await ask(server, "/oidc/a", { token: "admin" })).status).toBe(200);
  });

  it("may set headers in place of ours; one that it drops comes back", async () => {
    const handle: Handle = async (_request, response) => {
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      response.writeHead(200, { "content-security-policy": "default-src 'self'" }).end("page");
    };
    const { server } = await serve([], { mounts: [mounted(handle)] });
    const { headers } = await ask(server, "/oidc/page", { headers: { "x-request-id": "r1" } });
    expect(headers).toMatchObject({
      "content-security-policy": "default-src 'self'",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "x-request-id": "r1",
    });
  });

  it("is logged and observed by its prefix, never by ids or queries", async () => {
    const { server, lines, observations, spans } = await serve([], { mounts: [mounted()] });
    for (const path of [
      "/oidc/interaction/id-0815/login?code=s3cret",
      "/oidc/id-0815",
      "/oidc/.well-known/x",
      "/oidc",
    ]) {
      await ask(server, path);
    }
    await expect.poll(() => observations).toHaveLength(4);
    for (const { name, labels } of observations) {
      expect(name).toBe("portcullis_http_request_seconds");
      expect(labels).toEqual({ listener: "operator", method: "GET", route: "/oidc", status: "200" });
    }
    expect(lines.map(({ fields }) => fields["path"])).toEqual([
      "/oidc/interaction",
      "/oidc",
      "/oidc/.well-known",
      "/oidc",
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/0815|s3cret/);
    expect(spans).toEqual(Array(4).fill("GET /oidc"));
  });
});

describe("bounds of a mount", () => {
  it("413 for a body that announces too much, 411 for one that announces nothing, 415 for one that would have to be decoded", async () => {
    const seen: string[] = [];
    const handle: Handle = async (request, response) => {
      seen.push(await text(request));
      response.end();
    };
    const { server } = await serve([], { mounts: [mounted(handle)], limits: { bodyBytesMax: 100 } });
    const large = await ask(server, "/oidc/token", {
      method: "POST",
      body: "x".repeat(101),
      headers: { "content-length": "101" },
    });
    expectProblem(large, 413, "MESSAGE_TOO_LARGE", "/oidc/token");
    expect(large.headers.connection).toBe("close");
    const chunked = await ask(server, "/oidc/token", {
      method: "POST",
      body: "x",
      headers: { "transfer-encoding": "chunked" },
    });
    expectProblem(chunked, 411, "INVALID_ARGUMENT", "/oidc/token");
    const encoded = { method: "POST", body: "x", headers: { "content-length": "1", "content-encoding": "gzip" } };
    expectProblem(await ask(server, "/oidc/token", encoded), 415, "INVALID_ARGUMENT", "/oidc/token");
    const fits = { method: "POST", body: "x".repeat(100), headers: { "content-length": "100" } };
    expect((await ask(server, "/oidc/token", fits)).status).toBe(200);
    expect(seen).toEqual(["x".repeat(100)]);
  });

  it("504 when it takes too long, and what it says afterwards hurts nobody", async () => {
    const { wait, entered, leave } = held();
    const handle: Handle = async (_request, response) => {
      await wait();
      response.setHeader("x-late", "1").end("late");
    };
    const { server, lines } = await serve([hello], { mounts: [mounted(handle)], limits: { handlerMsMax: 50 } });
    const answer = ask(server, "/oidc/slow");
    await entered;
    expectProblem(await answer, 504, "DEADLINE_EXCEEDED", "/oidc/slow");
    leave();
    await expect.poll(() => lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect((await ask(server, "/v1/hello")).status).toBe(200);
  });

  it("cuts an answer that began and does not end", async () => {
    const handle: Handle = async (_request, response) => void response.write("half");
    const { server } = await serve([], { mounts: [mounted(handle)], limits: { handlerMsMax: 50 } });
    await expect(ask(server, "/oidc/half")).rejects.toThrow();
  });

  it("a handler that fails is 500 without its words; one that fails half way is cut; a defect ends the program", async () => {
    const failing: Handle = async (request, response) => {
      response.setHeader("set-cookie", "hunter2");
      if (request.url === "/oidc/half") response.write("half");
      throw request.url === "/oidc/defect" ? new Defect("hunter2") : new TypeError("hunter2");
    };
    const { server, lines, deaths } = await serve([], { mounts: [mounted(failing)] });
    const answer = await ask(server, "/oidc/fail");
    expectProblem(answer, 500, "INTERNAL", "/oidc/fail");
    expect(JSON.stringify(answer)).not.toContain("hunter2");
    expect(String(lines.find(({ level }) => level === "error")?.fields["error"])).toContain("hunter2");
    await expect(ask(server, "/oidc/half")).rejects.toThrow();
    expect(deaths).toEqual([]);
    expectProblem(await ask(server, "/oidc/defect"), 500, "INTERNAL", "/oidc/defect");
    await expect.poll(() => deaths).toHaveLength(1);
  });
});

describe("attempts at a mount", () => {
  const attempts = [
    { method: "POST", path: "/token", perMinuteMax: 2 },
    { method: "GET", path: "/device", perMinuteMax: 1 },
  ];

  it("are counted below its prefix, by method, before the handler is asked", async () => {
    let count = 0;
    const handle: Handle = async (_request, response) => {
      count += 1;
      response.end();
    };
    const { server, lines } = await serve([], { mounts: [mounted(handle, { attempts })] });
    for (let at = 0; at < 2; at += 1) expect((await ask(server, "/oidc/token", { method: "POST" })).status).toBe(200);
    const refused = await ask(server, "/oidc/token?x=s3cret", { method: "POST" });
    expectProblem(refused, 429, "RESOURCE_EXHAUSTED", "/oidc/token");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(count).toBe(2);
    expect((await ask(server, "/oidc/token", { method: "GET" })).status).toBe(200);
    expect((await ask(server, "/oidc/jwks", { method: "POST" })).status).toBe(200);
    expect((await ask(server, "/oidc/device/x")).status).toBe(200);
    expect((await ask(server, "/oidc/device/y", { method: "HEAD" })).status).toBe(429);
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });

  it.each(["/oidc/token/", "/oidc/TOKEN", "/oidc/%74oken", "/oidc//token", "/oidc/token%20", "/oidc/\\token"])(
    "are counted under every spelling: %s",
    async (path) => {
      const { server } = await serve([], { mounts: [mounted(echo, { attempts })] });
      for (let at = 0; at < 2; at += 1) await ask(server, "/oidc/token", posted({}));
      expect((await ask(server, path, posted({}))).status).toBe(429);
    },
  );
});

describe("draining a mount", () => {
  it("finishes the request in hand, says that it was the last, and closes the connection", async () => {
    const { wait, entered, leave } = held();
    const handle: Handle = async (_request, response) => {
      await wait();
      response.end("held");
    };
    const { server } = await serve([], { mounts: [mounted(handle)] });
    const agent = keptConnections();
    const answer = ask(server, "/oidc/held", { agent });
    await entered;
    const drained = server.drain(10_000);
    await expect(ask(server, "/oidc/held")).rejects.toThrow(/ECONNREFUSED/);
    leave();
    expect(await answer).toMatchObject({ status: 200, text: "held", headers: { connection: "close" } });
    expect(await drained).toBe("drained");
    agent.destroy();
  });

  it("closes also a connection whose answer had begun before", async () => {
    const { wait, entered, leave } = held();
    const handle: Handle = async (_request, response) => {
      response.write("begun, ");
      await wait();
      response.end("ended");
    };
    const { server } = await serve([], { mounts: [mounted(handle)] });
    const agent = keptConnections();
    const answer = ask(server, "/oidc/held", { agent });
    await entered;
    const drained = server.drain(10_000);
    await expect(ask(server, "/oidc/held")).rejects.toThrow(/ECONNREFUSED/);
    leave();
    expect(await answer).toMatchObject({ status: 200, text: "begun, ended" });
    expect(await drained).toBe("drained");
    agent.destroy();
  });

  it("cuts what does not finish within the bound", async () => {
    const { wait, entered, leave } = held();
    const { server } = await serve([], { mounts: [mounted(wait)] });
    const answer = ask(server, "/oidc/held").then(
      () => "answered",
      () => "cut",
    );
    await entered;
    expect(await server.drain(50)).toBe("forced");
    expect(await answer).toBe("cut");
    leave();
  });
});
