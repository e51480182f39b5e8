// The real server starts, survives a kill, keeps its folder tidy, and is fetched once even when several ask at once.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { natsServerBinary, startNatsServer } from "./nats-server.ts";

test("a server listens on a free port and comes back after a kill", async () => {
  const server = await startNatsServer({ jetStream: true });
  try {
    expect(server.version).toMatch(/^\d+\.\d+\.\d+$/);
    const first = server.pid();
    await server.kill();
    await server.restart();
    expect(server.pid()).not.toBe(first);
  } finally {
    await server.stop();
  }
  expect(() => process.kill(server.pid(), 0)).toThrow();
});

test("parallel fetches share one result and leave nothing else in the cache", { timeout: 60_000 }, async () => {
  const cache = await mkdtemp(join(tmpdir(), "portcullis-nats-cache-"));
  try {
    const binaries = await Promise.all([1, 2, 3].map(() => natsServerBinary(cache, "")));
    expect(new Set(binaries).size).toBe(1);
    expect((await readdir(cache)).length).toBe(1);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
});
