// Connections that misbehave as such, below any message: those that say nothing, stop in the middle, send frames that make no sense, take
// no answers, or open and reset calls without end.
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import { encodeOrder, framed, goodOrder } from "./messages.ts";

export interface Target {
  /** host:port of the risk engine. */
  readonly address: string;
  readonly token: string;
}

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** Each may have 256 orders in hand, and the risk engine 2,048 of everybody. */
const unreadStreamCount = 4;
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

function socketTo({ address }: Target): Socket {
  const colon = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) });
  // Being refused and being cut off are both fine.
  socket.on("error", () => undefined);
  socket.on("data", () => undefined);
  return socket;
}

function sessionTo({ address }: Target, initialWindowSize?: number): ClientHttp2Session {
  const session = connectHttp2(`http://${address}`, {
    maxSessionMemory: 1_000,
    ...(initialWindowSize === undefined ? {} : { settings: { initialWindowSize } }),
  });
  session.on("error", () => undefined);
  return session;
}

function request(session: ClientHttp2Session, token: string, method: "CheckOrder" | "CheckOrders") {
  const stream = session.request({
    ":method": "POST",
    ":path": `/svc.v1.RiskEngine/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
  });
  stream.on("error", () => undefined);
  return stream;
}

/** A frame of any type, with any flags, on any stream, and a length that may be a lie. */
function randomFrame(prng: Prng): Buffer {
  const body = Buffer.from(prng.bytes(prng.below(120)));
  const header = Buffer.alloc(9);
  header.writeUIntBE(prng.chance(0.8) ? body.length : prng.below(2 ** 24), 0, 3);
  header.writeUInt8(prng.below(12), 3);
  header.writeUInt8(prng.chance(0.5) ? prng.below(256) : 0, 4);
  header.writeUInt32BE(prng.chance(0.5) ? prng.below(10) : prng.word(), 5);
  return Buffer.concat([header, body]);
}

/** So many connections, one after the other, each with a beginning that is right and a rest that is not. */
export async function brokenFrames(target: Target, prng: Prng, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const socket = socketTo(target);
    const beginning = [preface, settings].slice(0, prng.below(3));
    socket.write(Buffer.concat([...beginning, ...Array.from({ length: 1 + prng.below(20) }, () => randomFrame(prng))]));
    await pause(5);
    if (prng.chance(0.5)) socket.destroy();
    else socket.end();
  }
}

/** Connections that stay for a while: some silent, some in the middle of the preface, some with a call that never goes on. */
export async function crowd(target: Target, prng: Prng, count: number, stayMs: number): Promise<void> {
  const sockets: Socket[] = [];
  const sessions: ClientHttp2Session[] = [];
  for (let at = 0; at < count; at += 1) {
    if (prng.chance(0.5)) {
      const socket = socketTo(target);
      if (prng.chance(0.5)) socket.write(preface.subarray(0, prng.below(preface.length)));
      sockets.push(socket);
    } else {
      const session = sessionTo(target);
      const stream = request(session, target.token, prng.chance(0.5) ? "CheckOrder" : "CheckOrders");
      stream.write(framed(encodeOrder(goodOrder("unfinished"))).subarray(0, prng.below(100)));
      sessions.push(session);
    }
  }
  await pause(stayMs);
  for (const socket of sockets) socket.destroy();
  for (const session of sessions) session.destroy();
}

/** Calls that are opened and reset at once. */
export async function rapidResets(target: Target, name: string, count: number): Promise<void> {
  let session = sessionTo(target);
  for (let at = 0; at < count; at += 1) {
    if (session.closed || session.destroyed) session = sessionTo(target);
    const stream = request(session, target.token, "CheckOrder");
    stream.end(framed(encodeOrder(goodOrder(`${name}-reset-${at}`))));
    stream.close(constants.NGHTTP2_CANCEL);
    if (at % 50 === 0) await pause(1);
  }
  session.destroy();
}

/** Streams that ask and ask and take no answer, because their window stays closed; few enough to leave room for others. */
export async function neverReading(target: Target, name: string, orderCount: number): Promise<void> {
  const session = sessionTo(target, 0);
  // A server that has enough of it may hang up at any point.
  for (let at = 0; at < unreadStreamCount && !session.destroyed; at += 1) {
    const stream = request(session, target.token, "CheckOrders");
    for (let order = 0; order < orderCount && !stream.destroyed; order += 1) {
      stream.write(framed(encodeOrder(goodOrder(`${name}-unread-${at}-${order}`))));
      // Those beside it in this process want their turn as well.
      if (order % 100 === 0) await pause(0);
    }
  }
  // tidy: sleeps because the answers stand unread for as long.
  await pause(1_000);
  session.destroy();
}
