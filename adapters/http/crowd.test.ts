// More connections than there is room for, through real sockets: those that say nothing make way for those that do.
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Route } from "../../ports/http.ts";
import { keptConnections, ownConnection } from "../../testkit/http/kept-connection.ts";
import { ask, connectTo, hello, serve } from "../../testkit/http/test-client.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import type { HttpServer } from "./server.ts";

const hourMs = 3_600_000;
const half = "GET /v1/hello HTTP/1.1\r\nhost: a\r\nx-a: ";

async function hog(server: HttpServer, count: number, first: string): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connectTo(server));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await Promise.all(
    sockets.map((socket) => {
      socket.on("error", () => undefined).resume();
      return new Promise<void>((resolve) => socket.once("connect", () => socket.write(first, () => resolve())));
    }),
  );
  return sockets;
}

const closed = (sockets: readonly Socket[]): number => sockets.filter(({ destroyed }) => destroyed).length;

describe("a crowd of connections", () => {
  it.each([
    ["silent", ""],
    ["with half a request", half],
  ])("that are %s does not keep others out", async (_name, first) => {
    const { server } = await serve([hello], { limits: { connectionsMax: 20 } });
    const sockets = await hog(server, 30, first);
    for (let count = 0; count < 5; count += 1) {
      expect((await ask(server, "/v1/hello", { agent: ownConnection() })).status).toBe(200);
    }
    await expect.poll(() => closed(sockets)).toBeGreaterThanOrEqual(10);
  });

  it("that asks without a token and stays does not keep others out either, and is cut when it asks no more", async () => {
    const { server } = await serve([hello], { limits: { connectionsMax: 20, strangerIdleMsMax: 500 } });
    const sockets = await hog(server, 20, "GET /v1/hello HTTP/1.1\r\nhost: a\r\n\r\n");
    for (let count = 0; count < 5; count += 1) {
      expect((await ask(server, "/v1/hello", { agent: ownConnection() })).status).toBe(200);
    }
    expect(server.health()).toEqual({ status: "ok" });
    await expect.poll(() => closed(sockets)).toBe(20);
  });

  it("is taken in without a piece of others' work for each of them, and so is whoever comes behind it", {
    timeout: 60_000,
  }, async () => {
    let done = 0;
    const long: Route = {
      ...hello,
      id: "getLong",
      path: "/v1/long",
      operation: "GetHeadroom",
      handle: async () => {
        const endsAt = Date.now() + 12;
        while (Date.now() < endsAt);
        done += 1;
        return { status: 200, body: "done" };
      },
    };
    const { server } = await serve([hello, long]);
    let isOver = false;
    const agents = Array.from({ length: 20 }, () => keptConnections(1));
    const busy = agents.map(async (agent) => {
      while (!isOver) await ask(server, "/v1/long", { agent });
      agent.destroy();
    });
    await expect.poll(() => done).toBeGreaterThan(20);
    const crowd = Array.from({ length: 300 }, () => connectTo(server).on("error", () => undefined));
    onTestFinished(() => crowd.forEach((socket) => void socket.destroy()));
    const before = done;
    expect((await ask(server, "/v1/hello", { agent: ownConnection() })).status).toBe(200);
    const meanwhile = done - before;
    isOver = true;
    await Promise.all(busy);
    expect(meanwhile).toBeLessThan(100);
  });

  it("does not push out a connection on which a token was shown", async () => {
    const { server } = await serve([hello], { limits: { connectionsMax: 5 } });
    const agent = keptConnections(1);
    onTestFinished(() => agent.destroy());
    expect((await ask(server, "/v1/hello", { agent })).status).toBe(200);
    const [socket] = Object.values(agent.freeSockets).flat();
    await hog(server, 20, half);
    expect((await ask(server, "/v1/hello", { agent })).status).toBe(200);
    expect(socket?.destroyed).toBe(false);
  });

  it("is cut when its first request does not come, and told why if anything came", async () => {
    const { server } = await serve([hello], { limits: { firstRequestMsMax: 150 } });
    const [slow, silent] = [...(await hog(server, 1, half)), ...(await hog(server, 1, ""))];
    let heard = "";
    slow?.on("data", (chunk) => {
      heard += String(chunk);
    });
    await expect.poll(() => [slow?.destroyed, silent?.destroyed]).toEqual([true, true]);
    expect(heard).toContain("HTTP/1.1 408 ");
  });

  it("is left alone when it came in time", async () => {
    const timers = seenTimers();
    const { server } = await serve([hello], { limits: { firstRequestMsMax: hourMs }, timers });
    const [kept] = await hog(server, 1, "GET /v1/hello HTTP/1.1\r\nhost: a\r\n\r\n");
    const [silent] = await hog(server, 1, "");
    await expect.poll(() => timers.pendingOf(hourMs)).toBe(1);
    timers.fire(hourMs);
    await expect.poll(() => silent?.destroyed).toBe(true);
    expect(kept?.destroyed).toBe(false);
  });
});
