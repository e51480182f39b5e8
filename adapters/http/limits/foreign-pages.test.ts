// What a hostile web page in an operator's browser can send to the operators' listener, through real sockets: it is refused before
// anything else and uses up nobody's attempts.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { type AskOptions, ask, both, expectProblem, hello, rawAsk, serve } from "../../../testkit/http/test-client.ts";
import type { HttpMount } from "../mount.ts";

const changed: Route = {
  ...hello,
  id: "postChange",
  method: "POST",
  path: "/v1/change",
  operation: "StepUp",
  attemptsPerMinuteMax: 3,
  listeners: both,
};
const login: HttpMount = {
  listener: "operator",
  prefix: "/oidc",
  operation: "LogIn",
  attempts: [{ method: "POST", path: "/token", perMinuteMax: 3 }],
  handle: async (_request, response) => void response.end("token"),
};

const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
const post = (headers: NonNullable<AskOptions["headers"]>): AskOptions => ({ method: "POST", headers });

describe("a foreign page", () => {
  it.each([
    ["another site", evil],
    ["a sibling of ours", { "sec-fetch-site": "same-site" }],
    ["an origin alone", { origin: "https://evil.example" }],
    ["an origin that is hidden", { origin: "null" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["a name that somebody made point at us", { origin: "http://rebound.example", host: "rebound.example" }],
    ["two answers", { "sec-fetch-site": ["same-origin", "cross-site"] }],
    ["an origin in other letters", { origin: "HTTPS://EVIL.EXAMPLE" }],
    ["an empty origin", { origin: "" }],
  ])("is refused: %s", async (_name, headers) => {
    const { server, verifier, lines } = await serve([changed, hello], { mounts: [login] });
    for (const path of [changed.path, "/oidc/token", "/v1/nothing", "/v1/hello"]) {
      expectProblem(await ask(server, path, post(headers)), 403, "PERMISSION_DENIED", path);
    }
    expect(verifier.asked).toEqual([]);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(4);
  });

  it("uses up nobody's attempts", async () => {
    const { server } = await serve([changed], { mounts: [login] });
    for (let count = 0; count < 8; count += 1) {
      await ask(server, changed.path, post(evil));
      await ask(server, "/oidc/token", { ...post(evil), token: null });
    }
    expect((await ask(server, changed.path, post({}))).status).toBe(200);
    expect((await ask(server, "/oidc/token", { ...post({}), token: null })).status).toBe(200);
  });

  it("may link to us, and may call the public listener", async () => {
    const { server } = await serve([changed, hello]);
    for (const method of ["GET", "HEAD"]) {
      expect((await ask(server, hello.path, { method, headers: evil })).status).toBe(200);
    }
    expect((await ask(server, changed.path, { ...post(evil), listener: "public" })).status).toBe(200);
  });

  it("is refused also under an address that no router can read", async () => {
    const { server } = await serve([hello]);
    const sent = "POST /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\nsec-fetch-site: cross-site\r\n\r\n";
    expect(await rawAsk(server, sent)).toContain("HTTP/1.1 403 ");
  });
});

describe("our own pages, and programs", () => {
  it.each([
    ["nothing said", () => ({})],
    ["the address itself", (port: number) => ({ origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" })],
    ["its name", (port: number) => ({ origin: `http://localhost:${port}` })],
    ["typed by a person", () => ({ "sec-fetch-site": "none" })],
    ["the base URL", () => ({ origin: "https://desk.example", "sec-fetch-site": "same-origin" })],
  ])("pass: %s", async (_name, headersAt) => {
    const { server } = await serve([changed], { mounts: [login], baseUrl: "https://desk.example" });
    const headers: Record<string, string> = headersAt(server.addresses.operator.port);
    expect((await ask(server, changed.path, post(headers))).status).toBe(200);
    expect((await ask(server, "/oidc/token", post(headers))).status).toBe(200);
  });
});
