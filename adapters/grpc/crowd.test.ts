// Callers that take more than their share of a gRPC server, through real sockets: silent connections, floods of refused calls, health
// watchers.
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Timers } from "../../ports/timers.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { systemTimers } from "../system/timers.ts";
import type { GrpcLimits } from "./limits.ts";
import { serveGrpc } from "./server.ts";

const hourMs = 3_600_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.restoreAllMocks();
});

async function serve(limits: Partial<GrpcLimits> = {}, timers: Timers = systemTimers()) {
  const test = testPorts();
  const server = await serveGrpc({
    ...test.ports,
    timers,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
    limits,
  });
  closers.push(() => server.drain(0));
  const port = "port" in server.address ? server.address.port : 0;
  const client = () => {
    const made = testClient(server.address, { token: everyRole });
    closers.push(() => made.close());
    return made;
  };
  return { server, port, client, ...test };
}

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

async function hog(port: number, count: number, first: Buffer): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ host: "127.0.0.1", port }));
  closers.push(() => sockets.forEach((socket) => void socket.destroy()));
  await Promise.all(
    sockets.map((socket) => {
      socket.on("error", () => undefined).resume();
      return new Promise<void>((resolve) => socket.once("connect", () => socket.write(first, () => resolve())));
    }),
  );
  return sockets;
}

describe("a crowd of connections", () => {
  it.each([
    ["silent", Buffer.alloc(0)],
    ["half way through the preface", preface.subarray(0, 10)],
    ["without settings", preface],
    ["speaking HTTP/2 and making no call", Buffer.concat([preface, settings])],
  ])("that are %s does not keep others out", async (_name, first) => {
    const { port, client } = await serve({ connectionsMax: 20 });
    const sockets = await hog(port, 30, first);
    await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(10);
    for (let count = 0; count < 3; count += 1) {
      expect((await client().call("Instance", "GetHealth", {}, { deadlineMs: 2_000 })).status).toBe("OK");
    }
  });

  it("does not push out who showed a token, and is cut without a call", async () => {
    const timers = seenTimers();
    const { port } = await serve({ connectionsMax: 20, strangerIdleMsMax: hourMs }, timers);
    const { session } = await openSession(port);
    expect(await call(session, known)).toBe("0");
    const watching = await hog(port, 1, Buffer.concat([preface, settings, rawCall(1, "/grpc.health.v1.Health/Watch")]));
    const idle = await hog(port, 12, Buffer.concat([preface, settings]));
    await expect.poll(() => timers.pendingOf(hourMs)).toBe(12);
    timers.fire(hourMs);
    await expect.poll(() => idle.every(({ destroyed }) => destroyed)).toBe(true);
    // A stream that somebody subscribed to is a call, and who is known may be silent.
    expect(watching[0]?.destroyed).toBe(false);
    await hog(port, 60, Buffer.concat([preface, settings]));
    expect(await call(session, known)).toBe("0");
  });

  it("is cut when no preface comes, and left alone when one came in time", async () => {
    const timers = seenTimers();
    const { port } = await serve({ prefaceMsMax: hourMs }, timers);
    const [silent, half, whole] = [
      ...(await hog(port, 1, Buffer.alloc(0))),
      ...(await hog(port, 1, preface)),
      ...(await hog(port, 1, Buffer.concat([preface, settings]))),
    ];
    await expect.poll(() => timers.pendingOf(hourMs)).toBe(2);
    timers.fire(hourMs);
    await expect.poll(() => [silent?.destroyed, half?.destroyed]).toEqual([true, true]);
    expect(whole?.destroyed).toBe(false);
  });
});

async function openSession(
  port: number,
): Promise<{ readonly session: ClientHttp2Session; readonly goaways: number[] }> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const goaways: number[] = [];
  session.on("error", () => undefined).on("goaway", (code) => goaways.push(code));
  closers.push(() => session.destroy());
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  return { session, goaways };
}

const getHealth = "/svc.v1.Instance/GetHealth";

function call(session: ClientHttp2Session, more: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    if (session.closed || session.destroyed) return resolve("closed");
    const stream = session.request({
      ":method": "POST",
      ":path": getHealth,
      "content-type": "application/grpc",
      te: "trailers",
      ...more,
    });
    let status = "none";
    const look = (headers: Readonly<Record<string, unknown>>): void => {
      status = String(headers["grpc-status"] ?? status);
    };
    stream
      .on("response", look)
      .on("trailers", look)
      .on("error", () => undefined)
      .on("close", () => resolve(status));
    stream.resume().end(Buffer.alloc(5));
    return undefined;
  });
}

/** The frames of one whole call without a token. */
function rawCall(id: number, path: string): Buffer {
  const frame = (type: number, flags: number, payload: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, id]), payload]);
  const text = (words: string): Buffer => Buffer.concat([Buffer.from([words.length]), Buffer.from(words, "latin1")]);
  const headers = [
    Buffer.from([0x83, 0x86, 0x01]),
    text("a"),
    Buffer.from([0x04]),
    text(path),
    Buffer.from([0x0f, 0x10]),
  ];
  const sent = Buffer.concat([...headers, text("application/grpc")]);
  return Buffer.concat([frame(1, 4, sent), frame(0, 1, Buffer.alloc(5))]);
}

const stranger = {};
const viewer = { authorization: "Bearer viewer" };
const known = { authorization: `Bearer ${everyRole}` };

describe("a flood of calls that anybody may make", () => {
  const limits = { strangerCallsAtOnceMax: 20, strangerCallsPerSecondMax: 1 };
  const check = { ":path": "/grpc.health.v1.Health/Check" };

  it("is cut when they are answered, and when they are reset at once", async () => {
    const { port } = await serve(limits);
    const [{ session: asking }, { session: resetting }] = [await openSession(port), await openSession(port)];
    for (let count = 0; count < 20; count += 1) expect(await call(asking, check)).toBe("0");
    void call(asking, check);
    await expect.poll(() => asking.destroyed).toBe(true);
    const headers = { ":method": "POST", "content-type": "application/grpc", te: "trailers", ...check };
    for (let count = 0; count < 40 && !resetting.destroyed; count += 1) {
      resetting
        .request(headers)
        .on("error", () => undefined)
        .close(constants.NGHTTP2_CANCEL);
      await sleep(2);
    }
    await expect.poll(() => resetting.destroyed).toBe(true);
  });

  it("is none of who showed a token", async () => {
    const { port } = await serve(limits);
    const { session } = await openSession(port);
    expect(await call(session, known)).toBe("0");
    for (let count = 0; count < 60; count += 1) expect(await call(session, check)).toBe("0");
  });
});

describe("a flood of refused calls", () => {
  it.each([
    ["strangers'", stranger, "16"],
    ["somebody's who may not", viewer, "7"],
  ])("%s ends the connection, politely and then surely", async (_name, caller, refused) => {
    const { port } = await serve({ refusalsPerConnectionMax: 5 });
    const { session, goaways } = await openSession(port);
    for (let count = 0; count < 5; count += 1) expect(await call(session, caller)).toBe(refused);
    await expect.poll(() => session.destroyed).toBe(true);
    expect(goaways).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("does not end a connection on which somebody passes in between, whatever is open to anyone", async () => {
    const { port } = await serve({ refusalsPerConnectionMax: 5 });
    const { session, goaways } = await openSession(port);
    for (let count = 0; count < 12; count += 1) {
      expect(await call(session, count % 4 === 3 ? known : stranger)).toBe(count % 4 === 3 ? "0" : "16");
    }
    const check = { ":path": "/grpc.health.v1.Health/Check" };
    for (let count = 0; count < 5; count += 1) {
      await call(session, stranger);
      if (count < 4) expect(await call(session, check)).toBe("0");
    }
    await expect.poll(() => goaways).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("ends the connection also of a caller who does not listen and keeps a call open", async () => {
    const { port } = await serve({ refusalsPerConnectionMax: 5 });
    // Byte by byte, because Node's own client would take the goodbye and go.
    const [socket] = await hog(port, 1, Buffer.concat([preface, settings]));
    let heard = Buffer.alloc(0);
    socket?.on("data", (bytes: Buffer) => {
      heard = Buffer.concat([heard, bytes]);
    });
    socket?.write(rawCall(1, "/grpc.health.v1.Health/Watch"));
    for (const id of [3, 5, 7, 9, 11]) socket?.write(rawCall(id, getHealth));
    await expect.poll(() => socket?.destroyed).toBe(true);
    // A goodbye of eight bytes: the last stream that was heard, and why.
    const goodbye = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, constants.NGHTTP2_ENHANCE_YOUR_CALM]);
    expect(heard.includes(goodbye)).toBe(true);
  });

  it("does not end other connections, and fills no log", async () => {
    const { port, client, lines } = await serve();
    const [flooding, other] = [await openSession(port), client()];
    await Promise.all(Array.from({ length: 60 }, () => call(flooding.session, stranger)));
    expect((await other.call("Instance", "GetHealth", {})).status).toBe("OK");
    expect(lines.filter(({ message }) => message === "RPC refused")).toHaveLength(10);
    await expect.poll(() => lines.filter(({ level }) => level === "warn")).toMatchObject([{ fields: { count: 50 } }]);
  });
});

describe("health watchers", () => {
  it("of one connection are few, so that they leave room for others", async () => {
    const { port } = await serve();
    const watch = { ":path": "/grpc.health.v1.Health/Watch" };
    const [hogging, other] = [await openSession(port), await openSession(port)];
    const ended: string[] = [];
    for (let count = 0; count < 6; count += 1) void call(hogging.session, watch).then((status) => ended.push(status));
    await expect.poll(() => ended).toEqual(["8", "8"]);
    const more = other.session.request({
      ":method": "POST",
      "content-type": "application/grpc",
      te: "trailers",
      ...watch,
    });
    more.end(Buffer.alloc(5));
    // It hears how the server is, and none of the others has ended for that.
    await once(more, "data");
    expect(ended).toHaveLength(2);
  });
});

describe("what the library prints", () => {
  it("goes to the log for the curious, short and without tokens", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { port, lines } = await serve();
    const { session } = await openSession(port);
    await call(session, { "x-strange": `${"\u00e9".repeat(300)}` });
    await call(session, { "x-authorization": "precious\u00e9" });
    const reported = lines.filter(({ message }) => message === "the gRPC library says");
    expect(reported.map(({ level }) => level)).toEqual(["debug", "debug"]);
    expect(String(reported[0]?.fields["text"])).toContain("x-strange");
    expect(String(reported[0]?.fields["text"]).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(lines)).not.toContain("precious");
    expect(printed).not.toHaveBeenCalled();
  });
});
