// Who is calling, through real sockets: every operation and role of the table, every way to send a bad token, and nothing that
// answers before the question is settled.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mayCall, type Operation, operations, roles, whyNot } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { RefusedAttempt } from "../../ports/attempts.ts";
import type { HttpRequest, Route } from "../../ports/http.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { type Answer, ask, both, expectProblem, hello, posted, rawAsk, serve } from "../../testkit/http/test-client.ts";

const tokenless = { token: null };

function guarded(operation: Operation, more: Partial<Route> = {}): Route {
  return { ...hello, id: operation, path: `/v1/${operation}`, operation, ...more };
}

function expectChallenge(answer: Answer, path: string, tokenWasSent: boolean): void {
  expectProblem(answer, 401, "UNAUTHENTICATED", path);
  const error = tokenWasSent ? 'error="invalid_token", ' : "";
  expect(answer.headers["www-authenticate"]).toMatch(
    new RegExp(
      `^Bearer ${error}resource_metadata="http://127\\.0\\.0\\.1:[0-9]+/\\.well-known/oauth-protected-resource"$`,
    ),
  );
}

describe("the table of authority", () => {
  it("decides every operation for every role, no token and a bad one, on both listeners, whatever the method", async () => {
    const names = Object.keys(operations) as Operation[];
    const methods = ["GET", "POST", "PUT", "DELETE"] as const;
    const routes = names.map((name, at) => guarded(name, { method: methods[at % methods.length] ?? "GET" }));
    const { server } = await serve(routes);
    for (const { operation, method, path } of routes) {
      for (const listener of both) {
        const asked = { method, listener };
        for (const role of roles) {
          const answer = await ask(server, path, { ...asked, token: role });
          if (mayCall(operation, { roles: [role] })) expect(answer).toMatchObject({ status: 200, text: "hello" });
          else expect(expectProblem(answer, 403, "PERMISSION_DENIED", path)["detail"]).toBe(whyNot(operation));
        }
        const open = mayCall(operation, undefined);
        for (const token of [null, "expired"]) {
          const answer = await ask(server, path, { ...asked, token });
          if (open) expect(answer).toMatchObject({ status: 200, text: "hello" });
          else expectChallenge(answer, path, token !== null);
        }
      }
    }
  });

  it("holds a machine's token to the operations that it names", async () => {
    const verifier = testVerifier({ narrow: ["CheckOrder"] });
    const { server } = await serve([guarded("CheckOrder"), guarded("GetEnvelope"), guarded("ReadIdentity")], {
      verifier,
    });
    expect((await ask(server, "/v1/CheckOrder", { token: "narrow" })).status).toBe(200);
    expect((await ask(server, "/v1/GetEnvelope", { token: "narrow" })).status).toBe(403);
    expect((await ask(server, "/v1/GetEnvelope", { token: "service" })).status).toBe(200);
    expect((await ask(server, "/v1/ReadIdentity", { token: "narrow" })).status).toBe(200);
  });

  it("asks for HEAD what it asks for GET", async () => {
    const { server } = await serve([guarded("ReadMetrics"), guarded("UpdateEnvelope")]);
    const head = { method: "HEAD" };
    expect((await ask(server, "/v1/ReadMetrics", { ...head, token: null })).status).toBe(401);
    expect((await ask(server, "/v1/UpdateEnvelope", { ...head, token: "viewer" })).status).toBe(403);
    expect(await ask(server, "/v1/ReadMetrics", { ...head, token: "viewer" })).toMatchObject({ status: 200, text: "" });
  });

  it("tells the route who calls, and keeps the token from it", async () => {
    const seen: HttpRequest[] = [];
    const spy = guarded("ReadIdentity", {
      handle: async (request) => {
        seen.push(request);
        return { status: 200, body: "" };
      },
    });
    const { server } = await serve([spy]);
    await ask(server, spy.path, { token: "operator" });
    expect(seen).toMatchObject([{ identity: { actor: "operator:operator" }, remoteAddress: "127.0.0.1" }]);
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
  });
});

describe("who is turned away", () => {
  it("is reported by name, a stranger without one, and only where there is something to try", async () => {
    const reported: RefusedAttempt[] = [];
    const { server } = await serve([guarded("UpdateEnvelope")], { tellRefusal: (refused) => reported.push(refused) });
    for (const token of [null, "forged", "viewer"]) await ask(server, "/v1/UpdateEnvelope", { token });
    for (const token of [null, "viewer"]) await ask(server, "/v1/nothing", { token });
    expect(reported.map(({ identity, operation, code }) => [identity.actor, operation, code])).toEqual([
      ["principal:nobody", "UpdateEnvelope", "UNAUTHENTICATED"],
      ["principal:nobody", "UpdateEnvelope", "UNAUTHENTICATED"],
      ["operator:viewer", "UpdateEnvelope", "PERMISSION_DENIED"],
    ]);
  });
});

describe("the order of questions", () => {
  const strict = guarded("UpdateEnvelope", {
    method: "POST",
    path: "/v1/strict/:id",
    listeners: ["operator"],
    params: z.object({ id: z.string().max(3) }),
    body: z.strictObject({ limit: z.number() }),
  });
  const json = { "content-type": "application/json" };
  const large = JSON.stringify({ limit: "x".repeat(2_000) });
  // What each would be told by what comes after the question, if that came first.
  const later = [
    ["404", "/v1/nothing", { method: "GET" }, 404],
    ["404 with a broken body", "/v1/nothing", { method: "POST", headers: json, body: "{" }, 404],
    ["404 with a large body", "/v1/nothing", { method: "POST", headers: json, body: large }, 404],
    ["404 at the root", "/", { method: "OPTIONS" }, 404],
    ["404 for the wrong case", "/V1/STRICT/a", { method: "POST" }, 404],
    ["404 for a method of its own", "/v1/nothing", { method: "PROPFIND" }, 404],
    ["405", "/v1/strict/a", { method: "GET" }, 405],
    ["405 for OPTIONS", "/v1/strict/a", { method: "OPTIONS" }, 405],
    ["405 for HEAD", "/v1/strict/a", { method: "HEAD" }, 405],
    ["405 where anyone may GET", "/v1/hello", { method: "POST", headers: json, body: "{" }, 405],
    ["400, malformed JSON", "/v1/strict/a", { method: "POST", headers: json, body: "{" }, 400],
    ["400, the schema", "/v1/strict/a", { method: "POST", headers: json, body: "{}" }, 400],
    ["400, the path's parameter", "/v1/strict/abcd", { method: "POST", headers: json, body: '{"limit":1}' }, 400],
    ["400, an unexpected query", "/v1/strict/a?x=1", { method: "POST", headers: json, body: '{"limit":1}' }, 400],
    ["400, an address that cannot be decoded", "/v1/strict/%zz", { method: "POST" }, 400],
    ["414, a parameter without end", `/v1/strict/${"a".repeat(500)}`, { method: "POST" }, 414],
    ["413", "/v1/strict/a", { method: "POST", headers: json, body: large }, 413],
    ["415", "/v1/strict/a", { method: "POST", headers: { "content-type": "text/plain" }, body: "x" }, 415],
  ] as const;

  it.each(later)("401 before %s", async (_name, path, options, status) => {
    const { server, verifier } = await serve([strict, hello], { limits: { bodyBytesMax: 1_000 } });
    for (const token of [null, "expired"]) {
      const refused = await ask(server, path, { ...options, token });
      expect(refused.status).toBe(401);
      expect(refused.headers["www-authenticate"]).toMatch(/^Bearer /);
      if (options.method !== "HEAD") expectChallenge(refused, path.split("?")[0] ?? "", token !== null);
    }
    expect(verifier.asked).toEqual(["expired"]);
    expect((await ask(server, path, options)).status).toBe(status);
  });

  it("403 before what is wrong with the request, when the caller is known", async () => {
    const { server } = await serve([strict], { limits: { bodyBytesMax: 1_000 } });
    for (const [name, path, options, status] of later) {
      if (status === 404 || status === 405 || status === 414 || path.includes("%zz")) continue;
      expect((await ask(server, path, { ...options, token: "viewer" })).status, name).toBe(403);
    }
  });

  it("401 for addresses that are not paths, without asking where they lead", async () => {
    const { server } = await serve([strict]);
    for (const line of ["OPTIONS * HTTP/1.1", "GET http://elsewhere/v1/nothing HTTP/1.1"]) {
      const text = await rawAsk(server, `${line}\r\nhost: a\r\nconnection: close\r\n\r\n`);
      expect(text, line).toContain("HTTP/1.1 401 ");
    }
  });

  it("the public listener tells anyone what is not there, and asks where a route asks", async () => {
    const { server } = await serve([hello, guarded("ReadMetrics")]);
    const open = { listener: "public", token: null } as const;
    expectProblem(await ask(server, "/v1/nothing", open), 404, "NOT_FOUND", "/v1/nothing");
    expectProblem(await ask(server, "/v1/hello", { ...open, method: "PUT" }), 405, "INVALID_ARGUMENT", "/v1/hello");
    expectChallenge(await ask(server, "/v1/ReadMetrics", open), "/v1/ReadMetrics", false);
    expectChallenge(await ask(server, "/v1/ReadMetrics", { ...open, method: "PUT" }), "/v1/ReadMetrics", false);
    expect((await ask(server, "/v1/ReadMetrics", { listener: "public", token: "viewer" })).status).toBe(200);
  });
});

describe("malformed proof", () => {
  const route = guarded("ReadIdentity");
  // Each with whether a bearer token was meant.
  const headers: readonly (readonly [string, string, boolean])[] = [
    ["empty", "authorization: ", false],
    ["another scheme", "authorization: Basic ZHV0eTpodW50ZXIy", false],
    ["a token without a scheme", `authorization: ${everyRole}`, false],
    ["the scheme alone", "authorization: Bearer", true],
    ["the scheme and blanks", "authorization: Bearer   ", true],
    ["a scheme that only begins so", `authorization: Bearers ${everyRole}`, false],
    ["two tokens", `authorization: Bearer ${everyRole} ${everyRole}`, true],
    ["two, joined", `authorization: Bearer ${everyRole}, Bearer ${everyRole}`, true],
    ["two headers", `authorization: Bearer ${everyRole}\r\nAuthorization: Bearer ${everyRole}`, true],
    ["two headers, one empty", `authorization: Bearer ${everyRole}\r\nauthorization: `, true],
    ["two headers, Basic first", `AUTHORIZATION: Basic eA==\r\nauthorization: Bearer ${everyRole}`, true],
    ["over-long", `authorization: Bearer ${"a".repeat(8_193)}`, true],
    ["a quote", `authorization: Bearer "${everyRole}"`, true],
    ["a tab", `authorization: Bearer\t${everyRole}`, false],
    ["a tab inside", `authorization: Bearer every\tRole`, true],
    ["high bytes", `authorization: Bearer ${everyRole}\xe9`, true],
  ];

  it.each(headers)("%s", async (_name, header, bearer) => {
    const { server, verifier, lines } = await serve([route]);
    const text = await rawAsk(
      server,
      `GET ${route.path} HTTP/1.1\r\nhost: a\r\n${header}\r\nconnection: close\r\n\r\n`,
    );
    expect(text).toContain("HTTP/1.1 401 ");
    expect(text).toMatch(
      bearer ? /www-authenticate: Bearer error="invalid_token", / : /www-authenticate: Bearer resource/,
    );
    expect(verifier.asked).toEqual([]);
    expect(text + JSON.stringify(lines)).not.toMatch(/everyRole|hunter2|ZHV0|a{100}/);
  });

  it.each(["\x00", "\x01", "\x7f", "\r", "\n "])("a control character %j is not even a header", async (character) => {
    const { server, verifier } = await serve([route]);
    const header = `authorization: Bearer every${character}Role`;
    const text = await rawAsk(
      server,
      `GET ${route.path} HTTP/1.1\r\nhost: a\r\n${header}\r\nconnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 40[01] /);
    expect(verifier.asked).toEqual([]);
  });

  it.each(["Bearer", "bearer", "BEARER", "bEaReR  "])("takes the scheme as %s", async (scheme) => {
    const { server } = await serve([route]);
    const headers = { authorization: `${scheme} ${everyRole}` };
    expect((await ask(server, route.path, { token: null, headers })).status).toBe(200);
  });

  it("takes a token as long as the bound", async () => {
    const long = "a".repeat(8_192);
    const { server, verifier } = await serve([route]);
    expect((await ask(server, route.path, { token: long })).status).toBe(401);
    expect(verifier.asked).toEqual([long]);
  });
});

describe("what the verifier says", () => {
  const route = guarded("ReadIdentity");
  const unavailable = new Fault("IDENTITY_UNAVAILABLE", "The keys of the issuer cannot be read.", { retry: "later" });

  it("401 carries its sentence, and the configured address", async () => {
    const { server } = await serve([route], { baseUrl: "https://desk.example" });
    const answer = await ask(server, route.path, { token: "expired" });
    const body = expectProblem(answer, 401, "UNAUTHENTICATED", route.path);
    expect(body["detail"]).toBe("The token is not one of ours. Log in again.");
    expect(answer.headers["www-authenticate"]).toBe(
      'Bearer error="invalid_token", resource_metadata="https://desk.example/.well-known/oauth-protected-resource"',
    );
  });

  it("503 when it cannot know, with the reason for operators only, and open routes stay open", async () => {
    const { server, verifier } = await serve([route, hello]);
    verifier.answer(() => Promise.reject(unavailable));
    for (const [path, listener] of [
      [route.path, "operator"],
      ["/v1/nothing", "operator"],
      [route.path, "public"],
    ] as const) {
      const answer = await ask(server, path, { listener });
      const body = expectProblem(answer, 503, "IDENTITY_UNAVAILABLE", path);
      expect(body["detail"]).toBe(listener === "operator" ? unavailable.message : undefined);
      expect(answer.headers["retry-after"]).toBe("1");
    }
    expect((await ask(server, "/v1/hello")).status).toBe(200);
  });

  it("500 when it breaks, without a word of the reason", async () => {
    const { server, verifier } = await serve([route]);
    verifier.answer(() => Promise.reject(new TypeError("key hunter2 is undefined")));
    const answer = await ask(server, route.path);
    expectProblem(answer, 500, "INTERNAL", route.path);
    expect(answer.text).not.toContain("hunter2");
  });

  it("504 when it takes too long, and the route is not reached afterwards", async () => {
    const { server, verifier, spans } = await serve([route], { limits: { handlerMsMax: 50 } });
    let settle: (failure: Error) => void = () => undefined;
    verifier.answer(
      () =>
        new Promise((_, reject) => {
          settle = reject;
        }),
    );
    expectProblem(await ask(server, route.path), 504, "DEADLINE_EXCEEDED", route.path);
    settle(unavailable);
    verifier.answer(undefined);
    expect((await ask(server, route.path)).status).toBe(200);
    expect(spans).toHaveLength(1);
  });

  it("knows a caller who need not be known, when the token is good", async () => {
    const seen: (string | undefined)[] = [];
    const spy: Route = {
      ...hello,
      handle: async ({ identity }) => {
        seen.push(identity?.actor);
        return { status: 200, body: "" };
      },
    };
    const { server } = await serve([spy]);
    for (const token of ["viewer", "expired", null]) await ask(server, "/v1/hello", { token });
    expect(seen).toEqual(["operator:viewer", undefined, undefined]);
  });

  it("a route's own 401 says as well how one logs in", async () => {
    const own: Route = { ...hello, handle: async () => ({ status: 401, body: {} }) };
    const { server } = await serve([own]);
    expectChallenge(await ask(server, "/v1/hello", tokenless), "/v1/hello", false);
  });
});

describe("refused attempts", () => {
  it("are logged with who and where, counted by route, and never show the token", async () => {
    const { server, verifier, lines, observations } = await serve([guarded("RotateSigningKeys")]);
    const path = "/v1/RotateSigningKeys";
    const known = { "x-request-id": "r1" };
    await ask(server, `${path}?token=s3cret`, { token: "viewer", headers: known });
    await ask(server, path, { token: "s3cret", headers: { "x-request-id": "r2" } });
    verifier.answer(() => Promise.reject(new Fault("IDENTITY_UNAVAILABLE", "Away.", { retry: "later" })));
    await ask(server, "/v1/s3cret-free", { token: "s3cret", headers: { "x-request-id": "r3" } });
    const refused = lines.filter(({ message }) => message === "HTTP request refused");
    const common = { listener: "operator", method: "GET", remote_address: "127.0.0.1" };
    expect(refused).toEqual([
      {
        level: "warn",
        message: "HTTP request refused",
        fields: { ...common, request_id: "r1", path, code: "PERMISSION_DENIED", actor: "operator:viewer" },
      },
      {
        level: "info",
        message: "HTTP request refused",
        fields: { ...common, request_id: "r2", path, code: "UNAUTHENTICATED" },
      },
      {
        level: "warn",
        message: "HTTP request refused",
        fields: { ...common, request_id: "r3", path: "/v1/s3cret-free", code: "IDENTITY_UNAVAILABLE" },
      },
    ]);
    const counts = observations.filter(({ name }) => name === "portcullis_http_refused_total");
    expect(counts.map(({ labels }) => labels)).toEqual([
      { listener: "operator", route: path, code: "PERMISSION_DENIED" },
      { listener: "operator", route: path, code: "UNAUTHENTICATED" },
      { listener: "operator", route: "none", code: "IDENTITY_UNAVAILABLE" },
    ]);
    expect(JSON.stringify([lines, observations])).not.toMatch(/s3cret(?!-free)/);
  });

  it("an address that the router cannot read is logged and observed like any other", async () => {
    const { server, lines, observations } = await serve([hello]);
    await ask(server, "/v1/%zz?token=s3cret");
    const statuses = () => observations.flatMap(({ labels: { status } }) => (status === undefined ? [] : [status]));
    await expect.poll(statuses).toEqual(["400"]);
    expect(observations.filter(({ name }) => name === "portcullis_bad_requests_total").length).toBe(1);
    expect(lines).toMatchObject([{ level: "debug", fields: { path: "/v1/%zz", status: 400 } }]);
    expect((await ask(server, "/v1/echo", posted({}, tokenless))).status).toBe(401);
  });
});
