// Which calls the client sends again, when, and with what; and how it reads lists page by page.
import { describe, expect, it } from "vitest";
import { methodsOf } from "./client.ts";
import { connectionOf } from "./connection.ts";
import { ApiError, createClient, createPublicClient, UnreachableError } from "./index.ts";
import { nextPath } from "./link.ts";
import { jittered, pauseBefore, retryDefaults } from "./retry.ts";

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly key: string | null;
}

type Turn = (() => Response) | Error;

/** Answers each call by its turn, the last one for ever. */
function scripted(...turns: readonly Turn[]) {
  const sent: Sent[] = [];
  const answer: typeof fetch = async (input, init) => {
    sent.push({ url: String(input), method: init?.method, key: new Headers(init?.headers).get("idempotency-key") });
    const turn = turns[Math.min(sent.length, turns.length) - 1];
    if (turn instanceof Error || turn === undefined) throw turn;
    return turn();
  };
  return { sent, fetch: answer };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const away = json(503, { code: "SERVICE_UNAVAILABLE" });
const quick = { firstPauseMs: 1, pauseMsMax: 2 };
const baseUrl = "http://127.0.0.1:1";

describe("tries", () => {
  it("repeats a GET after what passes, until it is answered", async () => {
    const { sent, fetch } = scripted(
      new Error("connection lost"),
      away,
      json(429, {}),
      json(200, [{ symbol: "AAPL" }]),
    );
    const client = createClient({ baseUrl, fetch, retry: quick });
    expect(await client.getPositions()).toEqual([{ symbol: "AAPL" }]);
    expect(sent).toHaveLength(4);
  });

  it("gives up after the last try with what it was answered, and never tries where it is told not to", async () => {
    const failing = scripted(away);
    const tries = createClient({ baseUrl, fetch: failing.fetch, retry: { ...quick, attemptsMax: 3 } });
    await expect(tries.getPositions()).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(failing.sent).toHaveLength(3);
    const once = scripted(away);
    await expect(createClient({ baseUrl, fetch: once.fetch, retry: false }).getPositions()).rejects.toThrow(ApiError);
    expect(once.sent).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 409, 412, 500])("takes a %i for an answer", async (status) => {
    const { sent, fetch } = scripted(json(status, {}));
    await expect(createClient({ baseUrl, fetch, retry: quick }).getPositions()).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it("does not repeat a change that could be done twice", async () => {
    const { sent, fetch } = scripted(away);
    const place = { method: "POST", path: "/v1/x", pathKeys: [], queryKeys: [], bodyKeys: [], answer: "json" } as const;
    const methods = methodsOf({ change: place }, connectionOf({ baseUrl, fetch, retry: quick }));
    await expect(methods["change"]?.()).rejects.toThrow(ApiError);
    expect(sent).toEqual([{ url: `${baseUrl}/v1/x`, method: "POST", key: null }]);
  });

  it("repeats a change that takes a key under one key of its own, or the caller's", async () => {
    const place = {
      method: "POST",
      path: "/v1/x",
      pathKeys: [],
      queryKeys: [],
      bodyKeys: [],
      answer: "json",
      takesKey: true,
    } as const;
    const { sent, fetch } = scripted(new Error("connection lost"), away, json(200, {}));
    const methods = methodsOf({ change: place }, connectionOf({ baseUrl, fetch, retry: quick }));
    await methods["change"]?.();
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    await methods["change"]?.({}, { idempotencyKey: "mine" });
    expect(sent.at(-1)?.key).toBe("mine");
    await methods["change"]?.();
    expect(sent.at(-1)?.key).not.toBe(sent[0]?.key);
  });

  it("waits at least as long as the server says, and not beyond the caller's time", async () => {
    const busy = new ApiError({
      status: 429,
      code: "RESOURCE_EXHAUSTED",
      detail: undefined,
      problem: undefined,
      retryAfterS: 7,
    });
    expect(pauseBefore(1, busy, retryDefaults)).toBeGreaterThanOrEqual(7_000);
    expect(pauseBefore(1, busy, retryDefaults)).toBeLessThanOrEqual(7_200);
    const { sent, fetch } = scripted(json(429, {}, { "retry-after": "3600" }));
    const call = createClient({ baseUrl, fetch, timeoutMs: 60_000 }).getPositions();
    await expect(call).rejects.toMatchObject({ status: 429, retryAfterS: 3_600 });
    expect(sent).toHaveLength(1);
  });

  it("spreads its pauses, each at most twice the one before and never above the highest", () => {
    const pauses = Array.from({ length: 200 }, () => jittered(3, retryDefaults));
    expect(new Set(pauses).size).toBeGreaterThan(50);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(800);
    expect(jittered(60, retryDefaults)).toBeLessThanOrEqual(retryDefaults.pauseMsMax);
  });

  it("stops at once when the caller gives up between two tries", async () => {
    const giveUp = new AbortController();
    const { fetch } = scripted(() => {
      setTimeout(() => giveUp.abort(new Error("enough")), 5);
      return away();
    });
    const client = createClient({
      baseUrl,
      fetch,
      timeoutMs: 600_000,
      retry: { firstPauseMs: 60_000, pauseMsMax: 60_000 },
    });
    await expect(client.getPositions({}, { signal: giveUp.signal })).rejects.toThrow("enough");
  });

  it("says what it could not reach", async () => {
    const { fetch } = scripted(new Error("connection lost"));
    await expect(createClient({ baseUrl, fetch, retry: quick }).getPositions()).rejects.toThrow(UnreachableError);
  });
});

describe("deprecation", () => {
  it("is reported to whoever asks to hear of it", async () => {
    const reported: unknown[] = [];
    const headers = { deprecation: "@1794700800", sunset: "Tue, 01 Jun 2027 00:00:00 GMT" };
    const { fetch } = scripted(json(200, [], headers), json(200, []));
    const client = createClient({ baseUrl, fetch, onDeprecated: (facts) => reported.push(facts) });
    await client.getPositions();
    await client.getPositions();
    expect(reported).toEqual([
      { operation: "getPositions", since: new Date("2026-11-15T00:00:00Z"), sunset: "Tue, 01 Jun 2027 00:00:00 GMT" },
    ]);
  });
});

describe("pages", () => {
  it("follow the Link header to the last one, with the prefix of the server's address", async () => {
    const next = '</v1/oms/orders?fund_id=alpha&after=o-2>; rel="next"';
    const { sent, fetch } = scripted(json(200, [1, 2], { link: next }), json(200, [3]));
    const client = createClient({ baseUrl: `${baseUrl}/desk`, fetch });
    const pages: unknown[] = [];
    for await (const page of client.pages("listOrders", { fundId: "alpha" })) pages.push(page);
    expect(pages).toEqual([[1, 2], [3]]);
    expect(sent.map(({ url }) => url)).toEqual([
      `${baseUrl}/desk/v1/oms/orders?fund_id=alpha`,
      `${baseUrl}/desk/v1/oms/orders?fund_id=alpha&after=o-2`,
    ]);
  });

  it("are fetched one by one, as they are taken", async () => {
    const { sent, fetch } = scripted(json(200, [1], { link: '</v1/oms/orders?after=1>; rel="next"' }));
    for await (const _page of createClient({ baseUrl, fetch }).pages("listOrders")) break;
    expect(sent).toHaveLength(1);
    const change = createClient({ baseUrl, fetch }).pages("submitOrder" as "listOrders");
    await expect(change.next()).rejects.toThrow(TypeError);
  });

  it.each([
    ['</v1/x?after=1>; rel="next"', "/v1/x?after=1"],
    ['</docs>; rel="deprecation", </v1/x?a=1,2>; rel="next"', "/v1/x?a=1,2"],
    ['</v1/x>; rel="prev"', undefined],
    ['<https://elsewhere.example/v1/x>; rel="next"', undefined],
    ['<//elsewhere.example/v1/x>; rel="next"', undefined],
    [null, undefined],
  ])("%s leads to %s", (header, path) => {
    expect(nextPath(header)).toBe(path);
  });
});

describe("the public client", () => {
  it("has a method per route, without a token", async () => {
    const seen: (string | null)[] = [];
    const { sent, fetch } = scripted(json(200, { symbol: "BTC-USD" }));
    const listening: typeof fetch = (input, init) => {
      seen.push(new Headers(init?.headers).get("authorization"));
      return fetch(input, init);
    };
    const client = createPublicClient({ baseUrl, fetch: listening });
    await client.getQuote({ symbol: "BTC-USD" });
    await client.getBars({ symbol: "AAPL", interval: "1m" });
    await client.getFunds();
    await client.getHalts();
    await client.getHealth();
    expect(sent.map(({ url }) => url.slice(baseUrl.length))).toEqual([
      "/v1/quotes/BTC-USD",
      "/v1/bars/AAPL?interval=1m",
      "/v1/funds",
      "/v1/halts",
      "/v1/healthz",
    ]);
    expect(seen).toEqual([null, null, null, null, null]);
  });
});
