// An answer is whole, whatever its size and however its caller reads; and callers who leave while it is sent harm nobody.
import { randomInt } from "node:crypto";
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from "node:http2";
import { afterEach, expect, it } from "vitest";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { serveGrpc } from "./server.ts";

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
  /** The size is told as the request's id. */
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
