// Calls that begin and are never completed, through real sockets: they are counted and timed from their headers on, and end on
// the wire whether their caller ends them or not. The numbers are those of the gate's header.

import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RpcService } from "../../ports/rpc.ts";
import type { Timers } from "../../ports/timers.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { type GrpcLimits, grpcLimitsDefault } from "./limits.ts";
import { serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const listFunds = "/svc.v1.Treasury/ListFunds";
const reflect = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const watch = "/grpc.health.v1.Health/Watch";
const emptyMessage = Buffer.alloc(5);
const hourMs = 3_600_000;

async function serve(
  limits: Partial<GrpcLimits>,
  ListFunds = async (): Promise<unknown> => ({ funds: [] }),
  ports: { readonly clock?: Clock; readonly timers?: Timers } = {},
) {
  const treasury: RpcService = { name: "Treasury", handlers: { ListFunds } };
  const test = testPorts();
  const verifier = testVerifier();
  const server = await serveGrpc({
    ...test.ports,
    ...ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [treasury],
    health: () => ({ status: "ok" }),
    verifier,
    metricsJson: async () => "[]",
    limits,
  });
  closers.push(() => server.drain(0));
  const client = testClient(server.address, { token: everyRole });
  closers.push(() => client.close());
  const port = "port" in server.address ? server.address.port : 0;
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  closers.push(() => session.destroy());
  // Its limits are known from here on.
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  return { client, session, port, verifier, ...test };
}

/** Headers and perhaps some bytes, and never an end. */
function open(session: ClientHttp2Session, path: string, bytes = Buffer.alloc(0)): ClientHttp2Stream {
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${everyRole}`,
  };
  const stream = session.request(headers, { endStream: false });
  stream.on("error", () => undefined);
  stream.resume();
  if (bytes.length > 0) stream.write(bytes);
  return stream;
}

/** The status that a call got, once the server has closed its stream; the caller's side stays open until then. */
function outcome(stream: ClientHttp2Stream): Promise<unknown> {
  return new Promise((resolve) => {
    let reported: unknown = "nothing";
    const listen = (headers: Record<string, unknown>): void => {
      reported = headers["grpc-status"] ?? reported;
    };
    stream.on("response", listen);
    stream.on("trailers", listen);
    stream.once("close", () => resolve(reported));
  });
}

const deadlineExceeded = "4";
const resourceExhausted = "8";

describe("calls that are never completed", () => {
  it("are all given up, closed and told so (2, 3)", async () => {
    const { session, observations } = await serve({ callMsMax: 300, streamsPerConnectionMax: 600 });
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome(open(session, listFunds))));
    expect(new Set(outcomes)).toEqual(new Set([deadlineExceeded]));
    expect(observations.filter(({ name }) => name === "portcullis_rpc_refused_total")).toHaveLength(500);
  });

  it.each([
    ["a whole message and no end", listFunds, emptyMessage],
    ["half a message", listFunds, Buffer.from([0, 0, 0, 0, 9, 1, 2])],
    ["a stream without a first message", reflect, Buffer.alloc(0)],
    ["a watch without its question", watch, Buffer.alloc(0)],
  ])("%s", async (_name, path, bytes) => {
    const { session } = await serve({ callMsMax: 100 });
    expect(await outcome(open(session, path, bytes))).toBe(deadlineExceeded);
  });

  it("count from their headers on, and no longer than they live (1)", async () => {
    const timers = seenTimers();
    const limits = { callsInFlightMax: 3, callMsMax: hourMs, requestMsMax: hourMs };
    const { session, client } = await serve(limits, undefined, { timers });
    const held = [1, 2, 3].map(() => outcome(open(session, listFunds)));
    await expect.poll(async () => (await client.call("Treasury", "ListFunds", {})).status).toBe("RESOURCE_EXHAUSTED");
    expect(await outcome(open(session, listFunds))).toBe(resourceExhausted);
    expect(timers.pendingOf(hourMs)).toBe(3);
    timers.fire(hourMs);
    expect(await Promise.all(held)).toEqual([deadlineExceeded, deadlineExceeded, deadlineExceeded]);
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("OK");
  });

  it("leave no count behind when their caller takes them back at once (1)", async () => {
    const { session, client } = await serve({ callsInFlightMax: 5 });
    for (let round = 0; round < 10; round += 1) {
      const streams = Array.from({ length: 20 }, () => open(session, listFunds));
      for (const [at, stream] of streams.entries()) {
        if (at % 2 === 0) stream.close(8);
        else setTimeout(() => stream.close(8), at % 5);
      }
      // Node's client may never tell the end of a call whose two resets crossed, so nobody waits for long.
      await Promise.race([Promise.all(streams.map(outcome)), sleep(200)]);
    }
    const five = () => Promise.all(Array.from({ length: 5 }, () => client.call("Treasury", "ListFunds", {})));
    await expect.poll(async () => (await five()).map(({ status }) => status)).toEqual(["OK", "OK", "OK", "OK", "OK"]);
  });
});

describe("calls that take their time", () => {
  it("have one bound for the request and its answer together (2)", async () => {
    const { clock } = testPorts().ports;
    // The headers come almost an hour ago, so that little of the bound is left; a second bound that began with the answer would be an hour.
    let agoMs = hourMs - 1_000;
    const past = { now: () => minusMilliseconds(clock.now(), agoMs) };
    const { session, verifier } = await serve(
      { callMsMax: hourMs, requestMsMax: hourMs },
      () => new Promise(() => undefined),
      { clock: past },
    );
    const stream = open(session, listFunds);
    const ended = outcome(stream);
    await expect.poll(() => verifier.asked).toHaveLength(1);
    agoMs = 0;
    stream.end(emptyMessage);
    expect(await ended).toBe(deadlineExceeded);
  });

  it("are left alone when they are streams that have begun", async () => {
    const { session } = await serve({ callMsMax: 100 });
    const watching = open(session, watch);
    watching.end(emptyMessage);
    const reflecting = open(session, reflect, emptyMessage);
    // One that begins later and is never complete is given up: by then the bound of the two others is over as well.
    expect(await outcome(open(session, listFunds))).toBe(deadlineExceeded);
    expect([watching.closed, reflecting.closed]).toEqual([false, false]);
  });
});

describe("one connection", () => {
  it("has at most so many calls at once, also when its caller does not care", async () => {
    expect(grpcLimitsDefault.streamsPerConnectionMax).toBeLessThanOrEqual(256);
    const { port } = await serve({ streamsPerConnectionMax: 4, callMsMax: 300 });
    const frame = (type: number, flags: number, id: number, payload: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, id]), payload]);
    const text = (words: string): Buffer => Buffer.concat([Buffer.from([words.length]), Buffer.from(words)]);
    // POST and http from the static table, then the host, the path, the content type and the token spelt out.
    const headers = Buffer.concat([
      Buffer.from([0x83, 0x86, 0x01]),
      text("a"),
      Buffer.from([0x04]),
      text(listFunds),
      Buffer.from([0x0f, 0x10]),
      text("application/grpc"),
      Buffer.from([0x0f, 0x08]),
      text(`Bearer ${everyRole}`),
    ]);
    const opened = Array.from({ length: 10 }, (_, at) => frame(1, 4, at * 2 + 1, headers));
    const preface = [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0))];
    const socket = connect({ host: "127.0.0.1", port });
    closers.push(() => socket.destroy());
    const received: Buffer[] = [];
    socket.on("data", (chunk) => received.push(chunk));
    socket.write(Buffer.concat([...preface, ...opened]));
    await expect.poll(() => resets(Buffer.concat(received)).length).toBe(10);
    const codes = resets(Buffer.concat(received));
    // Six are refused (7), four are given up after their time and closed without an error (0).
    expect(codes.sort()).toEqual([0, 0, 0, 0, 7, 7, 7, 7, 7, 7]);
  });
});

/** The error codes of the RST_STREAM frames among the bytes. */
function resets(bytes: Buffer): number[] {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === 3 && at + 13 <= bytes.length) codes.push(bytes.readUInt32BE(at + 9));
  }
  return codes;
}
