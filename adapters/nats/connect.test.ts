// The connection: what it refuses, how it waits, and that no credential ever leaves it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { nkeys } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import type { Log } from "../../ports/log.ts";
import { startNatsServer } from "../../testkit/nats-server.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { selfSigned } from "../../testkit/test-certificate.ts";
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
    await expect.poll(() => link.health().connected).toBe(false);
    lines.push(JSON.stringify(link.health()), link.address);
    await server.restart();
    await expect.poll(() => link.health().connected).toBe(true);
    await expect.poll(() => link.health().complaint).toBeUndefined();
    await link.close();
    lines.push(JSON.stringify(link.health()));
    const wrong = url.replace(secret, `${secret}-wrong`);
    const refused = await rejectionOf(connectNats({ url: wrong, name: "test", log: recordingLog(lines) }));
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
  const options = { url: server.url, name: "test", log: quietLog };
  try {
    expect(await rejectionOf(connectNats(options))).toMatchObject({
      code: "BUS_UNSUPPORTED",
      facts: { feature: "jetstream", server_version: server.version },
    });
  } finally {
    await server.stop();
  }
  expect(await rejectionOf(connectNats({ ...options, connectMsMax: 1_000 }))).toMatchObject({
    code: "BUS_UNAVAILABLE",
  });
});

test("a credentials file opens the door, and one that is not there is named", async () => {
  const user = nkeys.createUser();
  const folder = await mkdtemp(join(tmpdir(), "portcullis-creds-"));
  const credsFile = join(folder, "user.creds");
  const block = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n\n`;
  const seed = new TextDecoder().decode(user.getSeed());
  await writeFile(credsFile, block("NATS USER JWT", "any") + block("USER NKEY SEED", seed), { mode: 0o600 });
  const configuration = `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`;
  const server = await startNatsServer({ jetStream: true, configuration });
  const options = { url: server.url, name: "test", log: quietLog };
  try {
    const refused = connectNats({ ...options, connectMsMax: 2_000 });
    expect(await rejectionOf(refused)).toMatchObject({ code: "BUS_UNAVAILABLE" });
    const link = await connectNats({ ...options, credsFile });
    expect(link.health()).toEqual({ connected: true });
    await link.close();
    const missing = await rejectionOf(connectNats({ ...options, credsFile: join(folder, "none.creds") }));
    expect(missing).toMatchObject({ code: "INVALID_ARGUMENT", retry: "never" });
    expect(String(missing)).toContain("none.creds");
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

test("a server whose certificate comes from the named authority is trusted, and no other", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portcullis-tls-"));
  const [own, other] = [selfSigned("localhost"), selfSigned("localhost")];
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const cert = await file("server.pem", own.certificate);
  const key = await file("server.key", own.key);
  const stranger = await file("stranger.pem", other.certificate);
  const configuration = `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`;
  const server = await startNatsServer({ jetStream: true, configuration });
  const options = { url: `tls://localhost:${server.port}`, name: "test", log: quietLog };
  try {
    const link = await connectNats({ ...options, tlsCaFile: cert });
    expect(link.health()).toEqual({ connected: true });
    await link.close();
    for (const refused of [options, { ...options, tlsCaFile: stranger }])
      expect(await rejectionOf(connectNats({ ...refused, connectMsMax: 2_000 }))).toMatchObject({
        code: "BUS_UNAVAILABLE",
      });
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});
