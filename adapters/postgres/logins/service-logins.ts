// A database login for each service, prepared by the start as the owner, after the migrations.
//
//  1. Where the owner may create roles it makes one login for each service, named after the database (databases have different names on one server, so two
//     installations neither share nor disturb each other's). Passwords are random, made by the server, and kept where only the owner reads them: hosts that run
//     the same service get the same one.
//  2. Else an administrator makes them, and the configuration names them; the owner grants.
//  3. Grants are those of the list, each time anew, in one transaction. A role that could take more by itself is refused.
//  4. Without either, every service works as the app role, if the caller bears that.
import type pg from "pg";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { type StoreProcess, storeProcesses } from "../../../contracts/src/platform-services.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import {
  type ConnectionTarget,
  type DatabaseSecurity,
  loginFromUrl,
  loginTarget,
  openClient,
  schemaName,
} from "../connection.ts";
import { connectAsOwner, lockSchema, storeFault } from "../migrate.ts";
import { careStatements, grantStatements, quotedName, quotedText } from "./grant-statements.ts";
import { applyPolicies } from "./row-policies.ts";
import { scramVerifier } from "./scram-verifier.ts";

interface ServiceLoginsOptions {
  readonly owner: ConnectionTarget;
  /** What the configuration names, by service. */
  /** What is asked of the server's certificate beside what the URLs say. */
  readonly security?: DatabaseSecurity;
  readonly configured: Partial<Readonly<Record<StoreProcess, string | undefined>>>;
  /** The services that run here: each must be able to log in. */
  readonly services: readonly StoreProcess[];
  /** What creates power takes two people then; default false. */
  readonly isProduction?: boolean;
  readonly random: Random;
  readonly log: Log;
}

type LoginTargets = Partial<Readonly<Record<StoreProcess, ConnectionTarget>>>;

export interface PreparedLogins {
  /** Undefined when there are none. */
  readonly targets?: LoginTargets;
  /** Why there are none, and what an administrator would run. */
  readonly missing?: string;
}

const loginVariable = (service: StoreProcess): string => `PORTCULLIS_DATABASE_LOGINS_${service.toUpperCase()}`;

export async function prepareServiceLogins(options: ServiceLoginsOptions): Promise<PreparedLogins> {
  const named = configuredTargets(options);
  const client = await connectAsOwner(options.owner, options.log);
  let targets: LoginTargets;
  try {
    await lockSchema(client);
    if (named !== undefined) targets = named;
    else if (await mayCreateRoles(client)) targets = await inTransaction(client, () => makeLogins(client, options));
    else return { missing: howToMake(options.owner) };
    await inTransaction(client, async () => {
      await grantAll(client, targets);
      await writeMode(client, options.isProduction ?? false);
    });
    await grantCare(client, targets, options.log);
  } catch (error) {
    throw storeFault(error);
  } finally {
    await client.end();
  }
  for (const service of options.services) await mustLogIn(service, targets[service], options);
  return { targets };
}

/** All that run here, or none: a half would leave somebody on the owner's login unseen. */
function configuredTargets({ configured, services, owner, security }: ServiceLoginsOptions): LoginTargets | undefined {
  const urls = storeProcesses.flatMap((service) => {
    const url = configured[service];
    return url === undefined ? [] : [[service, loginFromUrl(loginVariable(service), url, security)] as const];
  });
  if (urls.length === 0) return undefined;
  const targets: LoginTargets = Object.fromEntries(urls);
  const absent = services.filter((service) => targets[service] === undefined);
  if (absent.length > 0) {
    throw invalid(
      `database.logins names no login for ${absent.join(", ")}: set ${absent.map(loginVariable).join(", ")}.`,
    );
  }
  const users = [owner.user, ...urls.map(([, { user }]) => user)];
  const twice = users.find((user, index) => users.indexOf(user) < index);
  if (twice === undefined) return targets;
  throw invalid(
    `database.logins uses the login ${twice} twice, or it is the owner's: each service needs one of its own.`,
  );
}

function invalid(sentence: string): Fault {
  return new Fault("CONFIGURATION_INVALID", sentence, { retry: "never" });
}

async function inTransaction<Value>(client: pg.Client, work: () => Promise<Value>): Promise<Value> {
  await client.query("BEGIN");
  try {
    const value = await work();
    await client.query("COMMIT");
    return value;
  } catch (error) {
    // A session that is gone has undone it as well.
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

async function mayCreateRoles(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ readonly may: boolean }>(
    "SELECT rolsuper OR rolcreaterole AS may FROM pg_roles WHERE rolname = current_user",
  );
  return rows[0]?.may === true;
}

/** Names on a server have 63 bytes. */
const nameBytesMax = 63;

/** Databases of one server have different names, and no service's name has an underscore: no two of these are the same. */
export function roleNameOf(database: string, service: StoreProcess): string {
  const name = `${database}_${service}`;
  if (Buffer.byteLength(name) <= nameBytesMax) return name;
  throw new Fault(
    "STORE_FORBIDDEN",
    `The database's name ${database} is too long to name logins after it: use one of at most ${nameBytesMax - 11} bytes, or set database.logins.`,
    { retry: "never" },
  );
}

const markOf = (database: string): string => `Portcullis: a service's login of the database ${database}`;

async function makeLogins(client: pg.Client, { owner, random, log }: ServiceLoginsOptions): Promise<LoginTargets> {
  const mark = markOf(owner.database);
  const targets: [StoreProcess, ConnectionTarget][] = [];
  for (const service of storeProcesses) {
    const role = roleNameOf(owner.database, service);
    const known = await client.query<{ readonly mark: string | null }>(
      "SELECT shobj_description(oid, 'pg_authid') AS mark FROM pg_roles WHERE rolname = $1",
      [role],
    );
    if (known.rowCount === 0) {
      await client.query(`CREATE ROLE ${quotedName(role)} LOGIN`);
      // A pooler between us and the server may drop what a connection asks for.
      await client.query(`ALTER ROLE ${quotedName(role)} SET search_path = ${schemaName}`);
      await client.query(`COMMENT ON ROLE ${quotedName(role)} IS ${quotedText(mark)}`);
      log.debug("a database login was made", { service, role });
    } else if (known.rows[0]?.mark !== mark) throw foreignRole(role);
    const password = await passwordOf(client, role);
    await client.query(`ALTER ROLE ${quotedName(role)} LOGIN PASSWORD ${quotedText(scramVerifier(password, random))}`);
    targets.push([service, loginTarget(owner, role, password)]);
  }
  return Object.fromEntries(targets);
}

function foreignRole(role: string): Fault {
  const sentence =
    `The role ${role} exists on the database server and was not made by Portcullis for this database. ` +
    "Rename it, or name the services' logins in database.logins (docs/configuration.md).";
  return new Fault("STORE_FORBIDDEN", sentence, { retry: "never", facts: { role } });
}

/** The server makes it, so that it is in no statement. */
async function passwordOf(client: pg.Client, role: string): Promise<string> {
  const table = `${schemaName}.service_login`;
  await client.query(
    `INSERT INTO ${table} (role, password)
     VALUES ($1, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')) ON CONFLICT DO NOTHING`,
    [role],
  );
  const { rows } = await client.query<{ readonly password: string }>(`SELECT password FROM ${table} WHERE role = $1`, [
    role,
  ]);
  return rows[0]?.password ?? "";
}

async function grantAll(client: pg.Client, targets: LoginTargets): Promise<void> {
  for (const service of storeProcesses) {
    const role = targets[service]?.user;
    if (role === undefined) continue;
    await mustBePlain(client, service, role);
    // Several statements in one message: they have no answers.
    await client.query(grantStatements(service, role).join(";\n"));
  }
  await applyPolicies(
    client,
    Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, target?.user])),
  );
}

/** Which rule the database holds changes of people against. */
async function writeMode(client: pg.Client, isProduction: boolean): Promise<void> {
  await client.query(
    `INSERT INTO ${schemaName}.platform_mode (is_production) VALUES ($1) ON CONFLICT (one) DO UPDATE SET is_production = $1`,
    [isProduction],
  );
}

interface RoleRow {
  readonly powerful: boolean;
  readonly member_of: readonly string[];
}

/** Who may make himself the owner, or whom nothing stops, is held by no grant. */
async function mustBePlain(client: pg.Client, service: StoreProcess, role: string): Promise<void> {
  const { rows } = await client.query<RoleRow>(
    `SELECT rolsuper OR rolcreaterole OR rolbypassrls OR rolreplication AS powerful,
       ARRAY(SELECT other.rolname::text FROM pg_roles other
             WHERE other.oid <> own.oid AND other.rolname <> 'pg_read_all_stats' AND pg_has_role(own.oid, other.oid, 'MEMBER')) AS member_of
     FROM pg_roles own WHERE rolname = $1`,
    [role],
  );
  const [row] = rows;
  if (row === undefined) {
    const sentence = `database.logins names the login ${role} for ${service}, which the database server does not have: let an administrator make it.`;
    throw new Fault("STORE_FORBIDDEN", sentence, { retry: "never" });
  }
  if (!row.powerful && row.member_of.length === 0) return;
  const why = row.powerful
    ? "may create roles, replicate or pass every check"
    : `is a member of ${row.member_of.join(", ")}`;
  const sentence = `The login ${role} of ${service} ${why}: it must be a plain login without memberships. Let an administrator change that.`;
  throw new Fault("STORE_FORBIDDEN", sentence, { retry: "never", facts: { role } });
}

/** Not every server lets the owner give these; then db_watchdog says what it cannot watch. */
async function grantCare(client: pg.Client, { operations }: LoginTargets, log: Log): Promise<void> {
  if (operations === undefined) return;
  for (const statement of careStatements(operations.user)) {
    try {
      await client.query(statement);
    } catch (error) {
      log.debug("a right that only db_watchdog uses was not granted", { statement, reason: messageOf(error) });
    }
  }
}

/** Tried now: a service that finds out later is started again and again. */
async function mustLogIn(
  service: StoreProcess,
  target: ConnectionTarget | undefined,
  { log }: ServiceLoginsOptions,
): Promise<void> {
  if (target === undefined) throw invalid(`There is no database login for ${service}.`);
  try {
    const client = await openClient(target, {
      log,
      applicationName: `portcullis start ${service}`,
      connectMsMax: 10_000,
    });
    try {
      await client.query(`SELECT FROM ${schemaName}.outbox_floor`);
    } finally {
      await client.end();
    }
  } catch (error) {
    const sentence =
      `The database does not let ${service} in as ${target.user} (${messageOf(error)}). Let the server accept passwords of this login (pg_hba.conf), ` +
      `or make a login yourself and name it in ${loginVariable(service)}.`;
    throw new Fault("STORE_FORBIDDEN", sentence, { retry: "never", cause: error });
  }
}

/** What an administrator runs, and which settings name it then. */
function howToMake({ database }: ConnectionTarget): string {
  const statements = storeProcesses.map((service) => {
    const role = quotedName(roleNameOf(database, service));
    return `  CREATE ROLE ${role} LOGIN PASSWORD 'a password for ${service}'; ALTER ROLE ${role} SET search_path = ${schemaName};`;
  });
  return [
    "Each service needs a database login of its own, and the login of database.url may not create roles. Let an administrator of the server run",
    ...statements,
    `and name each in database.logins (${loginVariable("riskengine")}=postgres://LOGIN:PASSWORD@HOST:PORT/${database} and so on), then start again.`,
  ].join("\n");
}
