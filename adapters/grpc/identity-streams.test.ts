// A stream and its caller's right to it, through a real server: no procedure of ours is an open stream yet, so the gates stand here
// before one of the test's own. The numbers are those of the identity gate's header.
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import {
  type ClientDuplexStream,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type StatusObject,
} from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import type { Operation } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Identity } from "../../ports/identity.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { testVerifier, unknownToken } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { callConnections } from "./call-connections.ts";
import { callGate } from "./call-gate.ts";
import { identityGate } from "./identity-gate.ts";
import { type GrpcLimits, grpcLimitsDefault } from "./limits.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const path = "/svc.v1.RiskEngine/CheckOrders";
const guards: ReadonlyMap<string, Operation> = new Map([[path, "CheckOrders"]]);
const reverifyMs = 40;
const hourMs = 3_600_000;

type Call = ServerDuplexStream<Buffer, Buffer>;

/** A server with one stream, which sends back what it gets unless the test says otherwise. */
async function open(handle: (call: Call) => void = echo, limits: Partial<GrpcLimits> = {}) {
  const test = testPorts();
  const timers = seenTimers();
  const ports = { ...test.ports, timers };
  const verifier = testVerifier();
  const bounds = { ...grpcLimitsDefault, reverifyMs, ...limits };
  const connections = callConnections();
  const gate = identityGate({ ...ports, verifier }, guards, bounds, connections);
  const server = new Server({
    interceptors: [
      callGate(ports, bounds, connections, { tooLarge: () => undefined, streamOf: ports.internals.streamOf }),
      gate.interceptor,
    ],
  });
  const asIs = (bytes: Buffer): Buffer => bytes;
  const calls: Call[] = [];
  const received: string[] = [];
  const mounted = (call: Call): void => {
    calls.push(call);
    call.on("data", (bytes: Buffer) => received.push(bytes.toString()));
    handle(call);
  };
  server.register(path, mounted as never, asIs, asIs, "bidi");
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createServer((socket) => injector.injectConnection(socket));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const bound = listener.address();
  const port = bound !== null && typeof bound === "object" ? bound.port : 0;
  const client = testClient({ host: "127.0.0.1", port }, { token: "service" });
  closers.push(
    () => new Promise((resolve) => listener.close(resolve)),
    () => server.forceShutdown(),
    () => client.close(),
  );
  return { port, client, verifier, calls, received, timers, identityOf: gate.identityOf, ...test };
}

/** The same with a caller who has opened the stream. */
async function opened(handle?: (call: Call) => void) {
  const served = await open(handle);
  const { client } = served;
  const asIs = (bytes: Buffer): Buffer => bytes;
  const stream = client.client.makeBidiStreamRequest(path, asIs, asIs, client.metadataOf({}));
  stream.on("error", () => undefined);
  const ended = new Promise<StatusObject>((resolve) => stream.on("status", resolve));
  return { ...served, stream, ended };
}

function echo(call: Call): void {
  call.on("data", (bytes: Buffer) => call.write(bytes));
  call.on("end", () => call.end());
}

/** Sends one message and waits until it is back. */
async function exchange(stream: ClientDuplexStream<Buffer, Buffer>, text: string): Promise<string> {
  const back = new Promise<Buffer>((resolve) => stream.once("data", resolve));
  stream.write(Buffer.from(text));
  return (await back).toString();
}

const noLonger: readonly (readonly [string, () => Promise<Identity>, number, string])[] = [
  ["ran out or was revoked", () => Promise.reject(unknownToken()), 16, "UNAUTHENTICATED"],
  [
    "cannot be checked",
    () => Promise.reject(new Fault("IDENTITY_UNAVAILABLE", "Nobody knows.", { retry: "later" })),
    14,
    "IDENTITY_UNAVAILABLE",
  ],
  ["lost its role", () => testVerifier().verify("viewer"), 7, "PERMISSION_DENIED"],
  ["gets no answer", () => new Promise<Identity>(() => undefined), 14, "IDENTITY_UNAVAILABLE"],
];

describe("a stream (3)", () => {
  it("goes on while its caller's token holds, and nobody is asked after its end", async () => {
    const { stream, ended, verifier, calls, identityOf, timers } = await opened();
    expect(await exchange(stream, "first")).toBe("first");
    await expect.poll(() => verifier.asked.length).toBeGreaterThan(4);
    expect(await exchange(stream, "second")).toBe("second");
    expect(calls.map(({ metadata }) => identityOf(metadata)?.actor)).toEqual(["service:service"]);
    expect(calls.map(({ metadata }) => metadata.get("authorization"))).toEqual([[]]);
    stream.end();
    expect(await ended).toMatchObject({ code: 0 });
    const askedCount = verifier.asked.length;
    await expect.poll(() => timers.pendingOf(reverifyMs)).toBe(0);
    expect(verifier.asked.length).toBe(askedCount);
  });

  it("is not watched when its caller hangs up", async () => {
    // Its handler does not care how it ends.
    const { stream, ended, timers } = await opened((call) => call.on("data", (bytes: Buffer) => call.write(bytes)));
    await exchange(stream, "first");
    await expect.poll(() => timers.pendingOf(reverifyMs)).toBe(1);
    stream.cancel();
    await ended;
    await expect.poll(() => timers.pendingOf(reverifyMs)).toBe(0);
  });

  it("is not watched after its handler's own end, though its caller has not taken that yet", async () => {
    const verifier = testVerifier();
    const bounds = { ...grpcLimitsDefault, reverifyMs: 10 };
    const timers = seenTimers();
    const { interceptor } = identityGate({ ...testPorts().ports, timers, verifier }, guards, bounds, callConnections());
    const sent: number[] = [];
    const metadata = new Metadata();
    metadata.set("authorization", "Bearer service");
    const below = {
      start: (listener: { onReceiveMetadata(given: Metadata): void }) => listener.onReceiveMetadata(metadata),
      sendStatus: ({ code }: StatusObject) => sent.push(code),
    };
    const call = interceptor({ path, requestStream: true, responseStream: true } as never, below as never);
    await new Promise((resolve) => call.start({ onReceiveMetadata: resolve } as never));
    verifier.answer(() => Promise.reject(unknownToken()));
    expect(timers.pendingOf(10)).toBe(1);
    call.sendStatus({ code: 0, details: "" });
    expect(timers.pendingOf(10)).toBe(0);
    expect(sent).toEqual([0]);
    expect(verifier.asked).toEqual(["service"]);
  });

  it.each(noLonger)("ends when its caller's token %s", async (_name, answer, status, code) => {
    const { stream, ended, verifier, calls, lines, observations } = await opened();
    expect(await exchange(stream, "first")).toBe("first");
    const hungUp = new Promise((resolve) => calls[0]?.once("cancelled", resolve));
    verifier.answer(answer);
    const end = await ended;
    expect(end.code).toBe(status);
    // The id that the handler saw, though the caller sent none.
    const requestId = calls[0]?.metadata.get("x-request-id")[0];
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(end.metadata.getMap()).toMatchObject({ "portcullis-code": code, "x-request-id": requestId });
    await hungUp;
    expect(lines.filter(({ message }) => message === "RPC refused").map(({ fields }) => fields)).toEqual([
      { method: path, request_id: requestId, code, actor: expect.stringMatching(/^(service|operator):/) },
    ]);
    expect(observations.filter(({ name }) => name === "portcullis_rpc_refused_total")).toHaveLength(1);
  });

  it("takes and gives no message after that, also while its caller does not read the end", async () => {
    const flood = (call: Call): void => {
      for (let count = 0; count < 64; count += 1) call.write(Buffer.alloc(16_384));
    };
    const { port, verifier, calls, received, lines, timers } = await open(flood, { callMsMax: hourMs });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    closers.push(() => session.destroy());
    // Nothing reads its data, so the flood stops at its window; the library's own client would read it all.
    const stalled = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      authorization: "Bearer service",
    });
    stalled.on("error", () => undefined);
    const framed = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)]);
    stalled.write(framed("before"));
    await expect.poll(() => received).toEqual(["before"]);
    verifier.answer(() => Promise.reject(unknownToken()));
    await expect.poll(() => lines.map(({ message }) => message)).toContain("RPC refused");
    stalled.write(framed("after"));
    // Behind it on the same connection: when they are answered, it has arrived.
    for (let count = 0; count < 2; count += 1) await new Promise((resolve) => session.ping(resolve));
    expect(calls[0]?.cancelled).toBe(false);
    expect(received).toEqual(["before"]);
    // The call gate gives up a status that nobody takes.
    timers.fire(hourMs);
    await expect.poll(() => calls[0]?.cancelled).toBe(true);
  });
});
