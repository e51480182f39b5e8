// The HTTP and gRPC listeners with a certificate, through real sockets: who is served, who is cut, and what a new certificate changes. The
// bounds are those of clear text (adapters/http/crowd.test.ts, adapters/grpc/crowd.test.ts).
import { mkdtempSync, rmSync } from "node:fs";
import { get, type RequestOptions } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { keptSecureConnections } from "../../testkit/http/kept-connection.ts";
import { hello, serve } from "../../testkit/http/test-client.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { newAuthority, writePair } from "../../testkit/test-certificate.ts";
import type { GrpcLimits } from "../grpc/limits.ts";
import { serveGrpc } from "../grpc/server.ts";
import type { HttpLimits } from "../http/limits/limits.ts";
import { noAlarms } from "../postgres/alarms.ts";
import { keepCertificate } from "./kept-certificate.ts";

const authority = newAuthority();
const ca = authority.certificate;
const closers: (() => unknown)[] = [];
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/portcullis-tls-`);
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function certificateFor(hosts: readonly string[]) {
  const { ports } = testPorts();
  const files = writePair(folder, "server", authority.issue(hosts));
  const kept = keepCertificate({ ...ports, ...files, alarms: noAlarms, owner: "the test", everyMs: 20 });
  closers.push(() => kept.close());
  return kept;
}

const local = ["127.0.0.1", "localhost"];

async function http(limits: Partial<HttpLimits> = {}, baseUrl?: string) {
  const certificate = certificateFor(local);
  const { server } = await serve([hello], { limits, certificate, ...(baseUrl === undefined ? {} : { baseUrl }) });
  return server.addresses.operator.port;
}

async function grpc(limits: Partial<GrpcLimits> = {}, localSocket?: string) {
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { host: "127.0.0.1", port: 0 },
    certificate: certificateFor(local),
    localSocket,
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
    limits,
  });
  closers.push(() => server.drain(0));
  return "port" in server.address ? server.address.port : 0;
}

/** The status of an answer, or the code of what went wrong. */
function ask(port: number, options: RequestOptions = {}): Promise<{ readonly end: unknown; readonly hsts: unknown }> {
  const headers = { authorization: `Bearer ${everyRole}` };
  return new Promise((resolve) => {
    const sent = get(
      { host: "127.0.0.1", port, path: "/v1/hello", ca, headers, agent: false, ...options },
      (answer) => {
        answer.resume();
        answer.once("end", () =>
          resolve({ end: answer.statusCode, hsts: answer.headers["strict-transport-security"] }),
        );
      },
    );
    sent.on("error", (error: NodeJS.ErrnoException) => resolve({ end: error.code, hsts: undefined }));
  });
}

/** The status of a call: every role may read the health of an instance. */
function call(target: string, made = credentials.createSsl(Buffer.from(ca))): Promise<string | undefined> {
  const client = new Client(target, made, { "grpc.use_local_subchannel_pool": 1 });
  closers.push(() => client.close());
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    const deadline = Date.now() + 20_000;
    const end = (error: ServiceError | null): void => resolve(status[error?.code ?? status.OK]);
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", same, same, Buffer.alloc(0), { deadline }, end);
  });
}

function open(port: number, options: ConnectionOptions = {}): TLSSocket {
  const socket = connectTls({ host: "127.0.0.1", port, ca, ...options });
  socket.on("error", () => undefined);
  closers.push(() => socket.destroy());
  return socket;
}

const secured = (socket: TLSSocket): Promise<"secured" | "closed"> =>
  new Promise((resolve) => {
    socket.once("secureConnect", () => resolve("secured"));
    socket.once("close", () => resolve("closed"));
  });

/** Connections that begin no handshake, or half of one. */
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

/** The beginning of a ClientHello of 512 bytes. */
const halfHello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
const closed = (sockets: readonly Socket[]): number => sockets.filter(({ destroyed }) => destroyed).length;

describe("HTTP over TLS", () => {
  it("answers who trusts its authority, over TLS 1.2 and 1.3, and nobody in older ways or in clear text", async () => {
    const port = await http();
    expect((await ask(port)).end).toBe(200);
    expect((await ask(port, { maxVersion: "TLSv1.2" })).end).toBe(200);
    expect((await ask(port, { ca: newAuthority().certificate })).end).toMatch(/SIGNATURE|ISSUER|SELF_SIGNED/);
    expect(await secured(open(port, { maxVersion: "TLSv1.1", minVersion: "TLSv1" }))).toBe("closed");
    const [plain] = await hog(port, 1, Buffer.from("GET /v1/hello HTTP/1.1\r\nhost: a\r\n\r\n"));
    await expect.poll(() => plain?.destroyed, { timeout: 10_000 }).toBe(true);
    expect(plain?.bytesRead).toBeLessThan(100);
  });

  it("asks browsers to stay with it under a name, and not under one that other programs share", async () => {
    expect((await ask(await http())).hsts).toBeUndefined();
    expect((await ask(await http({}, "https://portcullis.example"))).hsts).toBe("max-age=31536000");
  });

  it("handshakes that never end take no places from others and are cut", async () => {
    const port = await http({ connectionsMax: 20, firstRequestMsMax: 1_000 });
    const sockets = await hog(port, 30, halfHello);
    for (let count = 0; count < 5; count += 1) expect((await ask(port)).end).toBe(200);
    await expect.poll(() => closed(sockets), { timeout: 10_000 }).toBe(30);
  });

  it("a connection on which a token was shown keeps its place in a flood of handshakes", async () => {
    const port = await http({ connectionsMax: 5 });
    const agent = keptSecureConnections(1);
    closers.push(() => agent.destroy());
    expect((await ask(port, { agent })).end).toBe(200);
    const [socket] = Object.values(agent.freeSockets).flat();
    await hog(port, 20, halfHello);
    expect((await ask(port, { agent })).end).toBe(200);
    expect(socket?.destroyed).toBe(false);
  });

  it("who is late after the handshake is answered that it was, encrypted", async () => {
    const port = await http({ firstRequestMsMax: 1_000 });
    const socket = open(port);
    let heard = "";
    socket.on("data", (chunk) => {
      heard += String(chunk);
    });
    socket.write("GET /v1/hello HTTP/1.1\r\nhost: a\r\nx-a: ");
    await expect.poll(() => socket.destroyed, { timeout: 10_000 }).toBe(true);
    expect(heard).toContain("HTTP/1.1 408 ");
  });

  it("drains although somebody is in the middle of a handshake", async () => {
    const certificate = certificateFor(local);
    const { server } = await serve([hello], { certificate, limits: { firstRequestMsMax: 60_000 } });
    await hog(server.addresses.operator.port, 3, halfHello);
    expect(await server.drain(30_000)).toBe("drained");
  });

  it("shows a new certificate to who comes next, and goes on with who is there", async () => {
    const port = await http();
    const before = open(port);
    expect(await secured(before)).toBe("secured");
    const renewed = authority.issue(local);
    writePair(folder, "server", renewed);
    const shown = async () => {
      const socket = open(port);
      await secured(socket);
      return socket.getPeerX509Certificate()?.toString();
    };
    await expect.poll(shown, { timeout: 10_000 }).toBe(renewed.certificate);
    before.write("GET /v1/hello HTTP/1.1\r\nhost: a\r\n\r\n");
    const first = await new Promise<string>((resolve) => before.once("data", (chunk) => resolve(String(chunk))));
    expect(first).toContain("HTTP/1.1 200 ");
  });
});

describe("gRPC over TLS", () => {
  it("answers who trusts its authority, and nobody in clear text", async () => {
    const port = await grpc();
    expect(await call(`localhost:${port}`)).toBe("OK");
    expect(await call(`localhost:${port}`, credentials.createSsl(Buffer.from(newAuthority().certificate)))).toBe(
      "UNAVAILABLE",
    );
    expect(await call(`localhost:${port}`, credentials.createInsecure())).toBe("UNAVAILABLE");
  });

  it("speaks HTTP/2 and cuts who does not name it", async () => {
    const port = await grpc();
    const socket = open(port, { ALPNProtocols: ["h2"] });
    expect([await secured(socket), socket.alpnProtocol, socket.getProtocol()]).toEqual(["secured", "h2", "TLSv1.3"]);
    for (const ALPNProtocols of [["http/1.1"], undefined]) {
      const other = open(port, ALPNProtocols === undefined ? {} : { ALPNProtocols });
      await expect.poll(() => other.destroyed, { timeout: 10_000 }).toBe(true);
    }
  });

  it("beside it our own processes come in over the socket, without TLS", async () => {
    const path = `${folder}/a.sock`;
    const port = await grpc({}, path);
    expect(await call(`unix:${path}`, credentials.createInsecure())).toBe("OK");
    expect(await call(`localhost:${port}`)).toBe("OK");
  });

  it("handshakes that never end take no places from others and are cut", async () => {
    const port = await grpc({ connectionsMax: 20, prefaceMsMax: 1_000 });
    const sockets = await hog(port, 30, halfHello);
    for (let count = 0; count < 5; count += 1) expect(await call(`localhost:${port}`)).toBe("OK");
    await expect.poll(() => closed(sockets), { timeout: 10_000 }).toBe(30);
  });

  it("who ends the handshake and says nothing is cut", async () => {
    const port = await grpc({ prefaceMsMax: 500 });
    const socket = open(port, { ALPNProtocols: ["h2"] });
    expect(await secured(socket)).toBe("secured");
    socket.resume();
    await expect.poll(() => socket.destroyed, { timeout: 10_000 }).toBe(true);
  });
});
