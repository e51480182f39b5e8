// Requests for the charting webhook, each wrong in one way that is known: from the first line to the last field of an alert that proved its secret. None may
// ever become an order, and for each it is known which statuses it may get.
import { publishedAddress, secondsNow } from "../webhook-sender.ts";
import { pick, type Random } from "./values.ts";

export interface WebhookRequest {
  /** What is wrong with it. */
  readonly wrong: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Sent in pieces of a chunked body. */
  readonly chunked: boolean;
  readonly statuses: readonly number[];
  /** Whether the connection cannot be used after it. */
  readonly ends: boolean;
  /** No HTTP: it is answered on a connection of its own, and cuts off the answers to what came before it on another. */
  readonly alone: boolean;
}

export interface FuzzedFund {
  readonly fundId: string;
  readonly strategyId: string;
  readonly secret: string;
}

type Fields = Readonly<Record<string, unknown>>;

const path = "/tradingview/webhook";
const plain = (from: string = publishedAddress) =>
  [
    ["content-type", "text/plain; charset=utf-8"],
    ["x-forwarded-for", from],
  ] as const;

/** Values that no field takes; for `thesis` and `actor`, which take any text, the last ones. */
const wrongValues: readonly unknown[] = [
  null,
  true,
  7,
  -0.5,
  1e308,
  [],
  ["1"],
  {},
  { toString: "1" },
  "{{strategy.order.action}}",
  "NaN",
  "-1",
  "1e5",
  "0x10",
  "１",
  " ",
  "\u0000",
  "\u202e1",
  "' or 1=1 --",
  "../../etc/passwd",
  "9".repeat(400),
];
const wrongSymbols = [
  "XETR:SAP",
  "NASDAQ_DLY:AAPL",
  "BYBIT:ETHUSDT.P",
  "CME_MINI:ES1!",
  "NASDAQ:NONESUCH",
  "A/B",
  ":",
  "::",
  "BINANCE:",
];
const textFields = ["actor", "thesis"];
const fieldNames = ["strategy_id", "symbol", "side", "quantity", "order_type", "idempotency_key", "tif", "limit_price"];
const otherNames = ["sied", "Secret", "fund-id", "constructor_", "toString", "price", "x".repeat(300), "\u0000", "é"];

function alertOf(random: Random, { fundId, strategyId, secret }: FuzzedFund): Record<string, unknown> {
  const number = Math.floor(random() * 2 ** 32).toString(36);
  return {
    secret,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol: "NASDAQ:AAPL",
    side: "buy",
    quantity: "1",
    order_type: "MARKET",
    idempotency_key: `fuzz-${number}-${secondsNow()}`,
  };
}

/** Wrong in a field, behind the secret: 422, or 429 when it came too often. */
function wrongFields(random: Random, alert: Record<string, unknown>): Fields {
  const kind = Math.floor(random() * 6);
  if (kind === 0) return { ...alert, symbol: pick(random, wrongSymbols) };
  if (kind === 1) return { ...alert, [pick(random, otherNames)]: "1" };
  if (kind === 2) return { ...alert, timestamp: secondsNow(pick(random, [-301, -4_000, 120, 90_000, -3e9])) };
  if (kind === 3)
    return { ...alert, strategy_id: pick(random, ["nobody", "beta", "ALPHA-MOMENTUM", "alpha-momentum "]) };
  if (kind === 4)
    return { ...alert, [pick(random, ["symbol", "side", "quantity", "order_type", "idempotency_key"])]: undefined };
  return withWrongValue(random, alert);
}

function withWrongValue(random: Random, alert: Record<string, unknown>): Fields {
  if (random() < 0.1) return { ...alert, [pick(random, textFields)]: pick(random, [7, true, [], {}]) };
  const name = pick(random, fieldNames);
  const value = pick(random, wrongValues);
  // A key may be almost any text, and null and nothing are for an optional field as if it was not there.
  const isRight = (name === "idempotency_key" && typeof value === "string") || name === "tif" || name === "limit_price";
  return { ...alert, [name]: isRight ? { deep: value } : value };
}

/** Bytes that are no JSON object, or no strict one. */
function wrongBytes(random: Random, text: string): Buffer {
  const cut = Math.floor(random() * (text.length - 1));
  const bytes = Buffer.from(text);
  const made: readonly (() => Buffer)[] = [
    () => bytes.subarray(0, cut),
    () => Buffer.concat([bytes, Buffer.from(pick(random, ["}", ",", " x", "\u0000", "[]"]))]),
    () => Buffer.concat([bytes.subarray(0, cut), Buffer.from([0xff, 0xfe]), bytes.subarray(cut)]),
    () => Buffer.from(text.replace("{", '{"quantity":"1",')),
    () => Buffer.from(text.replace("{", '{"__proto__":{"side":"sell"},')),
    () => Buffer.from(`${"[".repeat(200)}${"]".repeat(200)}`),
    () => Buffer.from(pick(random, ["[]", "null", "1", '"x"', "", "{", "NaN", "secret=x&fund_id=alpha"])),
    () => Buffer.from(text.replaceAll('"', "'")),
    () => Buffer.from(text.replace(":", ":\u00a0")),
    () => Buffer.from(`${text.slice(0, -1)},}`),
  ];
  return pick(random, made)();
}

const request = (
  wrong: string,
  statuses: readonly number[],
  body: Buffer | string,
  more: Partial<WebhookRequest> = {},
): WebhookRequest => ({
  wrong,
  method: "POST",
  path,
  headers: plain(),
  body: typeof body === "string" ? Buffer.from(body) : body,
  chunked: false,
  statuses,
  ends: false,
  alone: false,
  ...more,
});

/** Wrong before a byte of the body counts. */
function wrongHead(random: Random, text: string): WebhookRequest {
  const made: readonly (() => WebhookRequest)[] = [
    () => request("method", [404, 405], text, { method: pick(random, ["PUT", "PATCH", "DELETE", "OPTIONS"]) }),
    () =>
      request("path", [404], text, {
        path: pick(random, [`${path}/`, `${path}/x`, "/tradingview", `${path}%00`, "//tradingview/webhook"]),
      }),
    () =>
      request("address", [403], text, {
        headers: plain(pick(random, ["9.9.9.9", `${publishedAddress}, 9.9.9.9`, "", "unknown", "::1"])),
        ends: true,
      }),
    () => request("no address", [403], text, { headers: plain().slice(0, 1), ends: true }),
    () =>
      request("content type", [415], text, {
        headers: [
          [
            "content-type",
            pick(random, [
              "application/xml",
              "multipart/form-data",
              "application/x-www-form-urlencoded",
              "text/html",
              "json",
            ]),
          ],
          ...plain().slice(1),
        ],
      }),
    () => request("declared size", [413], Buffer.alloc(4_097 + Math.floor(random() * 60_000), "x"), { ends: true }),
    () =>
      request("size of chunks", [413], Buffer.alloc(4_097 + Math.floor(random() * 20_000), " "), {
        chunked: true,
        ends: true,
      }),
    () =>
      request("two lengths", [400], text, { headers: [...plain(), ["content-length", "1"]], ends: true, alone: true }),
    () =>
      request("length and chunks", [400], text, {
        headers: [...plain(), ["content-length", "3"]],
        chunked: true,
        ends: true,
        alone: true,
      }),
    () =>
      request("header", [400, 431], text, {
        headers: [...plain(), ["x-long", "y".repeat(20_000)]],
        ends: true,
        alone: true,
      }),
  ];
  return pick(random, made)();
}

/** The next one; the share of each kind is chosen so that all the checks are reached. */
export function wrongWebhookRequest(random: Random, funds: readonly FuzzedFund[]): WebhookRequest {
  const fund = pick(random, funds);
  const alert = alertOf(random, fund);
  const text = JSON.stringify(alert);
  const drawn = random();
  const chunked = random() < 0.3;
  if (drawn < 0.2) return wrongHead(random, text);
  if (drawn < 0.45) return request("bytes", [400], wrongBytes(random, text), { chunked });
  if (drawn < 0.8) {
    const secret = pick(random, [
      undefined,
      "",
      "wrong",
      `${fund.secret}x`,
      fund.secret.slice(1),
      7,
      null,
      [fund.secret],
    ]);
    const fundId = random() < 0.3 ? pick(random, ["nobody", "", "__proto__", 7, "alpha\u0000"]) : fund.fundId;
    const full = random() < 0.05 ? padded({ ...alert, secret, fund_id: fundId }, 4_096) : undefined;
    return request("secret", [401], full ?? JSON.stringify({ ...alert, secret, fund_id: fundId }), { chunked });
  }
  return request("fields", [422, 429], JSON.stringify(wrongFields(random, alert)), { chunked });
}

/** Exactly as large as is taken. */
function padded(fields: Fields, bytes: number): string {
  const text = JSON.stringify(fields);
  return text + " ".repeat(Math.max(0, bytes - Buffer.byteLength(text)));
}

export function bytesOf({ method, path: target, headers, body, chunked }: WebhookRequest, random: Random): Buffer {
  const framed = chunked ? chunks(body, random) : body;
  const length = chunked ? ["transfer-encoding", "chunked"] : ["content-length", String(body.length)];
  const lines = [...headers, length].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\nhost: hooks.example.com\r\n${lines}\r\n`),
    framed,
  ]);
}

function chunks(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let offset = 0; offset < body.length; ) {
    const size = Math.min(body.length - offset, 1 + Math.floor(random() * 700));
    parts.push(Buffer.from(`${size.toString(16)}\r\n`), body.subarray(offset, offset + size), Buffer.from("\r\n"));
    offset += size;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}
