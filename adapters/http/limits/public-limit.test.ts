// The public listener's limit and its openness to foreign pages, through real sockets; the operators' listener has neither.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { ask, expectProblem, hello, serve } from "../../../testkit/http/test-client.ts";

const both = ["operator", "public"] as const;
const quotes: Route = { ...hello, path: "/v1/quotes", listeners: both, publicCost: 1 };
const bars: Route = { ...hello, id: "bars", path: "/v1/bars", listeners: both, publicCost: 5 };
const health: Route = { ...hello, id: "health", path: "/v1/healthz", listeners: both };
// So slow that no machine gets a second token while a test runs.
const slow = { publicRate: { ratePerS: 0.001, burst: 10 } };
const open = { listener: "public", token: null } as const;

describe("the limit of the public listener", () => {
  it("is one for all its routes, says on every answer what is left, and names the time to wait", async () => {
    const { server } = await serve([quotes, bars, health], slow);
    const first = await ask(server, bars.path, open);
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      "ratelimit-policy": '"ip";q=10;w=10000',
      "x-ratelimit-limit": "10",
      "x-ratelimit-remaining": "5",
    });
    expect(first.headers["ratelimit"]).toMatch(/^"ip";r=5;t=[0-9]+$/);
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await ask(server, quotes.path, open);
      expect([answer.status, answer.headers["x-ratelimit-remaining"]]).toEqual([200, String(left)]);
    }
    const refused = await ask(server, quotes.path, open);
    expectProblem(refused, 429, "RESOURCE_EXHAUSTED", quotes.path);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(900);
    expect(refused.headers).toMatchObject({ "x-ratelimit-remaining": "0" });
    expect(refused.headers["ratelimit"]).toMatch(/^"ip";r=0;t=/);
    expect((await ask(server, bars.path, { ...open, method: "POST" })).status).toBe(429);
  });

  it("is each address's own, and neither health's nor the operators'", async () => {
    const { server } = await serve([quotes, bars, health], slow);
    for (let count = 0; count < 12; count += 1) await ask(server, quotes.path, open);
    expect((await ask(server, quotes.path, open)).status).toBe(429);
    expect((await ask(server, quotes.path, { ...open, localAddress: "127.0.0.2" })).status).toBe(200);
    const answer = await ask(server, health.path, open);
    expect([answer.status, answer.headers["ratelimit"]]).toEqual([200, undefined]);
    const own = await ask(server, quotes.path);
    expect([own.status, own.headers["ratelimit"]]).toEqual([200, undefined]);
  });

  it.each([
    { ratePerS: 0, burst: 40 },
    { ratePerS: 20, burst: 0 },
  ])("is off: %o", async (publicRate) => {
    const { server } = await serve([quotes], { publicRate });
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(server, quotes.path, open)));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers[0]?.headers["ratelimit"]).toBeUndefined();
  });
});

describe("a foreign page", () => {
  const origin = { origin: "https://x.example" };

  it("may read the public listener, its problems included, and not the operators'", async () => {
    const { server } = await serve([quotes]);
    for (const path of [quotes.path, "/v1/nothing"]) {
      const { headers } = await ask(server, path, { ...open, headers: origin });
      expect(headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-expose-headers": expect.stringContaining(
          "ETag, Link, RateLimit, Retry-After, Portcullis-As-Of",
        ),
        "cross-origin-resource-policy": "cross-origin",
      });
      const own = (await ask(server, path, { headers: origin })).headers;
      expect(own["access-control-allow-origin"]).toBeUndefined();
      expect(own["cross-origin-resource-policy"]).toBe("same-origin");
    }
  });

  it("is answered before it asks, where it may read, and uses up nothing by that", async () => {
    const { server } = await serve([quotes], slow);
    const headers = { ...origin, "access-control-request-method": "GET" };
    const asked = { ...open, method: "OPTIONS", headers };
    for (let count = 0; count < 20; count += 1) {
      const answer = await ask(server, quotes.path, asked);
      expect([answer.status, answer.headers["access-control-allow-methods"]]).toEqual([204, "GET, HEAD"]);
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
    }
    expect((await ask(server, quotes.path, { ...open, method: "OPTIONS" })).status).toBe(405);
    const own = await ask(server, quotes.path, { method: "OPTIONS", headers });
    expect([own.status, own.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  });
});
