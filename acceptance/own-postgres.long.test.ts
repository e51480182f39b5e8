// 28.11: a PostgreSQL of the user's as an administrator gives it: Debian's, over TLS with verify-full, an owner that may do nothing but own its database, a login for
// each service that the administrator made with the statements which the start printed, in production; then the same through a pooler in session mode.
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient } from "../adapters/postgres/connection.ts";
import { platformServices, storeProcesses } from "../contracts/src/platform-services.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { type SessionPooler, startSessionPooler } from "../testkit/session-pooler.ts";
import { newAuthority } from "../testkit/test-certificate.ts";

const folder = temporaryFolder("own-postgres");
const authority = newAuthority();
const authorityFile = join(folder, "ca.crt");
const strangerFile = join(folder, "stranger.crt");
const passwordOf = (name: string): string => `the-password-of-${name}`;
const logins = Object.fromEntries(platformServices.map((service) => [`portfolio_${service}`, passwordOf(service)]));
let postgres: PlainPostgres;
let pooler: SessionPooler | undefined;
let platform: Platform | undefined;
let serverPort: number;

beforeAll(async () => {
  writeFileSync(authorityFile, authority.certificate);
  writeFileSync(strangerFile, newAuthority().certificate);
  serverPort = await freePort();
  postgres = await startPlainPostgres("Debian's", { port: serverPort, ...authority.issue(["localhost", "127.0.0.1"]) });
  await postgres.administer(
    `CREATE ROLE trading LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD '${passwordOf("trading")}'`,
    "CREATE DATABASE portfolio OWNER trading",
  );
}, 180_000);

afterAll(async () => {
  await platform?.end();
  await pooler?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

const tls = (file: string): string => `?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;

function start(environment: Readonly<Record<string, string>> = {}, file = authorityFile): Platform {
  const owner = `postgres://trading:${passwordOf("trading")}@localhost:${serverPort}/portfolio${tls(file)}`;
  return startPlatform({
    dataFolder: join(folder, "data"),
    environment: { PORTCULLIS_MODE: "production", PORTCULLIS_DATABASE_URL: owner, ...environment },
  });
}

const named = (port: number, query: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    platformServices.map((service) => [
      `PORTCULLIS_DATABASE_LOGINS_${service.toUpperCase()}`,
      `postgres://portfolio_${service}:${passwordOf(service)}@localhost:${port}/portfolio${query}`,
    ]),
  );

async function refusal(refused: Platform): Promise<string> {
  expect(await refused.exited).toEqual({ code: 1, signal: null });
  return refused.stderr();
}

/** Who is connected, and whether over TLS. */
async function sessions(): Promise<readonly { readonly login: string; readonly ssl: boolean }[]> {
  const client = await openClient(postgres.administrator, { log: quietLog, applicationName: "test" });
  const text = `select distinct usename::text as login, ssl from pg_stat_activity join pg_stat_ssl using (pid)
                where datname = 'portfolio' order by usename::text`;
  return client
    .query<{ login: string; ssl: boolean }>(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

async function isUp(running: Platform): Promise<void> {
  await running.ready();
  await eventually("it is healthy", async () => (await running.health()) === 200);
  const answer = await fetchOnNewConnection(`http://${running.runFile().addresses["gateway"]}/v1/healthz`);
  expect(await answer.text()).not.toContain("one database login");
  expect(running.stdout()).not.toContain("one login");
}

describe("28.11: your own PostgreSQL", { timeout: 240_000 }, () => {
  test("is refused when its certificate is not of the authority that was named", async () => {
    expect(await refusal(start({}, strangerFile))).toMatch(/certificate/);
  });

  test("without logins production does not start and prints what an administrator runs", async () => {
    const [, ...two] = /"(CREATE ROLE [^;]*;) (GRANT [^;]*;)"/.exec(await refusal(start())) ?? [];
    await postgres.administer(...two);
    const printed = await refusal(start());
    const statements = [...printed.matchAll(/^ {2}(CREATE ROLE .*;)$/gm)].map(([, statement = ""]) => statement);
    expect(statements).toHaveLength(storeProcesses.length);
    await postgres.administer(
      ...statements.map((statement) =>
        statement.replace(/'a password for (\w+)'/, (_all, name) => `'${passwordOf(name)}'`),
      ),
    );
  });

  test("each service works over TLS as the login that was made for it", async () => {
    platform = start(named(serverPort, tls(authorityFile)));
    await isUp(platform);
    expect(await sessions()).toEqual(
      Object.keys(logins)
        .toSorted()
        .map((login) => ({ login, ssl: true })),
    );
    // None of them is the repository bot's: all else runs, and it is said what to name.
    expect(platform.runFile().processes).not.toHaveProperty("bots");
    const url = operatorUrl(platform);
    await eventually("health says what the bot lacks", async () =>
      (await (await fetchOnNewConnection(`${url}/v1/healthz`)).text()).includes("PORTCULLIS_DATABASE_LOGINS_BOTS"),
    );
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
  });

  test("and through a pooler in session mode that drops the settings of connections", async () => {
    const port = await freePort();
    const server = { port: serverPort, database: "portfolio", authority: authority.certificate };
    pooler = await startSessionPooler({ port, server, logins });
    platform = start(named(port, "?sslmode=disable"));
    await isUp(platform);
    expect((await sessions()).map(({ login }) => login)).toEqual(Object.keys(logins).toSorted());
  });
});
