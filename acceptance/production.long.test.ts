// 28: production as README's table of connections describes it, all of it together: Debian's PostgreSQL over TLS with a login that is no superuser, Debian's
// NATS over TLS with a login for each service, services on two addresses that prove themselves to each other, people from an issuer of their own. An order is
// checked and filled, a halt stops the next, health is green, and whoever has no login gets nowhere.
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inboxPrefix, natsAuthorization, natsUsers, passwordVariable } from "../adapters/nats/server-configuration.ts";
import { openClient } from "../adapters/postgres/connection.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { type SecondIssuer, startSecondIssuer } from "../testkit/second-issuer.ts";
import { newAuthority, writePair } from "../testkit/test-certificate.ts";

/** An address of this machine that is not loopback counts as another machine's; without one loopback has to do. */
const away =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && one.family === "IPv4" && !one.internal)?.address ?? "127.0.0.4";
const [first, second] = ["127.0.0.2", "127.0.0.3"];
const passwordOf = (user: string): string => `p-${user}-secret`;

const folder = temporaryFolder("production");
const authority = newAuthority();
const { certFile: caFile } = writePair(folder, "ca", authority);
const open: Platform[] = [];
let postgres: PlainPostgres;
let nats: NatsServer;
let openNats: NatsServer;
let issuer: SecondIssuer;
let databasePort = 0;
let ports: readonly number[] = [];
let two: Platform;

beforeAll(async () => {
  [databasePort = 0, ...ports] = await Promise.all(Array.from({ length: 6 }, freePort));
  postgres = await startPlainPostgres("Debian's", {
    addresses: [away],
    port: databasePort,
    ...authority.issue([away]),
  });
  await postgres.administer(
    "CREATE ROLE trading LOGIN NOSUPERUSER CREATEROLE",
    "CREATE DATABASE own OWNER trading",
    "GRANT CREATE ON DATABASE own TO trading",
  );
  nats = await startNatsServer({ jetStream: true, configuration: `${natsTls()}\n${natsLogins()}` });
  openNats = await startNatsServer({ jetStream: true, configuration: natsTls() });
  issuer = await startSecondIssuer({ accounts: [{ name: "erika", roles: ["operator"] }] });
}, 300_000);

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
  await Promise.all([issuer?.stop(), nats?.stop(), openNats?.stop()]);
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

function natsTls(): string {
  const { certFile, keyFile } = writePair(folder, "nats", authority.issue(["127.0.0.1", "localhost"]));
  return `tls { cert_file: ${JSON.stringify(certFile)}, key_file: ${JSON.stringify(keyFile)} }`;
}

/** The sample's users with passwords, and the file with each one's login. */
function natsLogins(): string {
  let configuration = natsAuthorization();
  for (const { name } of natsUsers()) {
    configuration = configuration.replace(`$${passwordVariable(name)}\n`, `${JSON.stringify(passwordOf(name))}\n`);
    writeFileSync(join(folder, `${name}.creds`), `${name}:${passwordOf(name)}\n`, { mode: 0o600 });
  }
  return configuration;
}

function start(name: string, environment: Readonly<Record<string, string>>, more: readonly string[] = []): Platform {
  const platform = startPlatform({ dataFolder: join(folder, name), environment, arguments: more });
  open.push(platform);
  return platform;
}

/** What both machines know: the same database, bus and secrets, who is where, who people are. */
function shared(address: string, bus: NatsServer = nats): Readonly<Record<string, string>> {
  const names = ["RISKENGINE", "OPERATIONS", "OMS", "TREASURY", "RESEARCH"];
  const places = names.map((name, index) => {
    const host = index < 2 ? first : second;
    return [`PORTCULLIS_RPC_${name}`, `${host}:${ports[index]}`] as const;
  });
  const { certFile, keyFile } = writePair(folder, address, authority.issue([address]));
  return {
    ...Object.fromEntries(places),
    PORTCULLIS_MODE: "production",
    PORTCULLIS_PAPER_SEED: "always",
    PORTCULLIS_OIDC_ISSUER: issuer.issuer,
    PORTCULLIS_OIDC_CLIENT_ID: issuer.clientId,
    PORTCULLIS_DATABASE_URL: `postgres://trading@${away}:${databasePort}/own`,
    PORTCULLIS_DATABASE_CA_FILE: caFile,
    PORTCULLIS_BUS_URL: `tls://127.0.0.1:${bus.port}`,
    PORTCULLIS_BUS_TLS_CA_FILE: caFile,
    PORTCULLIS_BUS_CREDS_DIR: folder,
    PORTCULLIS_SECRETS_FILE: join(folder, "secrets"),
    PORTCULLIS_SECRETS_KEY_FILE: join(folder, "secrets.key"),
    PORTCULLIS_TLS_PEER_CA_FILE: caFile,
    PORTCULLIS_TLS_PEER_CERT_FILE: certFile,
    PORTCULLIS_TLS_PEER_KEY_FILE: keyFile,
  };
}

async function ask(method: "GET" | "POST", path: string, body?: object): Promise<Record<string, unknown>> {
  const token = await issuer.mint({ sub: "erika", preferred_username: "erika", roles: ["operator"] });
  const answer = await fetchOnNewConnection(`${operatorUrl(two)}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

const stateOf = async (id: string): Promise<unknown> => (await ask("GET", `/v1/oms/orders/${id}`))["state"];

describe("28: production on PostgreSQL, NATS and two machines", { timeout: 900_000 }, () => {
  test("does not start on a NATS server that lets anybody publish", async () => {
    const platform = start("refused", { ...shared(first, openNats), PORTCULLIS_SERVICES: "riskengine,operations" });
    expect(await platform.exited).toEqual({ code: 1, signal: null });
    await expect.poll(() => platform.stderr()).toMatch(/lets anybody publish without a login/);
  });

  test("is green on both machines, and nothing is said to be insecure", async () => {
    const one = start("refused", { ...shared(first), PORTCULLIS_SERVICES: "riskengine,operations" });
    await one.ready();
    const foreign = start("second", { ...shared(second), PORTCULLIS_SERVICES: "oms,treasury,research" });
    expect(await foreign.exited).toEqual({ code: 1, signal: null });
    const id = /installation ([0-9a-f-]{36})/.exec(foreign.stderr())?.[1] ?? "";
    two = start("second", { ...shared(second), PORTCULLIS_SERVICES: "oms,treasury,research,gateway" }, ["--adopt", id]);
    await two.ready();
    await eventually("both machines are well", async () => (await two.health()) === 200, 240_000);
    const said = await (await fetchOnNewConnection(`${operatorUrl(two)}/v1/healthz`)).text();
    expect(said).not.toContain("insecure");
    for (const platform of [one, two]) expect(platform.stdout()).not.toContain("insecure");
  });

  test("an order is checked on one machine and filled on the other, and treasury hears of it over NATS", async () => {
    let number = 0;
    let id = "";
    await eventually(
      "an order is filled",
      async () => {
        number += 1;
        id = `production-${number}`;
        await ask("POST", "/v1/oms/orders", goodOrder(id));
        await eventually(`${id} has ended`, async () => ["FILLED", "REJECTED"].includes(String(await stateOf(id))));
        return (await stateOf(id)) === "FILLED";
      },
      240_000,
    );
    const fills = (await ask("GET", "/v1/oms/fills?fund_id=alpha")) as unknown as readonly Record<string, unknown>[];
    const fill = fills.find(({ order_id }) => order_id === id);
    expect(fill).toMatchObject({ symbol: "AAPL", quantity: "1" });
    const booked = async (): Promise<boolean> =>
      JSON.stringify(await ask("GET", "/v1/treasury/ledger?fund_id=alpha")).includes(String(fill?.["fill_id"]));
    await eventually("treasury has booked it", booked, 120_000);
  });

  test("a halt is acknowledged, and the next order is refused for it", async () => {
    const halted = await ask("POST", "/v1/halts", { id: "alpha", reason: "a test", confirmation: "HALT" });
    expect(halted).toMatchObject({ acknowledged: true });
    await ask("POST", "/v1/oms/orders", goodOrder("production-halted"));
    await eventually("it is refused", async () => (await stateOf("production-halted")) === "REJECTED");
    const { code } = await ask("GET", "/v1/oms/orders/production-halted");
    expect(code).toMatch(/HALT/);
    expect(await two.health()).toBe(200);
  });

  test("whoever has no login on NATS gets nowhere, and a service's may publish nothing but its own", async () => {
    const servers = `tls://127.0.0.1:${nats.port}`;
    const tls = { caFile };
    await expect(connect({ servers, tls })).rejects.toThrow(/authorization/i);
    await expect(connect({ servers, user: "oms", pass: passwordOf("oms") })).rejects.toThrow(/certificate/i);
    const oms = await connect({ servers, tls, user: "oms", pass: passwordOf("oms"), inboxPrefix: inboxPrefix("oms") });
    const refused: string[] = [];
    void (async () => {
      for await (const status of oms.status())
        if (status.type === "error" && "subject" in status.error) refused.push(String(status.error.subject));
    })();
    oms.publish("svc.v1.oms.fills.created", "{}");
    await expect.poll(() => refused).toContain("svc.v1.oms.fills.created");
    await oms.close();
  });

  test("every session with the database is encrypted, and each service has a login of its own", async () => {
    const client = await openClient(postgres.administrator, { log: quietLog, applicationName: "administrator" });
    const found = await client
      .query<{ login: string; encrypted: boolean }>(
        `SELECT usename AS login, bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE datname = 'own' GROUP BY usename ORDER BY usename`,
      )
      .finally(() => client.end());
    expect(found.rows.filter(({ login }) => login !== "trading")).toEqual(
      ["gateway", "oms", "operations", "research", "riskengine", "treasury"].map((service) => ({
        login: `own_${service}`,
        encrypted: true,
      })),
    );
    expect(found.rows.every(({ encrypted }) => encrypted)).toBe(true);
  });
});
