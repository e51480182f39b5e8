// Whose address a caller has, through real sockets: the socket's own, unless a proxy that was named tells another one.
import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { Route } from "../../ports/http.ts";
import { ask, hello, serve } from "../../testkit/http/test-client.ts";
import { callerAddressOf } from "./caller-address.ts";
import type { HttpMount } from "./mount.ts";

const telling: Route = { ...hello, handle: async ({ remoteAddress }) => ({ status: 200, body: remoteAddress }) };
const mounted: HttpMount = {
  listener: "operator",
  prefix: "/oidc",
  operation: "LogIn",
  attempts: [{ method: "POST", path: "/token", perMinuteMax: 2 }],
  handle: async (request: IncomingMessage, response) => void response.end(callerAddressOf(request)),
};

async function addressesSeen(trustedProxies: readonly string[], forwarded: string): Promise<readonly string[]> {
  const { server } = await serve([telling], { mounts: [mounted], trustedProxies });
  const headers = { "x-forwarded-for": forwarded };
  return [(await ask(server, telling.path, { headers })).text, (await ask(server, "/oidc/x", { headers })).text];
}

describe("X-Forwarded-For", () => {
  it.each([
    ["nobody is trusted", [], "192.0.2.1", "127.0.0.1"],
    ["somebody else is trusted", ["10.0.0.0/8"], "192.0.2.1", "127.0.0.1"],
    ["the proxy is trusted", ["127.0.0.1"], "192.0.2.1", "192.0.2.1"],
    ["its range is trusted", ["127.0.0.0/8"], "2001:db8::1", "2001:db8::1"],
    ["what the caller wrote stands left of what the proxy saw", ["127.0.0.1"], "203.0.113.9, 192.0.2.1", "192.0.2.1"],
    ["two proxies in a row", ["127.0.0.1", "10.0.0.0/8"], "203.0.113.9, 192.0.2.1, 10.1.1.1", "192.0.2.1"],
    ["what is no address", ["127.0.0.1"], "me<script>", "127.0.0.1"],
    ["an IPv4 address in IPv6 clothes", ["127.0.0.1"], "::ffff:192.0.2.1", "192.0.2.1"],
  ])("%s", async (_name, trustedProxies, forwarded, expected) => {
    expect(await addressesSeen(trustedProxies, forwarded)).toEqual([expected, expected]);
  });

  it("of a trusted proxy decides whose attempts are counted, and stands in the log", async () => {
    const { server, lines } = await serve([], { mounts: [mounted], trustedProxies: ["127.0.0.1"] });
    const from = async (address: string) =>
      (await ask(server, "/oidc/token", { method: "POST", headers: { "x-forwarded-for": address } })).status;
    expect([await from("192.0.2.1"), await from("192.0.2.1"), await from("192.0.2.1")]).toEqual([200, 200, 429]);
    expect(await from("192.0.2.2")).toBe(200);
    expect(lines.find(({ level }) => level === "warn")?.fields["remote_address"]).toBe("192.0.2.1");
  });

  it("of anybody else does not", async () => {
    const { server } = await serve([], { mounts: [mounted] });
    const from = async (address: string) =>
      (await ask(server, "/oidc/token", { method: "POST", headers: { "x-forwarded-for": address } })).status;
    expect([await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.3")]).toEqual([200, 200, 429]);
  });
});
