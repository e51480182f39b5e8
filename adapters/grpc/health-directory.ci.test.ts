// How soon the directory sees that a service is back, measured: the back-off of its connections must not grow beyond about a second.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { pause } from "../../testkit/platform.ts";
import { createHealthDirectory } from "./health-directory.ts";
import { serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(path: string) {
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { path },
    purpose: "a test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  return server;
}

describe("the directory", () => {
  it("sees a death at once and a return within about a second, also after a long absence", async () => {
    const folder = mkdtempSync(join(tmpdir(), "portcullis-directory-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "a.sock");
    const first = await serve(path);
    const { clock, timers, log } = testPorts().ports;
    const targets = { a: `unix:${path}` };
    const known = createHealthDirectory({ targets, clock, timers, log, coalesceMs: 0, credentials: () => everyRole });
    closers.push(() => known.close());
    expect((await known.all())["a"]?.status).toBe("ok");
    await first.drain(0);
    const goneAt = performance.now();
    expect((await known.all())["a"]?.status).toBe("failing");
    expect(performance.now() - goneAt).toBeLessThan(400);
    // Long enough for the back-off to have grown to its bound.
    for (const until = Date.now() + 6_000; Date.now() < until; await pause(100)) await known.all();
    await serve(path);
    const backAt = performance.now();
    await expect.poll(async () => (await known.all())["a"]?.status, { interval: 50 }).toBe("ok");
    expect(performance.now() - backAt).toBeLessThan(2_000);
  });
});
