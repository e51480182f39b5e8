// The table of connections in README, line by line, on the real thing: Debian's PostgreSQL that speaks TLS to a login that is no superuser, services
// on two addresses that prove themselves to each other, and people over https. Each wrong case is refused.
import { rmSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient } from "../adapters/postgres/connection.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { newAuthority, writePair } from "../testkit/test-certificate.ts";

/** An address of this machine that is not loopback counts as another machine's; without one loopback has to do. */
const away =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && one.family === "IPv4" && !one.internal)?.address ?? "127.0.0.4";
const unnamed = "127.0.0.5";
const [first, second] = ["127.0.0.2", "127.0.0.3"];

const folder = temporaryFolder("tls");
const authority = newAuthority();
const { certFile: caFile } = writePair(folder, "ca", authority);
const open: Platform[] = [];
let postgres: PlainPostgres;
let databasePort = 0;
let ports: readonly number[] = [];

beforeAll(async () => {
  [databasePort = 0, ...ports] = await Promise.all(Array.from({ length: 7 }, freePort));
  const made = authority.issue([away]);
  postgres = await startPlainPostgres("Debian's", { addresses: [away, unnamed], port: databasePort, ...made });
  await postgres.administer(
    "CREATE ROLE trading LOGIN NOSUPERUSER CREATEROLE",
    "CREATE DATABASE own OWNER trading",
    "GRANT CREATE ON DATABASE own TO trading",
  );
}, 300_000);

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === "object" ? address.port : 0;
}

const databaseUrl = (host: string, query = ""): string => `postgres://trading@${host}:${databasePort}/own${query}`;

function start(name: string, environment: Readonly<Record<string, string>>, more: readonly string[] = []): Platform {
  const platform = startPlatform({ dataFolder: join(folder, name), environment, arguments: more });
  open.push(platform);
  return platform;
}

/** What both machines know: the same database, the same secrets, who is where. */
function shared(address: string): Readonly<Record<string, string>> {
  const names = ["RISKENGINE", "OPERATIONS", "OMS", "TREASURY", "RESEARCH"];
  const places = names.map((name, index) => {
    const host = index < 2 ? first : second;
    return [`PORTCULLIS_RPC_${name}`, `${host}:${ports[index]}`] as const;
  });
  const { certFile, keyFile } = writePair(folder, address, authority.issue([address]));
  return {
    ...Object.fromEntries(places),
    PORTCULLIS_DATABASE_URL: databaseUrl(away),
    PORTCULLIS_DATABASE_CA_FILE: caFile,
    PORTCULLIS_SECRETS_FILE: join(folder, "secrets"),
    PORTCULLIS_SECRETS_KEY_FILE: join(folder, "secrets.key"),
    PORTCULLIS_TLS_PEER_CA_FILE: caFile,
    PORTCULLIS_TLS_PEER_CERT_FILE: certFile,
    PORTCULLIS_TLS_PEER_KEY_FILE: keyFile,
  };
}

/** The status of healthz over https, and what it says; 0 when nobody is trusted there. */
function health(platform: Platform): Promise<{ readonly status: number; readonly text: string }> {
  const url = `${platform.runFile().urls["gateway"]}/v1/healthz`;
  return new Promise((resolve) => {
    get(url, { ca: authority.certificate, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    }).on("error", (error) => resolve({ status: 0, text: error.message }));
  });
}

function checkHealth(target: string, ca: string): Promise<string | undefined> {
  const client = new Client(target, credentials.createSsl(Buffer.from(ca)));
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    const end = (error: ServiceError | null): void => {
      client.close();
      resolve(status[error?.code ?? status.OK]);
    };
    const deadline = Date.now() + 20_000;
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", same, same, Buffer.alloc(0), { deadline }, end);
  });
}

describe("a database on another machine", { timeout: 120_000 }, () => {
  test.each([
    ["in clear text", () => ({ PORTCULLIS_DATABASE_URL: databaseUrl(away, "?sslmode=disable") }), 2, /database\.url/],
    ["that nobody vouches for", () => ({ PORTCULLIS_DATABASE_URL: databaseUrl(away) }), 1, /certificate/i],
    [
      "under another name than its certificate's",
      () => ({
        PORTCULLIS_DATABASE_URL: databaseUrl(unnamed, "?sslmode=verify-full"),
        PORTCULLIS_DATABASE_CA_FILE: caFile,
      }),
      1,
      /altnames/,
    ],
  ])("%s is refused", async (_name, environment, code, sentence) => {
    const platform = start("refused", environment());
    expect(await platform.exited).toEqual({ code, signal: null });
    await expect.poll(() => platform.stderr()).toMatch(sentence);
  });
});

describe("services on two machines", { timeout: 240_000 }, () => {
  test("prove themselves to each other, to the database and to people", async () => {
    const one = start("first", { ...shared(first), PORTCULLIS_SERVICES: "riskengine,operations" });
    await one.ready();
    const id = /installation ([0-9a-f-]{36})/.exec((await refusedFolder()).stderr())?.[1] ?? "";
    const { certFile, keyFile } = writePair(folder, "people", authority.issue(["127.0.0.1", "localhost"]));
    const tls = { PORTCULLIS_TLS_CERT_FILE: certFile, PORTCULLIS_TLS_KEY_FILE: keyFile };
    const services = { PORTCULLIS_SERVICES: "oms,treasury,research,gateway" };
    const two = start("second", { ...shared(second), ...tls, ...services }, ["--adopt", id]);
    await two.ready();
    await eventually("both machines are well", async () => (await health(two)).status === 200, 120_000);
    expect((await health(two)).text).not.toContain("insecure");
  });

  test("speak to the database over TLS alone", async () => {
    const client = await openClient(postgres.administrator, { log: quietLog, applicationName: "administrator" });
    try {
      const found = await client.query<{ count: string; encrypted: boolean }>(
        "SELECT count(*), bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL",
      );
      expect(found.rows[0]?.encrypted).toBe(true);
      expect(Number(found.rows[0]?.count)).toBeGreaterThan(5);
    } finally {
      await client.end();
    }
  });

  test("answer order management over TLS, and nobody who does not know the authority", async () => {
    expect(await checkHealth(`${first}:${ports[0]}`, authority.certificate)).toBe("OK");
    expect(await checkHealth(`${first}:${ports[0]}`, newAuthority().certificate)).toBe("UNAVAILABLE");
  });

  test("show people a renewed certificate without a restart", async () => {
    const renewed = authority.issue(["127.0.0.1", "localhost"]);
    writePair(folder, "people", renewed);
    const { port } = new URL(open.at(-1)?.runFile().urls["gateway"] ?? "");
    const shown = (): Promise<string | undefined> =>
      new Promise((resolve) => {
        const socket = connectTls({ host: "127.0.0.1", port: Number(port), ca: authority.certificate }, () => {
          resolve(socket.getPeerX509Certificate()?.toString());
          socket.destroy();
        });
        socket.on("error", () => resolve(undefined));
      });
    await expect.poll(shown, { timeout: 30_000 }).toBe(renewed.certificate);
  });
});

/** A machine whose folder belongs to no installation is named the one that it may adopt. */
async function refusedFolder(): Promise<Platform> {
  const platform = start("second", { ...shared(second), PORTCULLIS_SERVICES: "oms,treasury,research" });
  expect(await platform.exited).toEqual({ code: 1, signal: null });
  return platform;
}
