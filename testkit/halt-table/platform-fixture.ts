// The ground of the table on the real thing: a running platform of six processes on PostgreSQL, people whose tokens its own key signed and who set up real
// authenticators, machines with real tokens, and its audit log as it stands in the database.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { importJWK, SignJWT } from "jose";
import { TOTP } from "otpauth";
import { ringOf } from "../../adapters/identity/embedded/key-ring.ts";
import { openClient } from "../../adapters/postgres/connection.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { openFileSecrets } from "../../adapters/secrets-file/file-secrets.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { developmentCredentials, issueServiceToken, logInAs, operatorUrl } from "../login.ts";
import { noMetrics, noTracer } from "../no-telemetry.ts";
import { eventually, type Platform, startPlatform } from "../platform.ts";
import { type TestDatabase, testDatabase } from "../postgres.ts";
import { openPeer } from "../postgres-fixture.ts";
import { quietLog } from "../quiet-log.ts";
import { addressOf } from "../risk/client.ts";
import { type FoundEntry, foundEntry, type HaltTableFixture, rolesOf, type TableCaller } from "./fixture.ts";
import { createScenes } from "./scenes.ts";
import { grpcSurface, postJson } from "./surfaces.ts";

export async function platformFixture(): Promise<HaltTableFixture> {
  const database = await testDatabase([]);
  const { host, port, user, database: name } = database.address.owner;
  const platform = startPlatform({
    environment: {
      PORTCULLIS_DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
      PORTCULLIS_PAPER_SEED: "always",
      PORTCULLIS_ACCESS_TOKEN_S: "3600",
    },
  });
  await platform.ready();
  const hands = openHands(database);
  const people = await createPeople(platform);
  const log = await openLog(database);
  const grpc = { Operations: addressOf(platform, "operations"), RiskEngine: addressOf(platform, "riskengine") };
  const direct = grpcSurface({ grpc }, "Operations");
  return {
    grpc,
    ...people,
    ...log,
    ...createScenes((work) => hands.store.transact("ground", work), systemClock()),
    url: operatorUrl(platform),
    publicUrl: `http://${platform.runFile().addresses["gateway.public"]}`,
    async askDirectly(by, request) {
      const answer = await direct.ask(by, request);
      if (answer === undefined) throw new Error("gRPC has words for everything");
      return answer;
    },
    async close() {
      direct.close();
      await log.end();
      await hands.close();
      await platform.end();
      await database.drop();
    },
  };
}

function openHands({ address }: TestDatabase) {
  const peer = openPeer(address.app);
  const timers = systemTimers();
  const tools = { clock: systemClock(), random: systemRandom(), timers, log: quietLog, metrics: noMetrics };
  const store = createPostgresStore({
    ...tools,
    tracer: noTracer,
    source: "fixture",
    pool: peer.pool,
    wake: peer.wake,
  });
  return {
    store,
    close: async (): Promise<void> => {
      await store.close();
      await peer.close();
      timers.release();
    },
  };
}

/** Of what was reported about halts and attempts, how much is no entry yet. */
const missingText = `select count(*)::int as missing from outbox o
  where o.subject ~ '\\.(operator|halt|resume)\\.'
    and not exists (select 1 from audit_entry e where e.event_id = o.event_id::text)`;

async function openLog({ address }: TestDatabase) {
  const client = await openClient(address.owner, { log: quietLog, applicationName: "who reads the audit log" });
  async function entriesFrom(count: number): Promise<readonly FoundEntry[]> {
    const text = "select event_id, text from audit_entry where sequence >= $1 order by sequence";
    const { rows } = await client.query(text, [count]);
    return rows.map((row: { readonly event_id: string; readonly text: Buffer }) => foundEntry(row.event_id, row.text));
  }
  const isComplete = async (): Promise<boolean> => (await client.query(missingText)).rows[0]?.missing === 0;
  return {
    async mark(): Promise<number> {
      await eventually("everything that was reported is an entry", isComplete);
      return (await client.query("select count(*)::int as count from audit_entry")).rows[0]?.count ?? 0;
    },
    async entriesSince(count: number, attemptsMin: number): Promise<readonly FoundEntry[]> {
      let entries: readonly FoundEntry[] = [];
      await eventually("the attempt is an entry", async () => {
        if (!(await isComplete())) return false;
        entries = await entriesFrom(count);
        return entries.filter(({ action }) => action === "operator.attempted").length >= attemptsMin;
      });
      return entries;
    },
    end: () => client.end(),
  };
}

type Sign = (claims: object) => Promise<string>;

/** Signs as the platform itself: everybody in the table is somebody whom its issuer knows. */
async function signer(platform: Platform): Promise<Sign> {
  const { access_token: good } = await logInAs(platform, "duty");
  const claims = JSON.parse(Buffer.from(good.split(".")[1] ?? "", "base64url").toString()) as object;
  const timers = systemTimers();
  const secrets = await openFileSecrets({
    file: join(platform.dataFolder, "secrets"),
    key: { kind: "key file", path: join(platform.dataFolder, "secrets.key") },
    clock: systemClock(),
    timers,
    random: systemRandom(),
    log: quietLog,
  });
  const [signing] = ringOf((await secrets.get("secret/portcullis/identity/signing-keys"))?.value);
  await secrets.close();
  timers.release();
  if (signing === undefined) throw new Error("the platform has no signing key");
  const key = await importJWK({ ...signing.jwk }, "ES256");
  return (changed) =>
    new SignJWT({ ...claims, jti: randomBytes(8).toString("hex"), sid: randomBytes(8).toString("hex"), ...changed })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: signing.kid })
      .sign(key);
}

const stepMs = 30_000;

interface Authenticator {
  readonly totp: TOTP;
  /** The step after the one that set it up: good as long as the next minute lasts. */
  readonly step: number;
}

async function createPeople(platform: Platform): Promise<Pick<HaltTableFixture, "caller" | "again" | "codeOf">> {
  const sign = await signer(platform);
  const url = operatorUrl(platform);
  const machine = await issueServiceToken(platform, "watchdog", ["RequestHalt"]);
  const { service_token: otherMachine } = developmentCredentials(platform.dataFolder);
  const authenticators = new Map<string, Authenticator>();
  let count = 0;

  async function enrol({ token, actor }: TableCaller): Promise<void> {
    const begun = await postJson(`${url}/v1/auth/second-factor`, token, {});
    const totp = new TOTP({ secret: String(begun.body["secret"]) });
    const now = Math.floor(Date.now() / stepMs);
    const code = totp.generate({ timestamp: now * stepMs });
    const confirmed = await postJson(`${url}/v1/auth/second-factor/confirm`, token, { code });
    if (confirmed.code !== "") throw new Error(`setting up a factor was refused: ${confirmed.sentence}`);
    authenticators.set(actor, { totp, step: now + 1 });
  }

  async function person(name: string, roles: readonly string[]): Promise<TableCaller> {
    return { token: await sign({ sub: name, roles }), actor: `operator:${name}`, kind: "operator" };
  }

  const show = (caller: TableCaller, totp: string): Promise<unknown> =>
    postJson(`${url}/v1/auth/step-up`, caller.token, { action: "IssueServiceToken", parameters: {}, totp });

  return {
    async caller(who, factor = "enrolled") {
      count += 1;
      if (who === "nobody") return { actor: "", kind: "nobody" };
      if (who === "somebody with a token that is not ours") return { token: "not.a.token", actor: "", kind: "nobody" };
      if (who === "machine") return { token: machine, actor: "service:watchdog", kind: "service" };
      if (who === "machine for other things") {
        return { token: otherMachine, actor: "service:order-management", kind: "service" };
      }
      const made = await person(`person-${count}`, rolesOf(who));
      if (who.startsWith("operator") && factor === "enrolled") await enrol(made);
      return made;
    },
    async again(caller, as) {
      const name = caller.actor.slice("operator:".length);
      if (as === "in a second session") return person(name, ["operator"]);
      const other = await person(name.toUpperCase(), ["operator"]);
      await enrol(other);
      return other;
    },
    async codeOf(caller, kind) {
      const authenticator = authenticators.get(caller.actor);
      if (authenticator === undefined) return "123456";
      const { totp, step } = authenticator;
      const at = (which: number): string => totp.generate({ timestamp: which * stepMs });
      const wrong = String((Number(at(step)) + 1) % 1_000_000).padStart(6, "0");
      if (kind === "replayed") await show(caller, at(step));
      if (kind === "locked") for (let tries = 0; tries < 5; tries += 1) await show(caller, wrong);
      if (kind === "expired") return at(step - 10);
      return kind === "wrong" ? wrong : at(step);
    },
  };
}
