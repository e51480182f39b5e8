// Brings a database to the program's schema. Everything of ours lives in one schema, and the app role gets nothing but
// USAGE on it here: each migration grants what services may do with what it makes.
//
//  1. Forward only, each step in its own transaction together with the row that records it: it is applied or it is not.
//  2. An applied step whose text has changed since, or that the program does not know, is refused by name. A step may name the checksum of
//     an earlier text of its own that is as good.
//  3. A database that is newer than the program is refused before anything is changed.
//  4. Of several starters one does the work and the others wait for it.
import { createHash } from "node:crypto";
import type pg from "pg";
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { appRoleName, type ConnectionTarget, openClient, schemaName } from "./connection.ts";

/** One step forward. Its text does not change once it has been released: the checksum of an applied one is compared. */
export interface Migration {
  /** 1, 2, 3 and so on without a gap. */
  readonly number: number;
  readonly name: string;
  /** May hold several statements; unqualified names are in our schema. It must not end the transaction. */
  readonly sql: string;
  /**
   * Checksums of texts that this step had before. Only for a text that some servers refused: a database that has it is accepted, and a
   * later step brings it to where the new text leads.
   */
  readonly superseded?: readonly string[];
}

interface MigrationResult {
  /** The numbers applied now; empty when there was nothing to do. */
  readonly applied: readonly number[];
  /** Where the database stands afterwards; 0 is an empty one. */
  readonly at: number;
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

const serverVersionMin = 15;
const lockWaitMsMax = 120_000;
/** "ptcl" in ASCII, twice: the two keys of the advisory lock, which is per database. */
const lockKeys = [0x7074_636c, 0x7074_636c];

export async function migrate(
  owner: ConnectionTarget,
  migrations: readonly Migration[],
  log: Log,
): Promise<MigrationResult> {
  checkOrder(migrations);
  const client = await connectAsOwner(owner, log);
  try {
    await checkServerVersion(client);
    await lockSchema(client);
    await refuseNewer(client, migrations);
    await ensureAppRole(client);
    await ensureSchema(client);
    const done = await appliedRows(client);
    checkApplied(done, migrations);
    const pending = migrations.slice(done.length);
    for (const migration of pending) await apply(client, migration, log);
    return { applied: pending.map((migration) => migration.number), at: migrations.length };
  } catch (error) {
    throw storeFault(error);
  } finally {
    // Closing the session also releases the lock, whatever happened.
    await client.end();
  }
}

export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql, "utf8").digest("hex");
}

function checkOrder(migrations: readonly Migration[]): void {
  for (const [index, migration] of migrations.entries()) {
    if (migration.number !== index + 1) {
      throw new Defect(`Migration ${migration.number} (${migration.name}) stands in place ${index + 1} of the list.`);
    }
  }
}

/** Says how to come to the database when it cannot be reached. */
export async function connectAsOwner(owner: ConnectionTarget, log: Log): Promise<pg.Client> {
  try {
    return await openClient(owner, { log, applicationName: "portcullis migrate", connectMsMax: 10_000 });
  } catch (error) {
    const place = owner.host.startsWith("/") ? owner.host : `${owner.host}:${owner.port}`;
    throw new Fault(
      "STORE_UNAVAILABLE",
      `The database ${owner.database} at ${place} cannot be reached as ${owner.user}: ${messageOf(error)}. ` +
        `Check PORTCULLIS_DATABASE_URL${owner.host.startsWith("/") ? ", if it is set" : ""}.`,
      { retry: "later", cause: error },
    );
  }
}

/** 42501 is insufficient_privilege: typically the schema belongs to the login of an earlier start. */
export function storeFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const forbidden = error instanceof Error && "code" in error && error.code === "42501";
  if (!forbidden) {
    const sentence = `The database failed while its schema was looked at: ${messageOf(error)}.`;
    return new Fault("STORE_UNAVAILABLE", sentence, { retry: "later", cause: error });
  }
  const sentence =
    `This login may not use the schema ${schemaName} (${messageOf(error)}): ` +
    "use the login that owns it, or let an administrator change its owner.";
  return new Fault("STORE_FORBIDDEN", sentence, { retry: "never", cause: error });
}

async function checkServerVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
  const version = rows[0]?.server_version ?? "0";
  if (Number.parseInt(version, 10) >= serverVersionMin) return;
  throw new Fault(
    "STORE_TOO_OLD",
    `The database server is PostgreSQL ${version}; Portcullis needs ${serverVersionMin} or newer.`,
    { retry: "never", facts: { version, versionMin: serverVersionMin } },
  );
}

/** Until the session ends: of several starters one does the work and the others wait for it. */
export async function lockSchema(client: pg.Client): Promise<void> {
  await client.query(`SET lock_timeout = ${lockWaitMsMax}`);
  try {
    await client.query("SELECT pg_advisory_lock($1::int, $2::int)", lockKeys);
  } catch (error) {
    throw new Fault("STORE_UNAVAILABLE", "Another program has been changing the database's schema for too long.", {
      retry: "later",
      cause: error,
    });
  }
}

/** Read before anything is created or granted, so that a newer database is left exactly as it is. */
async function refuseNewer(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ present: boolean }>("SELECT to_regclass($1) IS NOT NULL AS present", [
    `${schemaName}.migrations`,
  ]);
  if (rows[0]?.present !== true) return;
  const newest = (await appliedRows(client)).at(-1)?.number ?? 0;
  if (newest <= migrations.length) return;
  throw new Fault(
    "STORE_TOO_NEW",
    `The database stands at migration ${newest}, but this program knows only ${migrations.length}: ` +
      "run the newer program that wrote it.",
    { retry: "never", facts: { database: newest, program: migrations.length } },
  );
}

/** The role belongs to the whole server, so another database's starter may be making it at this moment. */
async function ensureAppRole(client: pg.Client): Promise<void> {
  try {
    await client.query(`DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${appRoleName}') THEN CREATE ROLE ${appRoleName} NOLOGIN; END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
    if (!(await maySetRole(client))) await client.query(`GRANT ${appRoleName} TO CURRENT_USER`);
  } catch (error) {
    const { rows } = await client.query<{ login: string }>("SELECT quote_ident(current_user) AS login");
    const login = rows[0]?.login ?? "the_login";
    throw new Fault(
      "STORE_FORBIDDEN",
      `This login may not create or use the role ${appRoleName}: let an administrator of the server run ` +
        `"CREATE ROLE ${appRoleName} NOLOGIN; GRANT ${appRoleName} TO ${login};" once ` +
        `(without the first statement if the role exists), then start again.`,
      { retry: "never", cause: error },
    );
  }
}

/** Since version 16 membership and the right to take the role are two things. */
async function maySetRole(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT pg_has_role(current_user, $1,
       CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) AS may`,
    [appRoleName],
  );
  return rows[0]?.may === true;
}

async function ensureSchema(client: pg.Client): Promise<void> {
  try {
    await client.query("BEGIN");
    // CREATE SCHEMA asks for the right to create even when there is nothing to do.
    const { rowCount } = await client.query("SELECT FROM pg_namespace WHERE nspname = $1", [schemaName]);
    if (rowCount === 0) await client.query(`CREATE SCHEMA ${schemaName}`);
    await client.query(`REVOKE ALL ON SCHEMA ${schemaName} FROM PUBLIC`);
    await client.query(`GRANT USAGE ON SCHEMA ${schemaName} TO ${appRoleName}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${schemaName}.migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw new Fault(
      "STORE_FORBIDDEN",
      `The schema ${schemaName} cannot be created or used by this login (${messageOf(error)}): ` +
        "the login must own the schema, or may create one in this database.",
      { retry: "never", cause: error },
    );
  }
}

async function appliedRows(client: pg.Client): Promise<readonly AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>(
    `SELECT number, name, checksum FROM ${schemaName}.migrations ORDER BY number`,
  );
  return rows;
}

function checkApplied(done: readonly AppliedRow[], migrations: readonly Migration[]): void {
  for (const [index, row] of done.entries()) {
    const known = migrations[index];
    if (known !== undefined && row.number === known.number && isTextOf(known, row.checksum)) continue;
    throw new Fault(
      "STORE_MIGRATION_CHANGED",
      `Migration ${row.number} (${row.name}) was applied to this database with another text than this program has: ` +
        "a released migration must not be edited; add a new one.",
      { retry: "never", facts: { number: row.number, name: row.name } },
    );
  }
}

function isTextOf(migration: Migration, checksum: string): boolean {
  return checksum === checksumOf(migration.sql) || (migration.superseded ?? []).includes(checksum);
}

async function apply(client: pg.Client, migration: Migration, log: Log): Promise<void> {
  try {
    await client.query("BEGIN");
    await client.query(migration.sql);
    await client.query(`INSERT INTO ${schemaName}.migrations (number, name, checksum) VALUES ($1, $2, $3)`, [
      migration.number,
      migration.name,
      checksumOf(migration.sql),
    ]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch((rollbackError: unknown) => {
      log.debug("rollback after a failed migration", { reason: messageOf(rollbackError) });
    });
    throw new Fault(
      "STORE_MIGRATION_FAILED",
      `Migration ${migration.number} (${migration.name}) could not be applied: ${messageOf(error)}.`,
      { retry: "never", facts: { number: migration.number, name: migration.name }, cause: error },
    );
  }
  log.info("migration applied", { number: migration.number, name: migration.name });
}
