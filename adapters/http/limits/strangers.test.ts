// Callers without a verified token at the doors, through real sockets: what they asked too much of is refused, whoever shows a token is served, and a connection
// that asked for more than was left rests.
import { describe, expect, it, onTestFinished } from "vitest";
import { openShares } from "../../../contracts/src/doors/open-shares.ts";
import type { Route } from "../../../ports/http.ts";
import { keptConnections } from "../../../testkit/http/kept-connection.ts";
import { ask, both, expectProblem, hello, serve } from "../../../testkit/http/test-client.ts";
import { seenTimers } from "../../../testkit/seen-timers.ts";
import type { HttpMount } from "../mount.ts";
import type { StrangerShares } from "./stranger-budget.ts";

const manual: Route = { ...hello, id: "manual", path: "/v1/manual", operation: "ReadSchema" };
const halts: Route = { ...hello, id: "halts", path: "/v1/halts", operation: "GetHaltStatus" };
const logIn: HttpMount = {
  listener: "operator",
  prefix: "/oidc",
  operation: "LogIn",
  attempts: [],
  handle: async (_request, response) => void response.end("in"),
};
/** So slow that no machine gets another token while a test runs. */
const few = { ratePerS: 0.01, burst: 30 };
const strangers: StrangerShares = {
  shares: { ...openShares, document: { ...few, leaves: 0.5 }, nothing: { ratePerS: 0.001, burst: 3, leaves: 0.25 } },
  together: { ratePerS: 0.001, burst: 80 },
};
/** Nobody rests where that is not looked at. */
const limits = { restMs: 0 };
const open = { token: null } as const;

const statuses = async (
  count: number,
  once: () => Promise<{ readonly status: number }>,
): Promise<readonly number[]> => {
  const seen: number[] = [];
  for (let at = 0; at < count; at += 1) seen.push((await once()).status);
  return seen;
};

describe("callers without a verified token", () => {
  it("are refused what is more than theirs, on both ports, and whoever shows a token is not", async () => {
    const { server } = await serve([manual, halts], { strangers, limits, mounts: [logIn] });
    for (const listener of both) {
      expect(await statuses(4, () => ask(server, manual.path, { ...open, listener }))).toEqual([200, 200, 200, 429]);
    }
    const refused = await ask(server, manual.path, open);
    expectProblem(refused, 429, "RESOURCE_EXHAUSTED", manual.path);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(300);
    expect((await ask(server, manual.path)).status).toBe(200);
    const forged = () => ask(server, halts.path, { token: "forged" });
    expect(await statuses(4, forged)).toEqual([401, 401, 401, 429]);
    expect((await ask(server, "/v1/nowhere", open)).status).toBe(429);
    expect((await ask(server, halts.path)).status).toBe(200);
    expect(await statuses(5, () => ask(server, "/oidc/auth", open))).toEqual([200, 200, 200, 200, 200]);
  });

  it("are refused documents of what all have together, and the log-in of none", async () => {
    const { server } = await serve([manual], { strangers, limits, mounts: [logIn] });
    const from = (last: number) => ({ ...open, localAddress: `127.0.0.${last}` });
    let last = 1;
    const next = () => {
      last += 1;
      return ask(server, manual.path, from(last));
    };
    expect(await statuses(6, next)).toEqual([200, 200, 200, 200, 429, 429]);
    const honest = await ask(server, manual.path, open);
    expect([honest.status, honest.text.includes("whoever shows one is")]).toEqual([429, true]);
    expect((await ask(server, "/oidc/auth", open)).status).toBe(200);
  });

  it("rest on their connection when they asked for more, unless a trusted proxy brought them", async () => {
    const restMs = 3_600_000;
    const timers = seenTimers();
    const { server } = await serve([manual], { strangers, timers, limits: { restMs }, trustedProxies: ["127.0.0.9"] });
    const agent = keptConnections(1);
    onTestFinished(() => agent.destroy());
    expect(await statuses(4, () => ask(server, manual.path, { ...open, agent }))).toEqual([200, 200, 200, 429]);
    expect(timers.pendingOf(restMs)).toBe(1);
    // Its next request is not read until the rest is over.
    const next = ask(server, manual.path, { agent });
    expect((await ask(server, manual.path)).status).toBe(200);
    timers.fire(restMs);
    expect((await next).status).toBe(200);
    const brought = { ...open, localAddress: "127.0.0.9", headers: { "x-forwarded-for": "198.51.100.1" } };
    expect((await statuses(4, () => ask(server, manual.path, brought))).at(-1)).toBe(429);
    expect(timers.pendingOf(restMs)).toBe(0);
  });

  it("count as one in an IPv6 /64, and apart beyond it", async () => {
    const { server } = await serve([manual], { strangers, limits, trustedProxies: ["127.0.0.9"] });
    const from = (address: string) =>
      ask(server, manual.path, { ...open, localAddress: "127.0.0.9", headers: { "x-forwarded-for": address } });
    let last = 0;
    const next = () => {
      last += 1;
      return from(`2001:db8:0:7::${last}`);
    };
    expect(await statuses(4, next)).toEqual([200, 200, 200, 429]);
    expect((await from("2001:db8:0:8::1")).status).toBe(200);
  });

  it("count as one behind a proxy that nobody named, which health tells", async () => {
    const { server } = await serve([manual], { trustedProxies: ["127.0.0.9"] });
    const headers = { "x-forwarded-for": "198.51.100.1" };
    await ask(server, manual.path, { headers, localAddress: "127.0.0.9" });
    expect(server.health()).toEqual({ status: "ok" });
    await ask(server, manual.path, { headers, localAddress: "127.0.0.8" });
    const { status, complaint } = server.health();
    expect([status, complaint]).toEqual(["ok", expect.stringMatching(/127\.0\.0\.8 .*http\.trusted_proxies/)]);
  });
});
