// Whose address the provider takes a caller to have, behind a real listener: what a trusted proxy says, and nobody else.
import { expect, it } from "vitest";
import { ask, serve } from "../../../testkit/http/test-client.ts";
import type { HttpMount } from "../../http/mount.ts";
import { asSentTo, remoteAddressOf } from "./request-scope.ts";

const issuer = new URL("http://127.0.0.1:8080/oidc");
const provider: HttpMount = {
  listener: "operator",
  prefix: "/oidc",
  operation: "LogIn",
  attempts: [],
  // The headers have been taken away by then.
  handle: (request, response) =>
    asSentTo(
      issuer,
      request,
      async () => void response.end(`${remoteAddressOf(request)} ${request.headers["x-forwarded-for"]}`),
    ),
};

it.each([
  ["a trusted proxy", ["127.0.0.1"], "192.0.2.1 undefined"],
  ["anybody", [], "127.0.0.1 undefined"],
])("believes %s or the socket", async (_name, trustedProxies, reported) => {
  const { server } = await serve([], { mounts: [provider], trustedProxies });
  expect((await ask(server, "/oidc/x", { headers: { "x-forwarded-for": "192.0.2.1" } })).text).toBe(reported);
});
