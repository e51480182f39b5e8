// Starts of the program that need a platform of their own for one sentence: a subset, a single process, a signal while it starts, a port that is taken.
import { createServer, type Server } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { allOr } from "../testkit/full-count.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";

const open: Platform[] = [];

function start(...parameters: Parameters<typeof startPlatform>): Platform {
  const platform = startPlatform(...parameters);
  open.push(platform);
  return platform;
}

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
}, 60_000);

describe("a platform that runs", { timeout: 120_000 }, () => {
  test("a gateway that knows no service does not claim to be well", async () => {
    const platform = start({ environment: { PORTCULLIS_SERVICES: "gateway" } });
    await platform.ready();
    expect(Object.keys(platform.runFile().processes)).toEqual(["gateway"]);
    expect(await platform.health()).toBe(503);
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
  });

  test("runs in a single process, and a subset alone", async () => {
    const single = start({ arguments: ["--single-process"] });
    await single.ready();
    await expect.poll(() => single.health()).toBe(200);
    expect(new Set(Object.values(single.runFile().processes))).toEqual(new Set([single.pid]));
    single.signal("SIGTERM");
    expect(await single.exited).toEqual({ code: 0, signal: null });

    // The short run has the gateway alone, above.
    for (const name of allOr(["riskengine"], [])) {
      const subset = start({ environment: { PORTCULLIS_SERVICES: name } });
      await subset.ready();
      expect(Object.keys(subset.runFile().processes)).toEqual([name]);
      subset.signal("SIGTERM");
      expect(await subset.exited).toEqual({ code: 0, signal: null });
    }
  });

  test("a signal during the start stops it cleanly", async () => {
    const platform = start();
    await eventually("it has begun", () => platform.processes().length > 0);
    platform.signal("SIGTERM");
    const exit = await platform.exited;
    expect(exit.code === 0 || exit.signal === "SIGTERM").toBe(true);
    await eventually("nothing is left", () => platform.processes().length === 0);
  });
});

describe("a platform that cannot start says why in one sentence", { timeout: 60_000 }, () => {
  async function refusal(
    options: Parameters<typeof startPlatform>[0],
  ): Promise<{ code: number | null; sentence: string }> {
    const platform = start(options);
    const { code } = await platform.exited;
    await eventually("nothing is left", () => platform.processes().length === 0);
    return { code, sentence: platform.stderr().trim() };
  }

  const ports = [
    ["PORTCULLIS_HTTP_PORT", "gateway"],
    ["PORTCULLIS_GRPC_PORT", "riskengine"],
    ["PORTCULLIS_PUBLIC_PORT", "gateway"],
    ["PORTCULLIS_OPERATIONS_GRPC_PORT", "operations"],
  ] as const;
  // One part that starts beside the one that cannot is enough to see that it is stopped again.
  const [services] = allOr<Readonly<Record<string, string>>>([{}], [{ PORTCULLIS_SERVICES: "riskengine,gateway" }]);
  test.each(allOr(ports, ports.slice(0, 1)))("%s is taken", async (variable, part) => {
    const { server, port } = await occupiedPort();
    const { code, sentence } = await refusal({ environment: { ...services, [variable]: String(port) } });
    server.close();
    expect(code).toBe(1);
    expect(sentence).toMatch(new RegExp(`^Portcullis stops: ${part} could not start: .*${port}.*${variable}.*$`));
  });
});

async function occupiedPort(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { server, port: address.port };
}
