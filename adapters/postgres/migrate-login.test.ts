// A server of the user's, with a login that owns its database and nothing else, as docs/configuration.md says: on Debian's PostgreSQL and on the embedded one's
// programs. What an administrator has to run is taken from what the start says, word for word.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { byFloor } from "../../testkit/full-count.ts";
import { type PlainPostgres, type PostgresMake, startPlainPostgres } from "../../testkit/plain-postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type ConnectionTarget, openClient } from "./connection.ts";
import { checksumOf, type Migration, migrate } from "./migrate.ts";
import { auditMigration } from "./migrations/0004-audit.ts";
import { migrations } from "./migrations/index.ts";

async function query(target: ConnectionTarget, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = await openClient(target, { log: quietLog, applicationName: "test" });
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const everyStep = migrations.map((migration) => migration.number);
const makes = byFloor<readonly PostgresMake[]>({
  first: ["the embedded one"],
  later: ["Debian's", "the embedded one"],
});

describe.each(makes)("22.12: %s PostgreSQL and a login that is no superuser", (make) => {
  let server: PlainPostgres;
  beforeAll(async () => {
    server = await startPlainPostgres(make);
  });
  afterAll(() => server?.stop());

  const database = async (login: string, rights: string, name: string): Promise<ConnectionTarget> => {
    await server.administer(
      `CREATE ROLE "${login}" LOGIN NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS ${rights}`,
      `CREATE DATABASE ${name} OWNER "${login}"`,
    );
    return server.as(login, name);
  };
  const applied = async (target: ConnectionTarget) => (await migrate(target, migrations, quietLog)).applied;
  const refusal = async (target: ConnectionTarget): Promise<Fault> => {
    const thrown = await migrate(target, migrations, quietLog).catch((error: unknown) => error);
    if (thrown instanceof Fault) return thrown;
    throw new Error(`expected a Fault, got ${String(thrown)}`);
  };
  const statementsOf = (fault: Fault): readonly string[] =>
    (/"(CREATE ROLE .*?;) (GRANT .*?;)" once/.exec(fault.message) ?? []).slice(1);

  it("without the right to create roles is told two statements, and with them everything applies", async () => {
    const target = await database("plain Login", "NOCREATEROLE", "first");
    const fault = await refusal(target);
    expect(fault.code).toBe("STORE_FORBIDDEN");
    const statements = statementsOf(fault);
    expect(statements).toEqual(["CREATE ROLE portcullis_app NOLOGIN;", 'GRANT portcullis_app TO "plain Login";']);
    expect(await query(target, "SELECT FROM pg_namespace WHERE nspname = 'portcullis'")).toEqual([]);
    await server.administer(...statements);
    expect(await applied(target)).toEqual(everyStep);
    expect(await applied(target)).toEqual([]);
    const app = { ...target, options: `${target.options} -c role=portcullis_app` };
    expect(await query(app, "SELECT size FROM audit_head")).toEqual([{ size: "0" }]);
    await expect(query(app, "DELETE FROM audit_entry")).rejects.toThrow("permission denied");
  });

  it("needs only the second statement where the role is there, for another platform's database", async () => {
    const target = await database("second", "NOCREATEROLE", "second");
    const fault = await refusal(target);
    expect(fault.message).toContain("(without the first statement if the role exists)");
    await server.administer(...statementsOf(fault).slice(1));
    expect(await applied(target)).toEqual(everyStep);
  });

  it("with the right to create roles needs nobody", async () => {
    // The role belongs to the whole server, so the databases before go with it.
    await server.administer(
      ...["first", "second"].flatMap((name) => [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`]),
      "DROP ROLE IF EXISTS portcullis_app",
    );
    const target = await database("maker", "CREATEROLE", "third");
    expect(await applied(target)).toEqual(everyStep);
    const app = { ...target, options: `${target.options} -c role=portcullis_app` };
    expect(await query(app, "SELECT current_user AS me")).toEqual([{ me: "portcullis_app" }]);
  });

  it("is the owner afterwards of what runs with its rights: the index is repaired, and only by the function", async () => {
    const target = server.as("maker", "third");
    const text = `{"action":"a","actor":"b","data":{},"sequence":0,"subject_id":"right","timestamp":"2026-11-17T00:00:00.000000Z"}`;
    await query(
      target,
      `INSERT INTO audit_entry (sequence, event_id, subject_id, action, text, at_us) VALUES (0, 'e', 'wrong', 'a', '${text}', 1)`,
    );
    const app = { ...target, options: `${target.options} -c role=portcullis_app` };
    const repair = "SELECT audit_repair_index(0, ARRAY[(0, 'e', 'right', 'a')::audit_index_row]) AS repaired";
    expect(await query(app, repair)).toEqual([{ repaired: "1" }]);
    expect(await query(app, "SELECT subject_id FROM audit_entry")).toEqual([{ subject_id: "right" }]);
    const rewrite = "UPDATE audit_entry SET subject_id = 'wrong'";
    await expect(query(target, rewrite)).rejects.toThrow("append only");
    await expect(query(target, `BEGIN; ${repair}; ${rewrite}; COMMIT`)).rejects.toThrow("append only");
  });

  it("takes over a database that a superuser migrated with the earlier text of step 4, and ends with the same functions", async () => {
    const old: Migration = { number: 4, name: "audit", sql: earlierText(auditMigration.sql) };
    expect(auditMigration.superseded).toEqual([checksumOf(old.sql)]);
    await server.administer("CREATE DATABASE fourth");
    const superuser = server.as("administrator", "fourth");
    await migrate(superuser, [...migrations.slice(0, 3), old, ...migrations.slice(4, 18)], quietLog);
    expect(await applied(superuser)).toEqual(everyStep.slice(18));
    expect(await applied(superuser)).toEqual([]);
    const functions = `SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc p
      WHERE pronamespace = 'portcullis'::regnamespace ORDER BY proname`;
    expect(await query(superuser, functions)).toEqual(await query(server.as("maker", "third"), functions));
  });
});

/** Step 4 as it was until it ran for everybody; that it is, its checksum says. */
function earlierText(text: string): string {
  return text
    .replace("create or replace function audit_repair_index", "create function audit_repair_index")
    .replace(/(audit_repair_index\(with_pen bigint.*\n.*pg_temp) as/, "$1 set portcullis.audit_repair = 'on' as")
    .replace(/ {2}-- Until the last update below.*\n.*\n/, "")
    .replace(/ {2}perform set_config\('portcullis.audit_repair', 'off', true\);\n/, "");
}
