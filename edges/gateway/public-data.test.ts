// The market data of the public port on the real HTTP server: it is answered from what the services said last, marked when that is old, refused when
// nothing was said yet, and what has not changed is not sent again.
import { afterEach, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../../adapters/http/server.ts";
import { Fault } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Route } from "../../ports/http.ts";
import { heldFeed } from "../../testkit/gateway/market-feed.ts";
import { type Behaviour, nowForTests, testParts } from "../../testkit/gateway/parts.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import type { PublicParts } from "./public-data.ts";
import { publicBars, publicFunds, publicHalts, publicInstruments, publicQuote, publicQuotes } from "./routes/public.ts";

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.drain(0);
});

async function fixture(procedures: NonNullable<Behaviour["procedures"]> = {}) {
  const { parts, calls } = testParts({ procedures });
  const feed = heldFeed();
  let now = nowForTests;
  const clock = { now: () => now };
  const own = { ...parts, clock, marketFeed: feed };
  const server = await served(own);
  const wait = (ms: number) => {
    now = instant.plusMilliseconds(now, ms);
  };
  return { ...server, calls, feed, wait };
}

async function served(parts: PublicParts) {
  const { ports } = testPorts();
  const anywhere = { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_PUBLIC_PORT" };
  const makers = [publicQuote, publicQuotes, publicInstruments, publicBars, publicFunds, publicHalts];
  const routes: readonly Route[] = makers.map((make) => make(parts));
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
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetchOnNewConnection(`${base}${path}`, { headers });
  return { get, operator: `http://127.0.0.1:${server.addresses.operator.port}` };
}

const at = "2026-11-15T13:30:00.000000Z";
const quote = { symbol: "BTC-USD", bid: "90000.5", ask: "90001", quoted_at: at };
const bar = {
  symbol: "AAPL",
  interval: "1d",
  start: "2026-11-01T00:00:00.000000Z",
  open: "1",
  high: "2",
  low: "1",
  close: "2",
  volume: "9",
  closed: true,
};
const fund = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: false };
const halt = {
  severity: "FUND_HALT" as const,
  fund_id: "alpha",
  reason: "a drill",
  requested_by: "operator:duty",
  halt_id: "h-1",
  epoch: 3,
  since: at,
};
const quotes = (...all: (typeof quote)[]) => new Map(all.map((one) => [one.symbol, one]));

describe("public market data", () => {
  it("is what the services said last: nobody is asked for it, whoever asks and whatever they show", async () => {
    const { get, calls, feed, operator } = await fixture();
    feed.quotes.say(quotes(quote), nowForTests);
    feed.funds.say([{ ...fund, nav: "10000000.25", nav_at: at }], nowForTests);
    feed.halts.say({ epoch: 3, halts: [halt], changes: [] }, nowForTests);
    const shown = await get("/v1/quotes/BTC-USD", { authorization: "Bearer somebody" });
    expect(await shown.json()).toEqual({ ...quote, age_s: 0, stale: false });
    expect(shown.headers.get("cache-control")).toBe("public, max-age=1");
    expect(shown.headers.get("portcullis-as-of")).toBe(at);
    expect(shown.headers.get("portcullis-stale")).toBeNull();
    expect(await (await get("/v1/quotes?symbols=NONE,BTC-USD,BTC-USD,TEST")).json()).toMatchObject([
      { symbol: "BTC-USD" },
      { symbol: "TEST" },
    ]);
    expect(await (await get("/v1/funds")).json()).toEqual([{ ...fund, nav: "10000000.25", nav_at: at }]);
    expect(await (await get("/v1/halts")).json()).toEqual([halt]);
    expect(calls).toEqual([]);
    expect((await fetchOnNewConnection(`${operator}/v1/funds`)).status).toBe(401);
  });

  it("is 503 as long as nothing was said, but for TEST, which changes every second", async () => {
    const { get, wait } = await fixture();
    for (const path of ["/v1/quotes/AAPL", "/v1/quotes?symbols=AAPL", "/v1/instruments", "/v1/funds", "/v1/halts"]) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "1"]);
    }
    const first = await (await get("/v1/quotes/TEST")).json();
    expect(first).toMatchObject({ symbol: "TEST", age_s: 0, stale: false });
    wait(1_000);
    expect(await (await get("/v1/quotes/TEST")).json()).not.toEqual(first);
  });

  it("is marked as stale when nothing was said for five seconds, and a quote after ten", async () => {
    const { get, feed, wait } = await fixture();
    feed.quotes.say(quotes(quote), nowForTests);
    wait(4_999);
    expect((await get("/v1/quotes/BTC-USD")).headers.get("portcullis-stale")).toBeNull();
    wait(1);
    const old = await get("/v1/quotes/BTC-USD");
    expect([old.headers.get("portcullis-stale"), old.headers.get("portcullis-as-of")]).toEqual(["true", at]);
    expect(await old.json()).toMatchObject({ age_s: 5, stale: false });
    wait(5_000);
    expect(await (await get("/v1/quotes/BTC-USD")).json()).toMatchObject({ age_s: 10, stale: true });
    expect((await get("/v1/quotes/NONE")).headers.get("portcullis-stale")).toBe("true");
  });

  it("is a problem where there is nothing, where the question is wrong, and where nobody answers", async () => {
    const { get, feed } = await fixture();
    feed.quotes.say(quotes(quote), nowForTests);
    feed.funds.say([], nowForTests);
    const many = Array.from({ length: 101 }, (_none, index) => `S${index}`).join(",");
    for (const [path, status, code, words] of [
      ["/v1/quotes/NONESUCH", 404, "NOT_FOUND", 'no quote of "NONESUCH"'],
      ["/v1/quotes/aapl", 400, "INVALID_ARGUMENT", ""],
      ["/v1/quotes", 400, "INVALID_ARGUMENT", "symbols"],
      [`/v1/quotes?symbols=${many}`, 400, "INVALID_ARGUMENT", "at most 100"],
      ["/v1/bars/AAPL?interval=1M", 400, "INVALID_ARGUMENT", "1m"],
      ["/v1/bars/AAPL", 503, "SERVICE_UNAVAILABLE", ""],
      ["/v1/funds?debug=1", 400, "INVALID_ARGUMENT", ""],
    ] as const) {
      const answer = await get(path);
      const type = answer.headers.get("content-type");
      expect([path, answer.status, type]).toEqual([path, status, "application/problem+json; charset=utf-8"]);
      const body = await answer.json();
      expect(body).toMatchObject({ status, code });
      expect(JSON.stringify(body), path).toContain(words.replaceAll('"', '\\"'));
    }
  });

  it("is not sent again to whoever has it", async () => {
    const { get, feed } = await fixture();
    feed.funds.say([fund], nowForTests);
    const etag = (await get("/v1/funds")).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    for (const held of [etag, `"old", ${etag}`, `W/${etag}`, "*"]) {
      const again = await get("/v1/funds", { "if-none-match": held });
      expect([held, again.status, await again.text()]).toEqual([held, 304, ""]);
      expect(again.headers.get("etag")).toBe(etag);
    }
    expect((await get("/v1/funds", { "if-none-match": '"old"' })).status).toBe(200);
  });
});

describe("public bars", () => {
  const listed = (bars: readonly object[], next_start?: string) => ({ "MarketDesk/ListBars": { bars, next_start } });
  const cached = async (procedures: Record<string, unknown>, query: string) => {
    const answer = await (await fixture(procedures)).get(`/v1/bars/AAPL?interval=1d${query}`);
    return answer.headers.get("cache-control");
  };

  it("are asked for with the gateway's own token, page by page", async () => {
    const { get, calls } = await fixture(listed([bar], "2026-11-06T00:00:00.000000Z"));
    const bars = await get("/v1/bars/AAPL?interval=1d&start=2026-11-01", { authorization: "Bearer somebody" });
    expect(await bars.json()).toEqual([bar]);
    expect(bars.headers.get("link")).toBe(
      '</v1/bars/AAPL?interval=1d&start=2026-11-06T00%3A00%3A00.000000Z>; rel="next"',
    );
    expect(bars.headers.get("portcullis-as-of")).toBe(at);
    expect(calls).toMatchObject([
      [
        "MarketDesk/ListBars",
        { symbol: "AAPL", interval: "1d", start: "2026-11-01", count_max: 500 },
        { bearer: "the-gateways-own-token" },
      ],
    ]);
  });

  it("may be kept for ever when the page cannot change any more, and else for seconds", async () => {
    const forEver = "public, max-age=86400, immutable";
    const next = "2026-11-06T00:00:00.000000Z";
    expect(await cached(listed([bar], next), "&start=2026-11-01")).toBe(forEver);
    expect(await cached(listed([bar]), "&start=2026-11-01&end=2026-11-15")).toBe(forEver);
    for (const [procedures, query] of [
      [listed([bar]), "&start=2026-11-01"],
      [listed([bar]), "&start=2026-11-01&end=2026-11-16"],
      [listed([bar], next), "&end=2026-11-15"],
      [listed([bar, { ...bar, closed: false }], next), "&start=2026-11-01"],
      [listed([]), "&start=2026-11-01&end=2026-11-15"],
    ] as const) {
      expect(await cached(procedures, query), query).toBe("public, max-age=5");
    }
  });

  it("never tell a caller that they may not, when it is the gateway that may not", async () => {
    const { parts } = testParts();
    const call = async () => {
      throw new Fault("PERMISSION_DENIED", "ListBars needs a role.", { retry: "never" });
    };
    const { get } = await served({ ...parts, services: { call }, marketFeed: heldFeed() });
    expect((await get("/v1/bars/AAPL")).status).toBe(500);
  });

  it("are refused with the time to wait when the service has as much to do as it can", async () => {
    const { parts } = testParts();
    const call = async () => {
      throw new Fault("RESOURCE_EXHAUSTED", "As many questions as may wait do.", { retry: "later" });
    };
    const { get } = await served({ ...parts, services: { call }, marketFeed: heldFeed() });
    const refused = await get("/v1/bars/AAPL");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await refused.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });
});
