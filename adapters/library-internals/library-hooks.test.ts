// What the gRPC library and Node do by themselves and should not, seen from outside: an upgrade that breaks a hook fails here.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { Server } from "@grpc/grpc-js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { serveGrpc } from "../grpc/server.ts";
import { hookLibrary } from "./library-hooks.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.restoreAllMocks();
});

async function serve() {
  const test = testPorts();
  const verifier = testVerifier();
  const server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    verifier,
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  return { port: "port" in server.address ? server.address.port : 0, verifier, ...test };
}

/** One call to GetHealth with these authorization headers, byte by byte: Node's own client would not send two of them. */
async function callWith(port: number, authorization: readonly string[]): Promise<void> {
  const frame = (type: number, flags: number, id: number, payload: Buffer): Buffer => {
    const head = Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, id]);
    return Buffer.concat([head, payload]);
  };
  const text = (words: string): Buffer => Buffer.concat([Buffer.from([words.length]), Buffer.from(words, "latin1")]);
  const headers = Buffer.concat([
    Buffer.from([0x83, 0x86, 0x01]),
    text("a"),
    Buffer.from([0x04]),
    text("/svc.v1.Instance/GetHealth"),
    Buffer.from([0x0f, 0x10]),
    text("application/grpc"),
    ...authorization.flatMap((value) => [Buffer.from([0x0f, 0x08]), text(value)]),
  ]);
  const preface = [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0))];
  const socket = connect({ host: "127.0.0.1", port });
  closers.push(() => socket.destroy());
  socket.write(Buffer.concat([...preface, frame(1, 4, 1, headers), frame(0, 1, 1, Buffer.alloc(5))]));
}

describe("the authorization header", () => {
  it("passes when there is one", async () => {
    const { port, verifier, lines } = await serve();
    await callWith(port, [`Bearer ${everyRole}`]);
    await expect.poll(() => lines.map(({ message }) => message)).toEqual(["RPC answered"]);
    expect(verifier.asked).toEqual([everyRole]);
  });

  it.each([
    ["two", [`Bearer ${everyRole}`, "Bearer other"]],
    ["twice the same", [`Bearer ${everyRole}`, `Bearer ${everyRole}`]],
    ["one of them empty", [`Bearer ${everyRole}`, ""]],
  ])("is refused when there are several: %s", async (_name, values) => {
    const { port, verifier, lines } = await serve();
    await callWith(port, values);
    await expect.poll(() => lines.map(({ fields }) => fields["code"])).toEqual(["UNAUTHENTICATED"]);
    expect(verifier.asked).toEqual([]);
  });

  it("is refused when it is not ASCII, and printed nowhere", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { port, verifier, lines } = await serve();
    await callWith(port, ["Bearer precious\u00e9"]);
    await expect.poll(() => lines.map(({ fields }) => fields["code"])).toEqual(["UNAUTHENTICATED"]);
    expect(verifier.asked).toEqual([]);
    expect(JSON.stringify([printed.mock.calls, lines])).not.toContain("precious");
  });
});

describe("the library", () => {
  it("with other insides is refused at the start", () => {
    expect(() => hookLibrary({} as Server)).toThrow(Defect);
  });

  it("still turns away what is no gRPC, before anything else", async () => {
    const { port, verifier } = await serve();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    closers.push(() => session.destroy());
    const ask = (path: string) =>
      new Promise((resolve) => {
        const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
        stream.on("response", (headers) => resolve(headers[":status"]));
        stream.end("{}");
      });
    expect(await ask("/svc.v1.Instance/GetHealth")).toBe(415);
    expect(await ask("/x")).toBe(415);
    expect(verifier.asked).toEqual([]);
  });
});
