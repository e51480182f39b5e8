// The charting webhook from outside, on a running platform behind a trusted proxy: every status and code with one request each, the exact rate, a rotation
// with its overlap, and no secret in anything that the platform wrote. A database that stands still is in webhook.ci.test.ts.
import { createHash } from "node:crypto";
import { TOTP } from "otpauth";
import { beforeAll, describe, expect, test } from "vitest";
import { fuzzWebhookOf } from "../testkit/fuzz/webhook-platform.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, pause } from "../testkit/platform.ts";
import { sharedPlatform } from "../testkit/shared/shared-platform.ts";
import {
  alertWith,
  filesWith,
  type SendOptions,
  type Sent,
  secondsNow,
  sendAlert,
  sendPaced,
  writeFundSecrets,
} from "../testkit/webhook-sender.ts";

const shared = sharedPlatform({ funds: 3, people: ["duty"] });
/** Of its three funds, in their order; the third gets refused alerts alone. */
const secrets = {
  first: "first-secret-0123456789",
  second: "second-secret-0123456789",
  third: "third-secret-0123456789",
};
let token: string;

beforeAll(async () => {
  token = (await logInAs(shared.platform, shared.person("duty"))).access_token;
  const values = Object.values(secrets);
  const ofFunds = shared.funds.map(({ fundId }, index) => [fundId, values[index] ?? ""]);
  await writeFundSecrets(shared.platform, Object.fromEntries(ofFunds));
});

type Changes = Readonly<Record<string, unknown>>;

const alertOf = (index: number, secret: string, changes: Changes = {}): string => {
  const { fundId, strategyId } = shared.funds[index] ?? shared.fund;
  return alertWith(secret, { fund_id: fundId, strategy_id: strategyId, ...changes });
};
const alert = (changes: Changes = {}) => alertOf(0, secrets.first, changes);
const send = (body: string, options: SendOptions = {}) => sendPaced(shared.platform, body, options);

async function operator(
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetchOnNewConnection(`${operatorUrl(shared.platform)}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

async function signals(query = "", { fundId } = shared.fund): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await operator("GET", `/v1/signals?count_max=500&fund_id=${fundId}${query}`)).body as Record<
    string,
    unknown
  >[];
}

/** A busy machine may not get to the secret in time and says so: then the same is sent again, as a sender does. */
async function judged(body: string): Promise<Sent> {
  for (let times = 1; ; times += 1) {
    const sent = await send(body);
    if (sent.status !== 503 || times === 20) return sent;
  }
}

describe("every status and code", () => {
  test("before the secret: path, method, size, address, type, JSON", async () => {
    const refused: [string, number, string, Promise<Sent>][] = [
      ["path", 404, "NOT_FOUND", send(alert(), { path: "/tradingview/webhook/" })],
      ["method", 405, "INVALID_ARGUMENT", send("", { method: "GET" })],
      ["size", 413, "WEBHOOK_BODY_TOO_LARGE", send(alert({ thesis: "x".repeat(4_096) }))],
      ["no hop", 403, "WEBHOOK_ADDRESS_NOT_ALLOWED", send(alert(), { from: null })],
      ["right-most hop", 403, "WEBHOOK_ADDRESS_NOT_ALLOWED", send(alert(), { from: "52.89.214.238, 9.9.9.9" })],
      ["type", 415, "WEBHOOK_CONTENT_TYPE", send(alert(), { type: "application/xml" })],
      ["JSON", 400, "WEBHOOK_BODY_INVALID", send('{"secret": "x"\n "fund_id": "alpha"}')],
    ];
    for (const [what, status, code, sending] of refused) {
      const { body, ...sent } = await sending;
      expect([what, sent.status, body["code"], typeof body["detail"]]).toEqual([what, status, code, "string"]);
      expect(sent.headers.get("content-type")).toContain("application/problem+json");
    }
    expect((await send('{"secret": "x"\n "fund_id": "alpha"}')).body["detail"]).toContain("line 2, column 2");
  });

  test("401 is one and the same answer", async () => {
    const tried = [
      alert({ secret: "wrong" }),
      alert({ secret: undefined }),
      alert({ fund_id: "delta" }),
      alert({ fund_id: shared.funds[2]?.fundId }),
    ];
    const shown = new Set<string>();
    for (const body of tried) {
      const { status, text, headers } = await judged(body);
      const same = [...headers].filter(([name]) => name !== "date" && name !== "x-request-id");
      shown.add(JSON.stringify([status, same, text.replace(headers.get("x-request-id") ?? "?", "ID")]));
    }
    expect([...shown]).toEqual([expect.stringContaining("WEBHOOK_SECRET_WRONG")]);
  });

  test("behind it: 202, both 409, and every 422", async () => {
    const first = alert({ thesis: "x".repeat(100) });
    const accepted = await send(first, { from: "9.9.9.9, 52.89.214.238" });
    expect([accepted.status, accepted.body]).toMatchObject([202, { status: "accepted", symbol: "AAPL", warnings: [] }]);
    const { idempotency_key } = JSON.parse(first) as { readonly idempotency_key: string };
    const { signal_id, order_id, received_at } = accepted.body;
    const original = { signal_id, order_id, received_at };
    expect(await send(first)).toMatchObject({ status: 409, body: { code: "WEBHOOK_KEY_DUPLICATE", original } });
    expect(await send(alert({ idempotency_key }))).toMatchObject({
      status: 409,
      body: { code: "WEBHOOK_KEY_REUSED", original },
    });
    expect(await send(alert({ idempotency_key: "no-time-in-it" }))).toMatchObject({
      status: 202,
      body: { warnings: ["NO_ALERT_TIME"] },
    });
    const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
      [{ quantity: 1 }, "FIELD_INVALID"],
      [{ sied: "buy" }, "FIELD_INVALID"],
      [{ side: "{{strategy.order.action}}" }, "PLACEHOLDER_UNRESOLVED"],
      [{ quantity: "NaN" }, "NOT_A_NUMBER"],
      [{ strategy_id: "beta-trend" }, "STRATEGY_UNKNOWN"],
      [{ prev_market_position: "long", market_position: "short" }, "REVERSAL"],
      [{ symbol: "XETR:SAP" }, "VENUE_UNKNOWN"],
      [{ symbol: "NASDAQ_DLY:AAPL" }, "FEED_DELAYED"],
      [{ symbol: "BYBIT:ETHUSDT.P" }, "SYMBOL_PERPETUAL"],
      [{ symbol: "CME_MINI:ES1!" }, "SYMBOL_CONTINUOUS"],
      [{ symbol: "NASDAQ:NONESUCH" }, "SYMBOL_UNKNOWN"],
      [{ timestamp: secondsNow(-400) }, "ALERT_TOO_OLD"],
      [{ timestamp: secondsNow(400) }, "ALERT_AHEAD"],
    ];
    for (const [changes, code] of wrong) {
      const { status, body } = await send(alert(changes));
      expect([status, body["code"], typeof body["signal_id"]]).toEqual([422, `WEBHOOK_${code}`, "string"]);
      expect(body["detail"]).toEqual(expect.stringMatching(/.{10}/));
    }
    const before = {
      prev_market_position: "short",
      prev_market_position_size: "77",
      market_position: "short",
      market_position_size: "76",
    };
    const mismatch = await send(alertOf(2, secrets.third, { symbol: "SPY", ...before }));
    expect([mismatch.status, mismatch.body["code"]]).toEqual([422, "WEBHOOK_POSITION_MISMATCH"]);
    await eventually(
      "the accepted ones are orders",
      async () => (await signals("&status=SUBMITTED")).length === 2,
      20_000,
    );
    const orders = (await operator("GET", `/v1/oms/orders?fund_id=${shared.fund.fundId}`)).body as {
      readonly order: { readonly order_id: string };
    }[];
    expect(orders.filter(({ order }) => order.order_id.startsWith("tv-"))).toHaveLength(2);
    const rows = [...(await signals()), ...(await signals("", shared.funds[2]))];
    expect(JSON.stringify(rows)).not.toContain(secrets.first);
    expect(rows.filter(({ status }) => status === "REFUSED").length).toBeGreaterThanOrEqual(wrong.length + 3);
  }, 60_000);
});

describe("the rate", () => {
  const windowMs = 1_000;
  const triesMax = 12;

  /** Until the last of those that were accepted is a window ago, by the platform's own record of when it came. */
  async function windowAfter(sent: readonly Sent[]): Promise<void> {
    const ids = new Set(sent.map(({ body }) => body["signal_id"]));
    const ours = (await signals()).filter(({ signal_id }) => ids.has(signal_id));
    const lastMs = Math.max(...ours.map(({ received_at }) => Date.parse(String(received_at))));
    await pause(Math.max(0, lastMs + windowMs - Date.now()) + 50);
  }

  /** A machine that stands still for a second gives the window back: then it is tried once more. */
  async function burst(): Promise<readonly Sent[]> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      await pause(1_100);
      const crypto = { symbol: "COINBASE:BTCUSD", quantity: "0.01" };
      const bodies = [
        ...Array.from({ length: 30 }, () => alert()),
        ...Array.from({ length: 10 }, () => alertOf(1, secrets.second, crypto)),
      ];
      const sent = await Promise.all(bodies.map((body) => sendAlert(shared.platform, body)));
      // Nor may it say in time what became of each.
      if (sent.some(({ status, tookMs }) => status === 503 && tookMs > 1_900)) continue;
      expect(sent.filter(({ status }) => status !== 202 && status !== 429)).toEqual([]);
      const both = [...(await signals()), ...(await signals("", shared.funds[1]))];
      const rows = new Map(both.map((row) => [row["signal_id"], Date.parse(String(row["received_at"]))]));
      const times = sent.map(({ body }) => rows.get(body["signal_id"]) ?? Number.NaN);
      if (Math.max(...times) - Math.min(...times) < 900) return sent;
    }
    throw new Error(`forty requests did not come in within 900 ms, ${triesMax} times`);
  }

  test("is exactly ten a second for a fund, whatever another one sends, and what it refused does not count", async () => {
    const sent = await burst();
    const statuses = (from: number, to: number) =>
      sent
        .slice(from, to)
        .map(({ status }) => status)
        .sort();
    expect(statuses(0, 30)).toEqual([...Array(10).fill(202), ...Array(20).fill(429)]);
    expect(statuses(30, 40)).toEqual(Array(10).fill(202));
    const refused = sent.filter(({ status }) => status === 429);
    for (const { headers, body } of refused)
      expect([headers.get("retry-after"), body["code"]]).toEqual(["1", "WEBHOOK_RATE_EXCEEDED"]);
    await windowAfter(sent);
    const next = await Promise.all(Array.from({ length: 10 }, () => sendAlert(shared.platform, alert())));
    // A busy machine may not say in time what became of one; refused for its rate is none.
    expect(next.filter(({ status }) => status !== 202 && status !== 503)).toEqual([]);
    const both = [...(await signals()), ...(await signals("", shared.funds[1]))];
    const rows = new Set(both.map(({ signal_id }) => signal_id));
    for (const { body } of [...sent, ...next]) expect(rows.has(body["signal_id"])).toBe(true);
  }, 90_000);
});

describe("the secret", () => {
  test("is rotated with an overlap in which both are good, then the new one alone; nothing that was written has it", async () => {
    const totp = new TOTP({ secret: shared.person("duty").totp_secret }).generate();
    const { fundId } = shared.fund;
    const parameters = { fund_id: fundId, overlap_s: 2 };
    const { proof } = (await operator("POST", "/v1/auth/step-up", { action: "RotateWebhookSecret", parameters, totp }))
      .body as { readonly proof: string };
    const path = `/v1/webhook/secrets/${fundId}/rotate`;
    expect(await operator("POST", path, { overlap_s: 2, reason: "planned" })).toMatchObject({
      status: 403,
      body: { code: "STEP_UP_REQUIRED" },
    });
    const rotated = await operator("POST", path, { overlap_s: 2, reason: "planned", step_up_proof: proof });
    expect(rotated).toMatchObject({ status: 201, body: { fund_id: fundId, version: 2 } });
    const { secret, previous_valid_until } = rotated.body as {
      readonly secret: string;
      readonly previous_valid_until: string;
    };
    const statusOf = async (one: string) => (await send(alertOf(0, one))).status;
    const both = [await statusOf(secret), await statusOf(secrets.first)];
    // A machine that stood still for the whole overlap has shown the end of it already.
    expect(both).toEqual([202, Date.now() < Date.parse(previous_valid_until) ? 202 : expect.any(Number)]);
    await pause(Math.max(0, Date.parse(previous_valid_until) - Date.now()) + 50);
    expect([await statusOf(secret), await statusOf(secrets.first)]).toEqual([202, 401]);
    const all = [secret, ...Object.values(secrets)];
    const hashes = all.map((one) => createHash("sha256").update(one).digest("hex"));
    expect(filesWith(shared.platform.dataFolder, [...all, ...hashes])).toEqual([]);
    for (const one of all) expect(shared.platform.stdout() + shared.platform.stderr()).not.toContain(one);
  }, 90_000);
});

test("200 wrong requests, whole, chunked, slow, pipelined and cut off, get the answers that they should and become no order", async () => {
  const [, second = shared.fund, third = shared.fund] = shared.funds;
  const funds = [
    { ...second, secret: secrets.second },
    { ...third, secret: secrets.third },
  ];
  const { violations, accepted } = await fuzzWebhookOf(shared.platform, { requests: 200, seed: 1, funds });
  expect([violations, accepted]).toEqual([[], 0]);
}, 60_000);
