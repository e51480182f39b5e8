// The server is fetched once even when several ask at once. It needs Debian's packages, so it is among the long forms.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { natsServerBinary } from "./nats-server.ts";

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
