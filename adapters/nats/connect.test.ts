// The connection: what it refuses, how it waits, and that no credential ever leaves it.
import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { Log } from "../../ports/log.ts";
import { quietLog } from "../../testkit/global-setup.ts";
import { startNatsServer } from "../../testkit/nats-server.ts";
import { connectNats, parseTarget, reconnectDelayMs } from "./connect.ts";

const secret = "s3cr3t-pass";

function recordingLog(lines: string[]): Log {
  const write = (message: string, fields?: unknown): void => void lines.push(message + JSON.stringify(fields ?? {}));
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  return log;
}

async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error("it did not reject")),
    (thrown: unknown) => thrown,
  );
}

test("an address is taken apart, and what is printed of it holds no credentials", () => {
  const target = parseTarget(`nats://bob:${secret}@one:4223, tls://two`);
  expect(target.address).toBe("tls://one:4223,tls://two:4222");
  expect(target.credentials).toEqual({ user: "bob", password: secret });
  expect(parseTarget(`nats://${secret}@one`).credentials).toEqual({ token: secret });
  expect(() => parseTarget(`http://bob:${secret}@one`)).toThrow(/^(?!.*s3cr3t).*nats:\/\/host/);
});

test("the wait between attempts doubles up to its bound", () => {
  const waits = [0, 1, 2, 3, 10, 1_000].map((attempt) =>
    reconnectDelayMs({ reconnectMsMin: 50, reconnectMsMax: 300 }, attempt),
  );
  expect(waits).toEqual([50, 100, 200, 300, 300, 300]);
});

test("credentials open the door and appear in no log line, error, fact or health sentence", async () => {
  const configuration = `authorization { user: bob, password: "${secret}" }`;
  const server = await startNatsServer({ jetStream: true, configuration });
  const lines: string[] = [];
  try {
    const url = `nats://bob:${secret}@127.0.0.1:${server.port}`;
    const link = await connectNats({ url, name: "test", log: recordingLog(lines), reconnectMsMax: 100 });
    await server.kill();
    await expect.poll(() => link.health().connected, { timeout: 5_000 }).toBe(false);
    lines.push(JSON.stringify(link.health()), link.address);
    await server.restart();
    await expect.poll(() => link.health().connected, { timeout: 5_000 }).toBe(true);
    expect(link.health().complaint).toBeUndefined();
    await link.close();
    lines.push(JSON.stringify(link.health()));
    const wrong = { user: "bob", password: `${secret}-wrong` };
    const refused = await rejectionOf(
      connectNats({ url: server.url, credentials: wrong, name: "test", log: recordingLog(lines) }),
    );
    expect(refused).toMatchObject({ code: "BUS_UNAVAILABLE", retry: "later" });
    lines.push(inspect(refused, { depth: 10 }));
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.filter((line) => line.includes("s3cr3t"))).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("a server without JetStream is refused by name, one that is not there is said to be away", async () => {
  const server = await startNatsServer({ jetStream: false });
  const options = { url: server.url, name: "test", log: quietLog, connectMsMax: 1_000 };
  try {
    expect(await rejectionOf(connectNats(options))).toMatchObject({
      code: "BUS_UNSUPPORTED",
      facts: { feature: "jetstream", server_version: server.version },
    });
  } finally {
    await server.stop();
  }
  expect(await rejectionOf(connectNats(options))).toMatchObject({ code: "BUS_UNAVAILABLE" });
});

test("a feature that the real server is too old for is refused at start", async () => {
  const server = await startNatsServer({ jetStream: true });
  try {
    const options = { url: server.url, name: "test", log: quietLog };
    const old = /^2\.(9|10)\./.test(server.version);
    const outcome = connectNats({ ...options, requires: ["message_ttl"] });
    if (old) expect(await rejectionOf(outcome)).toMatchObject({ facts: { feature: "message_ttl" } });
    else await (await outcome).close();
  } finally {
    await server.stop();
  }
});
