// The webhook through real sockets, with order management played: the order of its checks, every answer, and what is recorded of each request.
import { describe, expect, it } from "vitest";
import { publishedAddresses } from "../../../adapters/configuration/tradingview-sources.ts";
import { sourceAddresses } from "../../../adapters/webhook/source-addresses.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { SignalAnswer } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { type Behaviour, testParts } from "../../../testkit/gateway/parts.ts";
import { type AskOptions, ask, posted, serve } from "../../../testkit/http/test-client.ts";
import { testPorts } from "../../../testkit/http/test-ports.ts";
import type { GatewayParts, WebhookParts } from "../parts.ts";
import { plainPart, withoutSecret } from "./alert-body.ts";
import { signalTest } from "./test-signal.ts";
import { tradingviewWebhook } from "./webhook.ts";

const secret = "a-secret-of-alpha-that-nobody-sees";
const alert = {
  secret,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "NASDAQ:AAPL",
  side: "buy",
  quantity: "1",
};
const stored: SignalAnswer = {
  signal_id: "s-1",
  http_status: 202,
  code: "",
  detail: "",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  order_id: "tv-s-1",
  received_at: "2026-11-15T13:30:00.000000Z",
  warnings: ["NO_ALERT_TIME"],
  original: undefined,
};

interface Given {
  readonly checks?: Partial<WebhookParts["checks"]>;
  readonly procedures?: Behaviour["procedures"];
  readonly call?: GatewayParts["services"]["call"];
  readonly trustedProxies?: readonly string[];
}

async function fixture(given: Given = {}) {
  const procedures = {
    "Oms/ReceiveSignal": stored,
    "Oms/RecordRefusedSignal": { signal_id: "r-1" },
    ...given.procedures,
  };
  const { parts, calls } = testParts({ procedures });
  const { ports } = testPorts();
  const proxies: string[] = [];
  const webhook: WebhookParts = {
    ...parts.webhook,
    checks: {
      ...parts.webhook.checks,
      isRightSecret: async (fundId, tried) => fundId === "alpha" && tried === secret,
      ...given.checks,
    },
    noteProxy: (address) => void proxies.push(address),
  };
  const services = given.call === undefined ? parts.services : { call: given.call };
  const used = { ...parts, services, clock: ports.clock, timers: ports.timers, log: ports.log, webhook };
  const { server } = await serve([tradingviewWebhook(used), signalTest(used)], {
    trustedProxies: given.trustedProxies ?? [],
  });
  const send = (body: unknown, more: AskOptions = {}) =>
    ask(server, "/tradingview/webhook", posted(body, { listener: "public", token: null, ...more }));
  const sent = () => calls.map(([name, message]) => ({ name, ...(message as object) }));
  return { server, send, sent, proxies };
}

const bodyOf = (answer: { readonly text: string }) => JSON.parse(answer.text) as Record<string, unknown>;

describe("an alert", () => {
  it("is handed on without its secret and answered with 202", async () => {
    const { send, sent } = await fixture();
    const answer = await send(alert);
    expect(answer.status).toBe(202);
    expect(bodyOf(answer)).toEqual({
      signal_id: "s-1",
      status: "accepted",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      order_id: "tv-s-1",
      received_at: "2026-11-15T13:30:00.000000Z",
      warnings: ["NO_ALERT_TIME"],
    });
    const { secret: _, ...rest } = alert;
    expect(sent()).toMatchObject([{ name: "Oms/ReceiveSignal", fund_id: "alpha", remote_address: "127.0.0.1" }]);
    expect(JSON.parse((sent()[0] as { body?: string }).body ?? "")).toEqual(rest);
  });

  it("whose key is taken gets 409 with the one that took it; a wrong field 422 with what to change", async () => {
    const original = { signal_id: "s-0", order_id: "tv-s-0", received_at: "2026-11-15T13:29:00.000000Z" };
    const taken = {
      ...stored,
      http_status: 409,
      code: "WEBHOOK_KEY_DUPLICATE",
      detail: "Taken.",
      order_id: "",
      original,
    };
    const first = await (await fixture({ procedures: { "Oms/ReceiveSignal": taken } })).send(alert);
    expect([first.status, bodyOf(first)]).toMatchObject([
      409,
      { code: "WEBHOOK_KEY_DUPLICATE", signal_id: "s-1", original },
    ]);
    const wrong = { ...stored, http_status: 422, code: "WEBHOOK_FIELD_INVALID", detail: "side: ...", symbol: "" };
    const second = await (await fixture({ procedures: { "Oms/ReceiveSignal": wrong } })).send(alert);
    expect([second.status, bodyOf(second)]).toMatchObject([
      422,
      { code: "WEBHOOK_FIELD_INVALID", detail: "side: ..." },
    ]);
    expect(second.headers["content-type"]).toContain("application/problem+json");
  });
});

describe("a secret", () => {
  it("that is wrong, missing, of another fund or no text gets one and the same answer", async () => {
    const { send, sent } = await fixture();
    const { secret: _, ...without } = alert;
    const tried = [
      { ...alert, secret: `${secret}x` },
      without,
      { ...alert, fund_id: "beta" },
      { ...alert, fund_id: "nobody" },
      { ...alert, secret: 7 },
      {},
    ];
    const answers = [];
    for (const one of tried) answers.push(await send(one));
    const shown = new Set(
      answers.map(({ status, text, headers }) => {
        const { date: _date, "x-request-id": id, ...others } = headers;
        return JSON.stringify([status, others, text.replace(String(id), "ID")]);
      }),
    );
    expect(shown.size).toBe(1);
    expect(answers[0]?.status).toBe(401);
    expect(bodyOf(answers[0] ?? { text: "{}" })).toMatchObject({ code: "WEBHOOK_SECRET_WRONG" });
    expect(sent().every(({ name }) => name === "Oms/RecordRefusedSignal")).toBe(true);
    expect(JSON.stringify(sent())).not.toContain(secret);
    expect(sent()[0]).toMatchObject({ fund_id: "", http_status: 401 });
  });

  it("that cannot be checked gets 503, and nothing is stored", async () => {
    const { send, sent } = await fixture({ checks: { isRightSecret: () => Promise.reject(new Error("sealed")) } });
    const answer = await send(alert);
    expect([answer.status, answer.headers["retry-after"], bodyOf(answer)["code"]]).toEqual([
      503,
      "5",
      "SECRETS_UNAVAILABLE",
    ]);
    expect(sent()).toEqual([]);
  });

  it("is found nowhere in what is handed on, whichever field repeats it", () => {
    expect(withoutSecret({ ...alert, thesis: `my secret is ${secret}` })).not.toContain(secret);
    expect(plainPart({ ...alert, Secret: secret, passphrase: "hunter22hunter22", symbol: secret })).not.toMatch(
      /nobody-sees|hunter22/,
    );
  });
});

describe("the rate", () => {
  it("is counted behind the secret; what is over it is a row and says when to come back", async () => {
    let counted = 0;
    const pass = () => {
      counted += 1;
      return { passed: false, waitMs: 400 } as const;
    };
    const { send, sent } = await fixture({ checks: { pass } });
    await send({ ...alert, secret: "wrong" });
    expect(counted).toBe(0);
    const answer = await send(alert);
    expect([answer.status, answer.headers["retry-after"]]).toEqual([429, "1"]);
    expect(bodyOf(answer)).toMatchObject({ code: "WEBHOOK_RATE_EXCEEDED", signal_id: "r-1" });
    expect(sent().at(-1)).toMatchObject({ name: "Oms/RecordRefusedSignal", fund_id: "alpha", http_status: 429 });
  });
});

describe("what cannot be stored", () => {
  it("gets 503 and its Retry-After, also when nobody answers at all", async () => {
    const away = await fixture({
      call: () => Promise.reject(new Fault("STORE_UNAVAILABLE", "The database is away.", { retry: "later" })),
    });
    const answer = await away.send(alert);
    expect([answer.status, answer.headers["retry-after"], bodyOf(answer)["code"]]).toEqual([
      503,
      "5",
      "STORE_UNAVAILABLE",
    ]);
    const begun = performance.now();
    const silent = await fixture({ call: () => new Promise(() => undefined) });
    expect((await silent.send(alert)).status).toBe(503);
    expect(performance.now() - begun).toBeGreaterThan(1_000);
  });
});

describe("before the secret", () => {
  it("the address is asked, and a proxy that nobody trusts is noticed", async () => {
    const isSource = (address: string) => address === "52.89.214.238";
    const { send, proxies } = await fixture({ checks: { isSource } });
    const plainly = await send(alert);
    expect([plainly.status, bodyOf(plainly)]).toMatchObject([
      403,
      { code: "WEBHOOK_ADDRESS_NOT_ALLOWED", signal_id: "r-1" },
    ]);
    expect(proxies).toEqual([]);
    expect((await send(alert, { headers: { "x-forwarded-for": "1.2.3.4, 52.89.214.238" } })).status).toBe(403);
    expect(proxies).toEqual(["127.0.0.1"]);
  });

  describe("the address, by the published list", () => {
    const isSource = sourceAddresses(publishedAddresses);
    const statusesOf = async (trustedProxies: readonly string[], forwarded: readonly (string | undefined)[]) => {
      const { send, sent } = await fixture({ checks: { isSource }, trustedProxies });
      const statuses: number[] = [];
      for (const one of forwarded) {
        statuses.push((await send(alert, one === undefined ? {} : { headers: { "x-forwarded-for": one } })).status);
      }
      return { statuses, stored: sent().filter(({ name }) => name === "Oms/ReceiveSignal").length };
    };

    it("of a default start is never loopback's, with or without a forged header", async () => {
      const forged = [undefined, "52.89.214.238", "127.0.0.1, 52.89.214.238", "52.89.214.238, 127.0.0.1"];
      expect(await statusesOf([], forged)).toEqual({ statuses: [403, 403, 403, 403], stored: 0 });
    });

    it("behind a trusted proxy is the right-most hop that nobody trusts", async () => {
      const hops = [
        "52.89.214.238",
        "9.9.9.9, 34.212.75.30",
        "54.218.53.128, 127.0.0.1",
        "52.32.178.7, 9.9.9.9",
        undefined,
      ];
      expect(await statusesOf(["127.0.0.1"], hops)).toEqual({ statuses: [202, 202, 202, 403, 403], stored: 3 });
    });
  });

  it("the form is asked, each with its code", async () => {
    const { send } = await fixture();
    for (const [answer, status, code] of [
      [await send("x".repeat(4_097)), 413, "WEBHOOK_BODY_TOO_LARGE"],
      [await send("a=1", { headers: { "content-type": "application/xml" } }), 415, "WEBHOOK_CONTENT_TYPE"],
      [await send("{"), 400, "WEBHOOK_BODY_INVALID"],
      [await send("[]"), 400, "WEBHOOK_BODY_INVALID"],
    ] as const) {
      expect([answer.status, bodyOf(answer)["code"]]).toEqual([status, code]);
    }
  });

  it("at most twenty a minute are recorded of those that proved nothing", async () => {
    const { send, sent } = await fixture();
    for (let count = 0; count < 25; count += 1) await send("{");
    expect(sent()).toHaveLength(20);
  });
});

describe("a test of an alert", () => {
  const test = (server: Awaited<ReturnType<typeof fixture>>["server"], body: unknown) =>
    ask(server, "/v1/signals/test", posted(body));
  const passes = { would_accept: true, http_status: 202, code: "", detail: "", symbol: "AAPL", warnings: [] };

  it("answers 200 whatever is wrong with it, and records nothing", async () => {
    const { server, sent } = await fixture({ procedures: { "Oms/TestSignal": passes } });
    expect([(await test(server, alert)).status, bodyOf(await test(server, alert))]).toMatchObject([
      200,
      { would_accept: true, symbol: "AAPL" },
    ]);
    for (const [body, status] of [
      ["{", 400],
      ["x".repeat(4_097), 413],
      [{ ...alert, secret: "wrong" }, 401],
    ] as const) {
      const answer = await test(server, body);
      expect([answer.status, bodyOf(answer)]).toMatchObject([200, { would_accept: false, http_status: status }]);
    }
    expect(new Set(sent().map(({ name }) => name))).toEqual(new Set(["Oms/TestSignal"]));
    expect(JSON.stringify(sent())).not.toContain(secret);
  });
});
