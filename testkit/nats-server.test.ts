// The real server starts, survives a kill and keeps its folder tidy.
import { expect, test } from "vitest";
import { startNatsServer } from "./nats-server.ts";

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
