// An answer leaves in one write, whole, whatever its size and however its caller reads; and callers who leave while it does so harm nobody.
import { randomInt } from "node:crypto";
import http2, {
  connect as connectHttp2,
  constants,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { serveGrpc } from "../grpc/server.ts";
import { isTriedNode } from "./one-write.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Answers as many bytes as the request's id says. */
async function serve() {
  const test = testPorts();
  const server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "PORTCULLIS_GRPC_PORT",
    services: [
      {
        name: "Treasury",
        handlers: { ListFunds: async (_request: never, { requestId }) => ({ encoded: bytesFor(Number(requestId)) }) },
      },
    ],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  if (!("port" in server.address)) throw new Error("the server has no port");
  return { server, port: server.address.port };
}

function bytesFor(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, place) => place % 251);
}

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly message: Buffer;
}

function openCaller(port: number, initialWindowSize = 65_535) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  session.on("error", () => undefined);
  closers.push(() => session.destroy());
  /** The size is reported as the request's id. */
  const start = (size: number) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/svc.v1.Treasury/ListFunds",
      te: "trailers",
      "content-type": "application/grpc",
      authorization: `Bearer ${everyRole}`,
      "x-request-id": String(size).padStart(16, "0"),
    });
    stream.on("error", () => undefined);
    stream.end(Buffer.alloc(5));
    return stream;
  };
  const call = (size: number): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const stream = start(size);
      const chunks: Buffer[] = [];
      let headers: IncomingHttpHeaders = {};
      let trailers: IncomingHttpHeaders = {};
      stream.on("response", (reported) => {
        headers = reported;
      });
      stream.on("trailers", (reported) => {
        trailers = reported;
      });
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("close", () => resolve({ headers, trailers, message: Buffer.concat(chunks) }));
      stream.on("error", reject);
    });
  return { start, call, close: () => session.close() };
}

function expectWhole({ headers, trailers, message }: Answer, size: number): void {
  expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc+proto" });
  expect(trailers).toMatchObject({ "grpc-status": "0", "grpc-message": "OK" });
  expect(message.readUInt32BE(1)).toBe(size);
  expect(message.subarray(5).equals(bytesFor(size))).toBe(true);
}

const frames = new Map([
  [0, "data"],
  [1, "headers"],
]);

/** Between a caller and the server: notes which frames of an answer came in one piece. */
async function openListener(port: number): Promise<{ readonly port: number; readonly pieces: string[][] }> {
  const pieces: string[][] = [];
  const proxy: Server = createServer((near) => {
    const far = connect({ port, host: "127.0.0.1", noDelay: true });
    near.pipe(far);
    far.on("data", (bytes: Buffer) => {
      const names: string[] = [];
      for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
        const name = frames.get(bytes[at + 3] ?? -1);
        if (name !== undefined) names.push(name);
      }
      if (names.length > 0) pieces.push(names);
      near.write(bytes);
    });
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => [near, far].map((each) => each.destroy()));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  closers.push(() => proxy.close());
  return { port: (proxy.address() as AddressInfo).port, pieces };
}

it("headers, message and trailers leave together", async () => {
  const { port } = await serve();
  const listener = await openListener(port);
  const caller = openCaller(listener.port);
  for (let count = 0; count < 50; count += 1) expectWhole(await caller.call(100), 100);
  expect(listener.pieces.flat()).toHaveLength(150);
  const together = listener.pieces.filter((names) => names.join(" ") === "headers data headers");
  // A busy machine may cut one in two.
  if (isTriedNode) expect(together.length).toBeGreaterThan(40);
  else expect(together).toEqual([]);
});

it("a stream that looks otherwise than expected is left as it is", async () => {
  // What the first stream looked like is remembered, so this asks a module that has seen none.
  vi.resetModules();
  const { endInOneWrite, prepareOneWrite } = await import("./one-write.ts");
  const stream = {} as ServerHttp2Stream;
  expect(prepareOneWrite(stream)).toBe(false);
  endInOneWrite(stream);
  expect(stream).toEqual({});
});

/** Tells every stream of the servers that are made from now on. */
function watchStreams(watch: (stream: ServerHttp2Stream) => void): void {
  const { createServer: createHttp2Server } = http2;
  const spy = vi.spyOn(http2, "createServer").mockImplementation((...given: unknown[]): Http2Server => {
    const made = (createHttp2Server as (...these: unknown[]) => Http2Server)(...given);
    return made.on("stream", watch);
  });
  closers.push(() => spy.mockRestore());
}

it("trailers are asked for before the message has left", async () => {
  const sentBetween: number[] = [];
  watchStreams((stream) => {
    const { socket } = stream.session ?? {};
    if (socket === undefined) throw new Error("the stream has no socket");
    const { write } = stream;
    let before = Number.NaN;
    vi.spyOn(stream, "write").mockImplementation((...given: unknown[]) => {
      before = socket.bytesWritten;
      return (write as (...these: unknown[]) => boolean).apply(stream, given);
    });
    stream.once("wantTrailers", () => sentBetween.push(socket.bytesWritten - before));
  });
  const { port } = await serve();
  const caller = openCaller(port);
  for (let call = 0; call < 50; call += 1) expectWhole(await caller.call(100), 100);
  expect(sentBetween).toHaveLength(50);
  expect(sentBetween.filter((bytes) => bytes > 0)).toHaveLength(isTriedNode ? 0 : 50);
});

it("a stream is taken down when its last write has ended, and not before", async () => {
  const finished: boolean[] = [];
  watchStreams((stream) => stream.once("close", () => finished.push(stream.writableFinished)));
  const { port } = await serve();
  const caller = openCaller(port);
  for (let count = 0; count < 50; count += 1) expectWhole(await caller.call(100), 100);
  await vi.waitFor(() => expect(finished).toHaveLength(50));
  // On a busy machine a socket may be full for a moment.
  expect(finished.filter((isFinished) => isFinished).length).toBeGreaterThan(40);
});

it.each([
  ["a caller with room", 65_535],
  ["a caller who takes little at a time", 1_000],
])("an answer is whole for %s, whatever its size", async (_name, initialWindowSize) => {
  const { port, server } = await serve();
  const caller = openCaller(port, initialWindowSize);
  const sizes = [0, 1, 994, 995, 996, 16_378, 16_379, 16_380, 65_529, 65_530, 65_531, 200_000];
  await Promise.all(sizes.map(async (size) => expectWhole(await caller.call(size), size)));
  caller.close();
  expect(await server.drain(5_000)).toBe("drained");
});

it("callers who leave at any moment harm nobody, and nothing stays behind", async () => {
  const seed = Number(process.env["PORTCULLIS_TEST_SEED"] ?? randomInt(1_000_000));
  process.stdout.write(`seed ${seed}\n`);
  const { word } = prng(seed);
  const { port, server } = await serve();
  const caller = openCaller(port);
  const leaving = async (): Promise<void> => {
    const stream = caller.start(word() % 100_000);
    for (let turns = word() % 8; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    stream.resume();
    const left = new Promise((resolve) => stream.once("close", resolve));
    stream.close(constants.NGHTTP2_CANCEL);
    await left;
  };
  for (let round = 0; round < 60; round += 1) {
    const size = word() % 100_000;
    const [answer] = await Promise.all([caller.call(size), leaving(), leaving(), leaving(), leaving()]);
    expectWhole(answer, size);
  }
  caller.close();
  expect(await server.drain(5_000)).toBe("drained");
});
