// The directory tells the truth about services that answer, die, hang and come back, and about all of them at once.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Health } from "../../ports/health.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { createHealthDirectory, type GrpcDirectory } from "./health-directory.ts";
import type { GrpcAddress } from "./listener.ts";
import { type GrpcServer, serveGrpc } from "./server.ts";

let folder = "";
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-directory-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(
  address: GrpcAddress,
  health: () => Health = () => ({ status: "ok" }),
  verifier = testVerifier(),
): Promise<GrpcServer> {
  const server = await serveGrpc({
    ...testPorts().ports,
    address,
    purpose: "a test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    health,
    verifier,
    metricsJson: async () => '[{"name":"portcullis_x"}]',
  });
  closers.push(() => server.drain(0));
  return server;
}

function directory(addresses: Readonly<Record<string, GrpcAddress>>, coalesceMs = 0): GrpcDirectory {
  const { clock, timers, log } = testPorts().ports;
  const targets = Object.fromEntries(
    Object.entries(addresses).map(([name, address]) => {
      const target = "path" in address ? `unix:${address.path}` : `${address.host}:${address.port}`;
      return [name, target];
    }),
  );
  const opened = createHealthDirectory({ targets, clock, timers, log, coalesceMs, credentials: () => everyRole });
  closers.push(() => opened.close());
  return opened;
}

describe("the directory", () => {
  it("22.11: shares no answer beyond the moment at which a service begins to end", async () => {
    const ending = await serve({ path: join(folder, "ending.sock") });
    const other = await serve({ path: join(folder, "other.sock") });
    const { all } = directory({ ending: ending.address, other: other.address }, 60_000);
    expect(await all()).toEqual({ ending: { status: "ok" }, other: { status: "ok" } });
    await ending.drain(1_000);
    await expect.poll(async () => (await all())["ending"]?.status).toBe("failing");
    const [one, again] = [all(), all()];
    expect(await one, "what is down is not asked about anew by everybody").toBe(await again);
  });

  it("asks everybody, over TCP and unix sockets", async () => {
    const tcp = await serve({ host: "127.0.0.1", port: 0 });
    const unix = await serve({ path: join(folder, "b.sock") }, () => ({ status: "failing", complaint: "no database" }));
    const known = directory({
      a: tcp.address,
      b: unix.address,
      c: { path: join(folder, "nobody.sock") },
    });
    expect(await known.all()).toEqual({
      a: { status: "ok" },
      b: { status: "failing", complaint: "no database" },
      c: { status: "failing", complaint: "it cannot be reached" },
    });
    expect(await known.collectMetrics()).toEqual({
      a: '[{"name":"portcullis_x"}]',
      b: '[{"name":"portcullis_x"}]',
      c: undefined,
    });
  });

  it("sees a death without waiting for its deadline, and a return", async () => {
    const address = { path: join(folder, "a.sock") };
    const first = await serve(address);
    const known = directory({ a: address });
    expect((await known.all())["a"]?.status).toBe("ok");
    await first.drain(0);
    expect((await known.all())["a"]).toEqual({ status: "failing", complaint: "it cannot be reached" });
    await serve(address);
    await expect.poll(async () => (await known.all())["a"]?.status).toBe("ok");
  });

  it("does not wait for one that hangs longer than the deadline", async () => {
    const held = new Set<Socket>();
    const hanging = createServer((socket) => held.add(socket));
    closers.push(() => {
      for (const socket of held) socket.destroy();
    });
    await new Promise<void>((resolve) => hanging.listen(join(folder, "hang.sock"), resolve));
    closers.unshift(() => new Promise((resolve) => hanging.close(resolve)));
    const well = await serve({ path: join(folder, "well.sock") });
    const known = directory({ hang: { path: join(folder, "hang.sock") }, well: well.address });
    // It would hang for longer than this test may take.
    expect(await known.all()).toEqual({
      well: { status: "ok" },
      hang: { status: "failing", complaint: "it did not answer within 500 ms" },
    });
  });

  it("blames nobody for its own late event loop, and still finds the one that hangs", async () => {
    const well = await serve({ path: join(folder, "well.sock") });
    const held = new Set<Socket>();
    const hanging = createServer((socket) => held.add(socket));
    closers.push(() => {
      for (const socket of held) socket.destroy();
      return new Promise((resolve) => hanging.close(resolve));
    });
    await new Promise<void>((resolve) => hanging.listen(join(folder, "hang.sock"), resolve));
    const known = directory({ well: well.address, hang: { path: join(folder, "hang.sock") } });
    await known.all();
    const asked = known.all();
    // Nothing is sent or heard while this runs, and the deadline passes meanwhile.
    for (const until = Date.now() + 800; Date.now() < until; );
    expect(await asked).toEqual({
      well: { status: "ok" },
      hang: { status: "failing", complaint: "it did not answer within 500 ms" },
    });
  });

  it("shows its token with every question, and says so when it is refused", async () => {
    const server = await serve({ host: "127.0.0.1", port: 0 });
    const { clock, timers, log } = testPorts().ports;
    const tokens = [everyRole, "forged", "viewer", everyRole];
    const target = "port" in server.address ? `127.0.0.1:${server.address.port}` : "";
    const credentials = () => tokens.shift() ?? "";
    const known = createHealthDirectory({ targets: { a: target }, clock, timers, log, coalesceMs: 0, credentials });
    closers.push(() => known.close());
    const refused = { a: { status: "failing", complaint: "it refuses the platform's own token" } };
    expect(await known.all()).toEqual({ a: { status: "ok" } });
    expect(await known.all()).toEqual(refused);
    expect(await known.all()).toEqual(refused);
    expect(await known.collectMetrics()).toEqual({ a: '[{"name":"portcullis_x"}]' });
  });

  it("tells a service that cannot check its callers from one that is gone", async () => {
    const verifier = testVerifier();
    verifier.answer(() => Promise.reject(new Fault("IDENTITY_UNAVAILABLE", "Nobody knows.", { retry: "later" })));
    const server = await serve({ host: "127.0.0.1", port: 0 }, undefined, verifier);
    expect(await directory({ a: server.address }).all()).toEqual({
      a: { status: "failing", complaint: "it cannot find out who asks for its health" },
    });
  });

  it("serves many askers with one round, and never an old answer", async () => {
    let askedCount = 0;
    const server = await serve({ host: "127.0.0.1", port: 0 }, () => {
      askedCount += 1;
      return { status: "ok" };
    });
    const known = directory({ a: server.address }, 100);
    await Promise.all(Array.from({ length: 20 }, () => known.all()));
    expect(askedCount).toBe(1);
    await expect
      .poll(async () => {
        await known.all();
        return askedCount;
      })
      .toBe(2);
  });
});
