// Where a gRPC server may and may not listen: taken ports, live and stale unix sockets, and files that are no sockets.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import type { GrpcAddress } from "./listener.ts";
import { serveGrpc } from "./server.ts";

let folder = "";
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-grpc-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(address: GrpcAddress) {
  const server = await serveGrpc({
    ...testPorts().ports,
    address,
    purpose: "oms' gRPC server",
    environmentVariable: "PORTCULLIS_OMS_GRPC",
    services: [],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  return server;
}

async function healthOn(address: GrpcAddress): Promise<string> {
  const client = testClient(address, { token: everyRole });
  closers.push(() => client.close());
  return (await client.call("Instance", "GetHealth", {})).status;
}

describe("TCP", () => {
  it("port 0 gives the real port", async () => {
    const { address } = await serve({ host: "localhost", port: 0 });
    expect(address).toMatchObject({ port: expect.any(Number) });
    expect("port" in address && address.port > 0).toBe(true);
    expect(await healthOn(address)).toBe("OK");
  });

  it("a port in use is a fault that names the address and the variable", async () => {
    const { address } = await serve({ host: "127.0.0.1", port: 0 });
    const text = "port" in address ? `127.0.0.1:${address.port}` : "";
    await expect(serve(address)).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: `oms' gRPC server cannot listen on ${text}: another program already does. Stop that program or set PORTCULLIS_OMS_GRPC to use another address.`,
    });
    expect(await healthOn(address)).toBe("OK");
  });

  it("an address that is not this machine's is a fault too", async () => {
    await expect(serve({ host: "192.0.2.1", port: 0 })).rejects.toMatchObject({ code: "SERVICE_START_FAILED" });
  });
});

describe("a unix socket", () => {
  it("is for its owner only and is gone after the drain", async () => {
    const path = join(folder, "oms.sock");
    const server = await serve({ path });
    expect(server.address).toEqual({ path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await healthOn({ path })).toBe("OK");
    await server.drain(1_000);
    expect(() => statSync(path)).toThrow(/ENOENT/);
  });

  it("on which somebody listens is left alone", async () => {
    const path = join(folder, "oms.sock");
    await serve({ path });
    await expect(serve({ path })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: expect.stringContaining(path),
      facts: { environment_variable: "PORTCULLIS_OMS_GRPC" },
    });
    expect(await healthOn({ path })).toBe("OK");
  });

  it("that a killed process left behind is replaced", async () => {
    const path = join(folder, "oms.sock");
    const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    expect(statSync(path).isSocket()).toBe(true);
    await serve({ path });
    expect(await healthOn({ path })).toBe("OK");
  });

  it("whose place is taken by another kind of file is refused, and the file stays", async () => {
    const path = join(folder, "oms.sock");
    writeFileSync(path, "precious");
    await expect(serve({ path })).rejects.toMatchObject({ code: "SERVICE_START_FAILED" });
    expect(statSync(path).size).toBe(8);
  });

  it("with a path longer than the system allows is refused in a sentence", async () => {
    const path = join(folder, "x".repeat(120));
    await expect(serve({ path })).rejects.toMatchObject({ message: expect.stringContaining("at most 107 bytes") });
  });

  it("in a folder that does not exist is refused", async () => {
    const path = join(folder, "none", "oms.sock");
    await expect(serve({ path })).rejects.toMatchObject({ code: "SERVICE_START_FAILED" });
  });
});

it("a stranger on the port (not one of ours) is named as such", async () => {
  const stranger = createServer();
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => stranger.close(resolve)));
  const bound = stranger.address();
  const port = bound !== null && typeof bound === "object" ? bound.port : 0;
  await expect(serve({ host: "localhost", port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
});
