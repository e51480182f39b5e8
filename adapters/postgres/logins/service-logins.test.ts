// A login for each service on a real server: that each gets the list and nothing else, that two installations on one server stay apart, and what a start says
// where the owner may not make them.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import {
  type PlatformService,
  platformServices,
  type StoreProcess,
  storeProcesses,
} from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { type ConnectionTarget, loginTarget, openClient, openPool } from "../connection.ts";
import { watchGrants } from "./grant-watch.ts";
import { prepareServiceLogins, roleNameOf } from "./service-logins.ts";
import { functionGrants, tableGrants } from "./table-grants.ts";

const databases: TestDatabase[] = [];
const timers = systemTimers();
afterAll(async () => {
  timers.release();
  for (const database of databases) {
    await asOwner(database.address.owner, dropLogins(database.address.owner.database)).catch(() => undefined);
    await database.drop();
  }
});

async function anotherDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  databases.push(database);
  return database;
}

/** Their names stand on the server, which other tests use too. */
const dropLogins = (database: string): string =>
  storeProcesses
    .map((service) => `drop owned by "${roleNameOf(database, service)}"; drop role "${roleNameOf(database, service)}"`)
    .join(";");

async function asOwner(target: ConnectionTarget, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = await openClient(target, { log: quietLog, applicationName: "test" });
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const prepare = (
  owner: ConnectionTarget,
  configured: Partial<Record<PlatformService, string>> = {},
  services: readonly PlatformService[] = platformServices,
) => prepareServiceLogins({ owner, configured, services, random: systemRandom(), log: quietLog });

async function refusal(work: Promise<unknown>): Promise<Fault> {
  const thrown = await work.catch((error: unknown) => error);
  if (thrown instanceof Fault) return thrown;
  throw new Error(`expected a Fault, got ${String(thrown)}`);
}

describe("28.6: a database login for each service", () => {
  let owner: ConnectionTarget;
  let logins: Partial<Record<StoreProcess, ConnectionTarget>>;
  const loginOf = (service: StoreProcess): ConnectionTarget => {
    const target = logins[service];
    if (target === undefined) throw new Error(`no login of ${service}`);
    return target;
  };
  const as = (service: StoreProcess, sql: string) => asOwner(loginOf(service), sql);

  beforeAll(async () => {
    owner = (await anotherDatabase()).address.owner;
    logins = (await prepare(owner)).targets ?? {};
  });

  it("is made by the start, and each logs in as itself with a password of its own", async () => {
    for (const service of storeProcesses) {
      expect(await as(service, "select current_user as me")).toEqual([{ me: roleNameOf(owner.database, service) }]);
    }
    const passwords = storeProcesses.map((service) => loginOf(service).password ?? "");
    expect(new Set(passwords).size).toBe(storeProcesses.length);
    for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{64}$/);
    const wrong = asOwner({ ...loginOf("oms"), password: "wrong" }, "select 1");
    await expect(wrong).rejects.toThrow(/password authentication failed/);
  });

  it("has a line in the list for every table and every function that is called, and no line for what is not there", async () => {
    const tables = await asOwner(
      owner,
      "select relname::text as name from pg_class where relnamespace = 'portcullis'::regnamespace and relkind in ('r', 'p', 'v', 'm')",
    );
    expect(tables.map(({ name }) => String(name)).sort()).toEqual(Object.keys(tableGrants).sort());
    const functions = await asOwner(
      owner,
      `select format('%s(%s)', proname, replace(pg_get_function_identity_arguments(oid), ' without time zone', '')) as name,
         proargtypes::regtype[]::text[] as types, proname::text as short from pg_proc
       where pronamespace = 'portcullis'::regnamespace and prorettype <> 'trigger'::regtype and proname <> 'audit_json_of_column'`,
    );
    const names = functions.map(({ short, types }) => `${String(short)}(${(types as string[]).join(", ")})`);
    expect(names.sort()).toEqual(Object.keys(functionGrants).sort());
  });

  it("of the bots has their own rows and nothing of the platform's; the gateway adds deliveries and changes none", async () => {
    for (const statement of [
      "select from outbox",
      "select from halt",
      "select from risk_envelope_head",
      "select from service_token",
      "select from operator",
      "select from audit_entry",
      "insert into bot_installation (content) values ('{}')",
      "insert into bot_pause (repository, content) values ('*', '{}')",
      "insert into bot_delivery (delivery_id, body_sha256, received_us, status, content) values ('d', 's', 1, 'ACCEPTED', '{}')",
      "insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, 'svc.v1.operations.halt.requested', 'firm', 'bots', '{}')",
    ]) {
      await expect(as("bots", statement), statement).rejects.toThrow(/permission denied|row-level security/);
    }
    const delivered =
      "insert into bot_delivery (delivery_id, body_sha256, received_us, status, content) values ('d', 's', 1, 'ACCEPTED', '{}')";
    await as("gateway", delivered);
    for (const statement of [
      "update bot_delivery set status = 'IGNORED'",
      "delete from bot_delivery",
      "insert into bot_run (run_id, key, repository, status, version, content) values ('r', 'k', 'a/b', 'QUEUED', 1, '{}')",
      "insert into bot_spend (run_id, day, content) values ('r', '2026-11-19', '{}')",
    ]) {
      await expect(as("gateway", statement), statement).rejects.toThrow(/permission denied/);
    }
    await as("bots", "update bot_delivery set status = 'HANDLED', content = '{}'");
    await expect(as("bots", "update bot_delivery set body_sha256 = 'x'")).rejects.toThrow(/permission denied/);
    await expect(as("oms", "select from bot_run")).rejects.toThrow(/permission denied/);
  });

  it("lets nobody rewrite what is append-only, or read what is somebody else's secret", async () => {
    const refused: readonly string[] = [
      ...["audit_entry", "audit_checkpoint", "risk_journal", "oms_fill", "treasury_entry", "outbox"].flatMap(
        (table) => [`delete from ${table}`, `truncate ${table}`],
      ),
      "update audit_entry set action = ''",
      "update risk_journal set code = ''",
      "update outbox set subject = ''",
      "select from service_login",
      "update installation set id = ''",
      "create table portcullis.mine (one int)",
      "alter table halt disable trigger all",
    ];
    for (const service of storeProcesses) {
      const client = await openClient(loginOf(service), { log: quietLog, applicationName: "test" });
      for (const statement of refused) {
        const refusing = client.query(statement);
        await expect(refusing, `${service}: ${statement}`).rejects.toThrow(/permission denied|must be owner/);
      }
      await client.end();
    }
    for (const service of ["oms", "treasury", "research", "riskengine", "operations"] as const) {
      await expect(as(service, "select password_hash from operator")).rejects.toThrow("permission denied");
      await expect(as(service, "insert into identity_key values ('k', '{}', 1)")).rejects.toThrow("permission denied");
    }
  });

  it("lets research read and write its own tables and change nothing else", async () => {
    await as("research", "select count(*) from halt; select count(*) from oms_order");
    const changeable = await as(
      "research",
      `select relname::text as name from pg_class where relnamespace = 'portcullis'::regnamespace and relkind = 'r'
         and (has_any_column_privilege(oid, 'insert, update') or has_table_privilege(oid, 'delete, truncate'))`,
    );
    // What every process writes of itself, what it wants to tell or be answered once, and which tokens it saw.
    const everybodys = ["commit_marker", "outbox", "request_key", "service_instance", "service_token_use"];
    const own = Object.keys(tableGrants).filter((table) => table.startsWith("research_"));
    expect(changeable.map(({ name }) => String(name)).sort()).toEqual([...everybodys, ...own].sort());
  });

  it("speaks only in its own name, and moves only its own cursors, leases and what it put aside", async () => {
    const event = (source: string, subject: string) =>
      `insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, '${subject}', 'k', '${source}', '{}')`;
    const lease = (name: string) =>
      `insert into service_instance values ('${name}-' || gen_random_uuid(), '${name}', 'h', 1, 1, 1)`;
    const cursor = (name: string) =>
      `insert into subscription (name, cursor_id, patterns, updated_us) values ('${name}', 0, '{}', 1)`;
    await as("oms", `${event("oms", subjects.fillsCreated.name)}; ${lease("oms")}; ${cursor("oms.test")}`);
    await as("riskengine", cursor("riskengine.test"));
    // Operations takes in what programs outside publish, in their names and never in one of ours.
    await as("operations", event("my-oms", subjects.fillsCreated.name));
    const refused: readonly (readonly [PlatformService, string])[] = [
      ["research", event("oms", subjects.fillsCreated.name)],
      ["research", event("research", subjects.fillsCreated.name)],
      ["gateway", event("gateway", subjects.haltLifted.name)],
      ["oms", event("operations", subjects.fillsCreated.name)],
      ["oms", event("my-oms", subjects.fillsCreated.name)],
      ["operations", event("oms", subjects.fillsCreated.name)],
      ["operations", event("operations", subjects.fillsCreated.name)],
      ["operations", event("my-oms", subjects.haltLifted.name)],
      ["oms", lease("riskengine")],
      ["oms", cursor("riskengine.other")],
      ["oms", "update subscription set name = 'riskengine.mine' where name = 'oms.test'"],
      ["treasury", "insert into handled_event values ('riskengine.fills', 'e', 1)"],
    ];
    for (const [service, statement] of refused) {
      await expect(as(service, statement), `${service}: ${statement}`).rejects.toThrow("row-level security");
    }
    // Rows of others are not there for them.
    await as("oms", "update subscription set cursor_id = 99 where name = 'riskengine.test'");
    await as("treasury", "delete from subscription; delete from service_instance");
    expect(await as("research", "select name, cursor_id::int as at from subscription order by name")).toEqual([
      { name: "oms.test", at: 0 },
      { name: "riskengine.test", at: 0 },
    ]);
    await as("operations", "delete from service_instance");
    expect(await as("gateway", "select from service_instance")).toEqual([]);
  });

  it("is the same after another start, and what somebody granted or revoked by hand is undone", async () => {
    const role = (service: PlatformService) => `"${roleNameOf(owner.database, service)}"`;
    await asOwner(
      owner,
      `grant delete on halt to ${role("research")}; revoke insert on halt from ${role("operations")}`,
    );
    expect((await prepare(owner)).targets).toEqual(logins);
    await expect(as("research", "delete from halt")).rejects.toThrow("permission denied");
    expect(await as("operations", "select has_table_privilege('halt', 'insert') as may")).toEqual([{ may: true }]);
  });

  it("has its missing rights seen, and seen again when they are back", async () => {
    const pool = openPool(loginOf("oms"), { log: quietLog, applicationName: "test", sizeMax: 1 });
    const watch = watchGrants({ pool, service: "oms", timers, log: quietLog, everyMs: 600_000 });
    await watch.look();
    expect(watch.complaint()).toBeUndefined();
    const role = `"${roleNameOf(owner.database, "oms")}"`;
    await asOwner(owner, `revoke update on oms_order from ${role}; revoke update (one) on halt_epoch from ${role}`);
    await watch.look();
    expect(watch.complaint()).toMatch(/lacks 2 of its rights, such as update on portcullis\.(halt_epoch|oms_order)/);
    await prepare(owner);
    await watch.look();
    expect(watch.complaint()).toBeUndefined();
    await watch.close();
    await pool.end();
  });

  it("is another one in another database of the same server, also in a copy", async () => {
    const other = (await anotherDatabase()).address.owner;
    const rows = await asOwner(owner, "select role, password from service_login");
    const copied = rows.map(({ role, password }) => `('${String(role)}', '${String(password)}')`).join(", ");
    await asOwner(other, `insert into service_login (role, password) values ${copied}`);
    const others = (await prepare(other)).targets ?? {};
    for (const service of platformServices) {
      expect(others[service]?.user).not.toBe(loginOf(service).user);
      expect(others[service]?.password).not.toBe(loginOf(service).password);
    }
    // It may connect, as anybody may, and sees nothing.
    await expect(asOwner({ ...loginOf("operations"), database: other.database }, "select from halt")).rejects.toThrow(
      /does not exist|permission denied/,
    );
  });

  it("is not taken over from somebody else who has a role of that name", async () => {
    const other = (await anotherDatabase()).address.owner;
    await asOwner(other, `create role "${roleNameOf(other.database, "oms")}" login`);
    const fault = await refusal(prepare(other));
    expect(fault.message).toMatch(/exists on the database server and was not made by Portcullis.*database\.logins/);
    await asOwner(other, `drop role "${roleNameOf(other.database, "oms")}"`);
  });
});

describe("28.6: logins that an administrator made", () => {
  const salt = randomBytes(4).toString("hex");
  // Names that the test server lets in with a password.
  const ownerName = `o${salt}_gateway`;
  let administrator: ConnectionTarget;
  let owner: ConnectionTarget;
  const roleOf = (service: PlatformService): string => `s${salt}_${service}`;
  const urlOf = (service: PlatformService): string =>
    `postgres://${roleOf(service)}:pw-${service}@localhost/${owner.database}?host=${encodeURIComponent(owner.host)}&port=${owner.port}`;
  const named = (): Record<PlatformService, string> => ({
    riskengine: urlOf("riskengine"),
    operations: urlOf("operations"),
    oms: urlOf("oms"),
    treasury: urlOf("treasury"),
    research: urlOf("research"),
    gateway: urlOf("gateway"),
  });

  beforeAll(async () => {
    administrator = (await anotherDatabase()).address.owner;
    await asOwner(
      administrator,
      `create role ${ownerName} login nocreaterole password 'pw'; grant portcullis_app to ${ownerName};
       grant all on database ${administrator.database} to ${ownerName}; grant all on schema portcullis to ${ownerName};
       do $$ declare it record; begin
         for it in select format('alter %s portcullis.%I owner to ${ownerName}', case relkind when 'S' then 'sequence' else 'table' end, relname) as text
           from pg_class c where relnamespace = 'portcullis'::regnamespace and relkind in ('r', 'p') loop execute it.text; end loop;
         for it in select format('alter function %s owner to ${ownerName}', oid::regprocedure) as text
           from pg_proc where pronamespace = 'portcullis'::regnamespace loop execute it.text; end loop;
       end $$;
       alter schema portcullis owner to ${ownerName}`,
    );
    owner = loginTarget(administrator, ownerName, "pw");
  });
  afterAll(async () => {
    const roles = platformServices.map(roleOf);
    for (const role of roles) {
      await asOwner(administrator, `drop owned by ${role}; drop role ${role}`).catch(() => undefined);
    }
    const back = `reassign owned by ${ownerName} to current_user; drop owned by ${ownerName}; drop role ${ownerName}`;
    await asOwner(administrator, back);
  });

  it("are asked for with the statements to run, word for word, where the owner may not create roles", async () => {
    const { targets, missing = "" } = await prepare(owner);
    expect(targets).toBeUndefined();
    const statements = [...missing.matchAll(/^ {2}(CREATE ROLE .*;)$/gm)].map(([, statement]) => statement);
    expect(statements).toHaveLength(storeProcesses.length);
    expect(statements[0]).toBe(
      `CREATE ROLE "${owner.database}_riskengine" LOGIN PASSWORD 'a password for riskengine'; ALTER ROLE "${owner.database}_riskengine" SET search_path = portcullis;`,
    );
    for (const service of storeProcesses) expect(missing).toContain(`_${service}"`);
    expect(missing).toContain("PORTCULLIS_DATABASE_LOGINS_RISKENGINE=postgres://");
  });

  it("get their rights from the owner, and are refused while one is missing, shared or mighty", async () => {
    const { oms, ...rest } = named();
    expect((await refusal(prepare(owner, rest))).message).toContain(
      "no login for oms: set PORTCULLIS_DATABASE_LOGINS_OMS",
    );
    const shared = { ...named(), oms: named().treasury };
    expect((await refusal(prepare(owner, shared))).message).toContain(`uses the login ${roleOf("treasury")} twice`);
    expect((await refusal(prepare(owner, named()))).message).toMatch(
      /login s\w+_riskengine for riskengine, which the database server does not have/,
    );
    for (const service of platformServices) {
      await asOwner(administrator, `create role ${roleOf(service)} login password 'pw-${service}'`);
    }
    await asOwner(administrator, `grant ${ownerName} to ${roleOf("research")}`);
    expect((await refusal(prepare(owner, named()))).message).toMatch(/is a member of .*o\w+_gateway/);
    await asOwner(
      administrator,
      `revoke ${ownerName} from ${roleOf("research")}; alter role ${roleOf("oms")} createrole`,
    );
    expect((await refusal(prepare(owner, named()))).message).toContain("may create roles");
    await asOwner(
      administrator,
      `alter role ${roleOf("oms")} nocreaterole; alter role ${roleOf("gateway")} password 'another'`,
    );
    expect((await refusal(prepare(owner, named()))).message).toMatch(
      /does not let gateway in.*PORTCULLIS_DATABASE_LOGINS_GATEWAY/,
    );
    await asOwner(administrator, `alter role ${roleOf("gateway")} password 'pw-gateway'`);
    const { targets = {} } = await prepare(owner, named());
    expect(targets.oms).toMatchObject({ user: roleOf("oms"), password: "pw-oms" });
    expect(oms).toContain("pw-oms");
    // It is named by nobody, and everything else starts all the same.
    expect(targets.bots).toBeUndefined();
    for (const service of platformServices) {
      const target = targets[service];
      if (target === undefined) throw new Error(`no login of ${service}`);
      expect(await asOwner(target, "select count(*)::int as halts from halt")).toEqual([{ halts: 0 }]);
    }
  });
});
