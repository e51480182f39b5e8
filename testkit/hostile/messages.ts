// What hostile clients send where an order is expected, made from a seed: orders that are wrong in a field, bytes that are nearly orders,
// bytes that never were, and frames that lie about what is in them. Each says what may be answered at most.
import { gzipSync } from "node:zlib";
import { decodeStrictly } from "../../adapters/grpc/codecs.ts";
import { codecOf } from "../../adapters/grpc/definitions.ts";
import { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { order as orderRecord } from "../../contracts/src/records/order.ts";
import type { Prng } from "../virtual/prng.ts";

/** What may come back: "a decision" of any kind, a decision in which the "schema" gate says no, or "no decision" at all. */
export type Allowed = "a decision" | "schema" | "no decision";

export interface HostileMessage {
  readonly kind: string;
  /** Everything that follows the headers. */
  readonly frame: Buffer;
  readonly allowed: Allowed;
  /** The header `grpc-encoding`, if any. */
  readonly encoding?: string;
}

/** The risk engine's bound on one message. */
const orderBytesMax = 65_536;

/** An order that nothing is wrong with. */
export function goodOrder(id: string, differs: Partial<Order> = {}): Order {
  return {
    idempotency_key: id,
    order_id: id,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "hostile",
    ...differs,
  };
}

export const encodeOrder = (order: Order): Buffer => Buffer.from(Order.encode(order).finish());

/** The five bytes before a message, and the message. */
export function framed(payload: Buffer, { flag = 0, length = payload.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag, 0);
  prefix.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([prefix, payload]);
}

const nastyTexts: readonly string[] = [
  ...["", " ", "\0", "a\0b", "\u202eevil", "\ufeff", "\u2028", "\r\n\r\nHTTP/1.1 200 OK", "\u001b[2J", "%s%n%x"],
  ...["'; drop table risk_journal; --", "$" + "{jndi:ldap://x}", "__proto__", "constructor", "../../../etc/passwd"],
  ...["NaN", "Infinity", "-1", "0", "-0", "+1", "1e5", "0x1F", "\u0661\u0662", "1,000", "1.", ".5", "00001", "1_000"],
  ...["9".repeat(20), "9".repeat(21), `0.${"0".repeat(17)}1`, `0.${"0".repeat(18)}1`, "1".repeat(64), "1".repeat(65)],
  ...["x".repeat(128), "x".repeat(129), "x".repeat(200), "x".repeat(201), "x".repeat(5_000), "\u{1f680}".repeat(60)],
  ...["true", "null", "undefined", "[object Object]", "2026-13-45T99:99:99Z", "9999-12-31T23:59:60Z", "buy", "BUY "],
  ...["beta", "beta-trend", "BTC-USD", "SELL", "SELL_SHORT", "LIMIT", "STOP_LIMIT", "GTD", "CRYPTO", "alpaca", "EUR"],
];

const nastyNumbers: readonly number[] = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, -1, 0, 5e-324, 1e-18, 1e-19, 0.1],
  ...[Number.MAX_VALUE, 1e20, 1e21, 2 ** 53, 2 ** 53 + 2, 1 / 3],
];

const textFields = Object.keys(goodOrder("")) as readonly (keyof Order)[];
const optionalFields = [
  "limit_price",
  "stop_price",
  "expires_at",
  "venue",
  "currency",
  "thesis",
  "created_at",
] as const;
/** The numbers of the order's text fields on the wire. */
const textFieldNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 21] as const;

type Maker = (prng: Prng, id: string) => Omit<HostileMessage, "kind">;

const pick = <Value>(prng: Prng, from: readonly Value[]): Value => {
  const picked = from[prng.below(from.length)];
  if (picked === undefined) throw new Error("there is nothing to pick from");
  return picked;
};

function spoiltOrder(prng: Prng, id: string): Order {
  const spoilt: Record<string, unknown> = { ...goodOrder(id) };
  for (let count = 1 + prng.below(3); count > 0; count -= 1) {
    const place = prng.below(10);
    if (place === 0) spoilt["notional"] = pick(prng, nastyNumbers);
    else if (place === 1) spoilt[pick(prng, ["reduce_only", "dry_run"])] = true;
    else spoilt[pick(prng, place < 7 ? textFields : optionalFields)] = pick(prng, nastyTexts);
  }
  return spoilt as unknown as Order;
}

function changed(prng: Prng, bytes: Buffer): Buffer {
  let made = Buffer.from(bytes);
  for (let count = 1 + prng.below(6); count > 0; count -= 1) {
    const at = prng.below(made.length + 1);
    const how = prng.below(4);
    const own = Buffer.from(prng.bytes(1 + prng.below(4)));
    if (how === 0) made = Buffer.concat([made.subarray(0, at), own, made.subarray(at)]);
    else if (how === 1) made = Buffer.concat([made.subarray(0, at), made.subarray(at + 1 + prng.below(5))]);
    else if (how === 2) made = Buffer.from(made.subarray(0, at));
    else if (at < made.length) made[at] = prng.below(256);
  }
  return made;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

const field = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);

function manyFields(prng: Prng, id: string): Buffer {
  const good = encodeOrder(goodOrder(id));
  const how = prng.below(4);
  const times = 1_000 + prng.below(9_000);
  if (how === 0)
    return Buffer.concat([good, ...Array.from({ length: times }, (_, at) => field(100 + at, Buffer.from("x")))]);
  if (how === 1) return Buffer.concat([...Array.from({ length: times }, () => field(1, Buffer.from("again"))), good]);
  // Groups inside groups, with and without their ends.
  const opened = Buffer.concat(Array.from({ length: times }, () => varint(99 * 8 + 3)));
  const closed = Buffer.concat(Array.from({ length: times }, () => varint(99 * 8 + 4)));
  return Buffer.concat(how === 2 ? [good, opened, closed] : [good, opened]);
}

const badUtf8: readonly Buffer[] = [
  [0xff],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x41, 0x80],
  [0xe2, 0x82],
  [0xfe, 0xfe],
].map((bytes) => Buffer.from(bytes)); // prettier-ignore

const wrongWires: readonly Buffer[] = [
  Buffer.concat([varint(1 * 8 + 0), varint(7)]),
  Buffer.concat([varint(7 * 8 + 1), Buffer.alloc(8, 1)]),
  Buffer.concat([varint(15 * 8 + 2), varint(8), Buffer.alloc(8, 0x7f)]),
  Buffer.concat([varint(20 * 8 + 5), Buffer.alloc(4, 1)]),
  Buffer.concat([varint(2 * 8 + 6), Buffer.alloc(4)]),
  Buffer.concat([varint(2 * 8 + 7), Buffer.alloc(4)]),
  Buffer.from([0x00, 0x01]),
  Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
];

/** What bytes that came whole may be answered with. */
export function allowedFor(payload: Buffer): Allowed {
  if (payload.length > orderBytesMax) return "no decision";
  let order: Order;
  try {
    order = decodeStrictly(codecOf("svc.v1.Order"), payload) as Order;
  } catch {
    // That it cannot be read is the answer.
    return "no decision";
  }
  return isOrder(order) ? "a decision" : "schema";
}

/** By the record's schema, which the schema gate does not use, and the rules between fields that need no knowledge of the world. */
function isOrder(order: Order): boolean {
  const present = Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
  const { success, data } = orderRecord.safeParse(present);
  if (!success || Object.is(order.notional, -0)) return false;
  const limited = data.order_type === "LIMIT" || data.order_type === "STOP_LIMIT";
  const stopped = data.order_type === "STOP" || data.order_type === "STOP_LIMIT";
  if ((limited && data.limit_price === undefined) || (stopped && data.stop_price === undefined)) return false;
  if ((!limited && data.limit_price !== undefined) || (!stopped && data.stop_price !== undefined)) return false;
  if (
    [data.limit_price, data.stop_price].some((price) => price !== undefined && !/[1-9]/.test(price.replace(/^-.*/, "")))
  ) {
    return false;
  }
  return (data.tif === "GTD") === (data.expires_at !== undefined);
}

const whole = (payload: Buffer): Omit<HostileMessage, "kind"> => ({
  frame: framed(payload),
  allowed: allowedFor(payload),
});
const never = (frame: Buffer): Omit<HostileMessage, "kind"> => ({ frame, allowed: "no decision" });

/** Makers by kind, with how often each is drawn; what is large is drawn seldom, because there are many. */
const makers: readonly (readonly [kind: string, weight: number, make: Maker])[] = [
  ["an ordinary order", 40, (_prng, id) => whole(encodeOrder(goodOrder(id)))],
  ["an order with hostile fields", 400, (prng, id) => whole(encodeOrder(spoiltOrder(prng, id)))],
  ["an order with changed bytes", 250, (prng, id) => whole(changed(prng, encodeOrder(goodOrder(id))))],
  ["noise", 60, (prng) => whole(Buffer.from(prng.bytes(prng.below(2_000))))],
  ["an empty message", 10, () => whole(Buffer.alloc(0))],
  ["a hostile number", 40, (prng, id) => whole(encodeOrder(goodOrder(id, { notional: pick(prng, nastyNumbers) })))],
  [
    "text that is not UTF-8",
    40,
    (prng, id) => {
      const bad = field(pick(prng, textFieldNumbers), pick(prng, badUtf8));
      return never(framed(Buffer.concat([encodeOrder(goodOrder(id)), bad])));
    },
  ],
  ["another wire type", 40, (prng, id) => whole(Buffer.concat([encodeOrder(goodOrder(id)), pick(prng, wrongWires)]))],
  [
    "bytes after the end",
    30,
    (prng, id) => {
      // A tag that is zero, or one that ends a group which never began: a reader that stops there has not read everything.
      const end = prng.chance(0.3) ? Buffer.from([0]) : varint((1 + prng.below(40)) * 8 + 4);
      const more = prng.chance(0.5) ? Buffer.from(prng.bytes(1 + prng.below(60))) : encodeOrder(goodOrder(`${id}b`));
      return never(framed(Buffer.concat([encodeOrder(goodOrder(id)), end, more])));
    },
  ],
  ["thousands of fields", 6, (prng, id) => whole(manyFields(prng, id))],
  [
    "a huge text",
    4,
    (prng, id) => {
      const huge = Buffer.alloc(10_000 + prng.below(prng.chance(0.5) ? 50_000 : 1_000_000), 0x61);
      return whole(Buffer.concat([encodeOrder(goodOrder(id)), field(pick(prng, textFieldNumbers), huge)]));
    },
  ],
  ["a length beyond the bytes", 30, (prng, id) => lying(encodeOrder(goodOrder(id)), 1 + prng.below(1_000))],
  ["a length short of the bytes", 30, (prng, id) => lying(encodeOrder(goodOrder(id)), -1 - prng.below(60))],
  ["a length beyond the limit", 10, (_prng, id) => never(framed(encodeOrder(goodOrder(id)), { length: 0xffff_ffff }))],
  [
    "a frame that breaks off",
    40,
    (prng, id) => {
      const frame = framed(encodeOrder(goodOrder(id)));
      return never(Buffer.from(frame.subarray(0, prng.below(frame.length))));
    },
  ],
  [
    "two messages for one",
    20,
    (_prng, id) => never(Buffer.concat([framed(encodeOrder(goodOrder(id))), framed(encodeOrder(goodOrder(`${id}b`)))])),
  ],
  // The library takes these for what they are without their flag, and so do we: the bytes are the order, whole and unchanged.
  ["a compressed flag and no encoding", 20, (prng, id) => flagged(spoiltOrder(prng, id), 1)],
  ["an unknown flag", 10, (prng, id) => flagged(spoiltOrder(prng, id), 2 + prng.below(254))],
  [
    "noise that calls itself gzip",
    10,
    (prng) => ({ ...never(framed(Buffer.from(prng.bytes(200)), { flag: 1 })), encoding: "gzip" }),
  ],
  [
    "an unknown encoding",
    10,
    (_prng, id) => ({ ...never(framed(encodeOrder(goodOrder(id)), { flag: 1 })), encoding: "brotli" }),
  ],
];

function lying(payload: Buffer, by: number): Omit<HostileMessage, "kind"> {
  return never(framed(payload, { length: payload.length + by }));
}

function flagged(order: Order, flag: number): Omit<HostileMessage, "kind"> {
  const payload = encodeOrder(order);
  return { frame: framed(payload, { flag }), allowed: allowedFor(payload) };
}

const weights = makers.reduce((sum, [, weight]) => sum + weight, 0);

export function hostileMessage(prng: Prng, id: string): HostileMessage {
  let at = prng.below(weights);
  for (const [kind, weight, make] of makers) {
    if (at < weight) return { kind, ...make(prng, id) };
    at -= weight;
  }
  throw new Error("the weights do not add up");
}

/** Too large to come often: more than a message may have, and little that becomes much. */
export function giantMessages(id: string): readonly HostileMessage[] {
  const good = encodeOrder(goodOrder(id));
  const thesis = (length: number): Buffer => Buffer.concat([good, field(19, Buffer.alloc(length, 0x61))]);
  const justFits = thesis(orderBytesMax - good.length - 5);
  const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
  return [
    { kind: "as much as a message may have", ...whole(justFits) },
    { kind: "a little more than a message may have", ...whole(thesis(orderBytesMax - good.length)) },
    { kind: "far more than a message may have", ...whole(thesis(8 * 1_048_576)) },
    {
      kind: "a thousand messages' worth of nothing, compressed",
      ...never(framed(bomb, { flag: 1 })),
      encoding: "gzip",
    },
    { kind: "too much, compressed", ...never(framed(gzipSync(thesis(1_048_576)), { flag: 1 })), encoding: "gzip" },
  ];
}
