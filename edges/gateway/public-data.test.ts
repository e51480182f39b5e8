// The market data of the public port on the real HTTP server: nobody logs in, the gateway asks with its own token, what has not changed is not sent again,
// and one address may not ask without end.
import { afterEach, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../../adapters/http/server.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { HttpRequest, Route } from "../../ports/http.ts";
import { type Behaviour, testParts } from "../../testkit/gateway/parts.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { publicRequestsPerMinuteMax } from "./public-data.ts";
import { publicBars, publicFunds, publicQuote } from "./routes/public.ts";

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.drain(0);
});

async function fixture(procedures: NonNullable<Behaviour["procedures"]>, perMinuteMax = publicRequestsPerMinuteMax) {
  const { parts, calls } = testParts({ procedures });
  const routes = [publicQuote(parts), publicBars(parts), publicFunds(parts)];
  expect(routes.map((route) => route.attemptsPerMinuteMax)).toEqual([600, 60, 600]);
  const limited = routes.map((route) => ({ ...route, attemptsPerMinuteMax: perMinuteMax }));
  return { ...(await served(limited)), calls };
}

async function served(routes: readonly Route[]) {
  const { ports } = testPorts();
  const anywhere = { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_PUBLIC_PORT" };
  const server = await serveHttp({
    ...ports,
    verifier: {
      verify: async () => {
        throw new Fault("UNAUTHENTICATED", "Nobody is known here.", { retry: "never" });
      },
    },
    listeners: { operator: anywhere, public: anywhere },
    routes,
  });
  servers.push(server);
  const base = `http://127.0.0.1:${server.addresses.public.port}`;
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${base}${path}`, { headers });
  return { get, operator: `http://127.0.0.1:${server.addresses.operator.port}` };
}

function requestOf(): HttpRequest {
  const nothing = { params: {}, query: {}, body: undefined, headers: {}, identity: undefined };
  return { ...nothing, requestId: "r", remoteAddress: "127.0.0.1", bearer: () => undefined };
}

const at = "2026-11-15T13:30:00.000000Z";
const quote = { symbol: "BTC-USD", bid: "90000.5", ask: "90001", quoted_at: at };
const bar = { symbol: "AAPL", interval: "1d", start: at, open: "1", high: "2", low: "1", close: "2", volume: "9" };
const fund = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: false };
const procedures = {
  "MarketDesk/ListQuotes": { quotes: [{ ...quote, last: undefined }] },
  "MarketDesk/ListBars": { bars: [bar], next_start: "2026-11-06T00:00:00.000000Z" },
  "Treasury/ListFunds": { funds: [{ ...fund, nav: "10000000.25", nav_at: at }] },
};

describe("public market data", () => {
  it("is the record or a list of records, asked for with the gateway's own token whatever the caller shows", async () => {
    const { get, calls, operator } = await fixture(procedures);
    const shown = await get("/v1/quotes/BTC-USD", { authorization: "Bearer somebody" });
    expect(await shown.json()).toEqual({ ...quote, age_s: expect.any(Number) });
    expect(shown.headers.get("cache-control")).toBe("public, max-age=1");
    const bars = await get("/v1/bars/AAPL?interval=1d&start=2026-11-01");
    expect(await bars.json()).toEqual([bar]);
    expect(bars.headers.get("link")).toBe(
      '</v1/bars/AAPL?interval=1d&start=2026-11-06T00%3A00%3A00.000000Z>; rel="next"',
    );
    expect(await (await get("/v1/funds")).json()).toEqual([{ ...fund, nav: "10000000.25", nav_at: at }]);
    expect(calls.map((call) => call.slice(0, 2))).toEqual([
      ["MarketDesk/ListQuotes", { symbols: ["BTC-USD"] }],
      ["MarketDesk/ListBars", { symbol: "AAPL", interval: "1d", start: "2026-11-01", end: undefined, count_max: 500 }],
      ["Treasury/ListFunds", {}],
    ]);
    for (const call of calls) expect(call[2]).toMatchObject({ bearer: "the-gateways-own-token" });
    expect((await fetch(`${operator}/v1/funds`)).status).toBe(401);
  });

  it("is a problem where there is nothing, where the question is wrong, and where nobody answers", async () => {
    const { get } = await fixture({ ...procedures, "MarketDesk/ListBars": undefined });
    for (const [path, status, code] of [
      ["/v1/quotes/NONESUCH", 404, "NOT_FOUND"],
      ["/v1/quotes/aapl", 400, "INVALID_ARGUMENT"],
      ["/v1/bars/AAPL?interval=1M", 400, "INVALID_ARGUMENT"],
      ["/v1/bars/AAPL", 503, "SERVICE_UNAVAILABLE"],
      ["/v1/funds?debug=1", 400, "INVALID_ARGUMENT"],
    ] as const) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        status,
        "application/problem+json; charset=utf-8",
      ]);
      expect(await answer.json()).toMatchObject({ status, code });
    }
  });

  it("says what there is nothing of", async () => {
    const { get } = await fixture(procedures);
    expect(await (await get("/v1/quotes/NONESUCH")).json()).toMatchObject({
      detail: expect.stringContaining('no quote of "NONESUCH"'),
    });
  });

  it("never tells a caller that they may not, when it is the gateway that may not", async () => {
    const { parts } = testParts();
    const call = async () => {
      throw new Fault("PERMISSION_DENIED", "ListFunds needs a role.", { retry: "never" });
    };
    const asked = publicFunds({ ...parts, services: { call } }).handle(requestOf());
    await expect(asked).rejects.toThrow("The gateway's own token was refused.");
  });

  it("is refused with the time to wait when the service has as much to do as it can", async () => {
    const { parts } = testParts();
    const call = async () => {
      throw new Fault("RESOURCE_EXHAUSTED", "As many questions as may wait do.", { retry: "later" });
    };
    const { get } = await served([publicBars({ ...parts, services: { call } })]);
    const refused = await get("/v1/bars/AAPL");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await refused.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });

  it("is not sent again to whoever has it", async () => {
    const { get } = await fixture(procedures);
    const etag = (await get("/v1/funds")).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    for (const held of [etag, `"old", ${etag}`, `W/${etag}`, "*"]) {
      const again = await get("/v1/funds", { "if-none-match": held });
      expect([held, again.status, await again.text()]).toEqual([held, 304, ""]);
      expect(again.headers.get("etag")).toBe(etag);
    }
    expect((await get("/v1/funds", { "if-none-match": '"old"' })).status).toBe(200);
  });

  it("is refused to an address that asks more often than it may, with the time to wait", async () => {
    const { get, calls } = await fixture(procedures, 5);
    for (let asked = 0; asked < 5; asked += 1) expect((await get("/v1/funds")).status).toBe(200);
    const refused = await get("/v1/funds");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(calls).toHaveLength(5);
    expect((await get("/v1/quotes/BTC-USD")).status).toBe(200);
  });
});
