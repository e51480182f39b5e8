// Migrations go forward once, in order, under a lock, and the app role gets what they grant and nothing else.
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { type TestDatabase, testDatabase, testServer } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type ConnectionTarget, openClient } from "./connection.ts";
import { type Migration, migrate } from "./migrate.ts";

const ledger: Migration = {
  number: 1,
  name: "ledger",
  sql: `CREATE TABLE ledger (n int PRIMARY KEY);
        GRANT SELECT, INSERT ON ledger TO portcullis_app;
        CREATE TABLE private_notes (n int);`,
};
const seed: Migration = { number: 2, name: "seed", sql: "INSERT INTO ledger VALUES (1)" };

const opened: TestDatabase[] = [];

async function database(migrations: readonly Migration[]): Promise<TestDatabase> {
  const made = await testDatabase(migrations);
  opened.push(made);
  return made;
}

afterEach(async () => {
  for (const made of opened.splice(0)) await made.drop();
});

async function query(target: ConnectionTarget, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = await openClient(target, { log: quietLog, applicationName: "test" });
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Error(`expected a Fault, got ${String(thrown)}`);
}

describe("migrate", () => {
  it("applies what is missing, once, in its own schema", async () => {
    const { address } = await database([ledger]);
    expect(await migrate(address.owner, [ledger, seed], quietLog)).toEqual({ applied: [2], at: 2 });
    expect(await migrate(address.owner, [ledger, seed], quietLog)).toEqual({ applied: [], at: 2 });
    expect(await query(address.owner, "SELECT n FROM portcullis.ledger")).toEqual([{ n: 1 }]);
    expect(await query(address.owner, "SELECT number, name FROM migrations ORDER BY number")).toEqual([
      { number: 1, name: "ledger" },
      { number: 2, name: "seed" },
    ]);
    expect(await query(address.owner, "SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  it("refuses an edited migration by name", async () => {
    const { address } = await database([ledger]);
    const fault = await faultOf(migrate(address.owner, [{ ...ledger, sql: `${ledger.sql} ` }, seed], quietLog));
    expect(fault.code).toBe("STORE_MIGRATION_CHANGED");
    expect(fault.message).toContain("Migration 1 (ledger)");
    expect(await query(address.owner, "SELECT n FROM ledger")).toEqual([]);
  });

  it("refuses a database that is newer than the program, naming both", async () => {
    const { address } = await database([ledger, seed]);
    const fault = await faultOf(migrate(address.owner, [ledger], quietLog));
    expect(fault.code).toBe("STORE_TOO_NEW");
    expect(fault.message).toContain("stands at migration 2, but this program knows only 1");
  });

  it("leaves nothing of a step that fails, and keeps the steps before it", async () => {
    const { address } = await database([]);
    const broken: Migration = { number: 2, name: "broken", sql: "CREATE TABLE half (n int); SELECT 1/0" };
    const fault = await faultOf(migrate(address.owner, [ledger, broken], quietLog));
    expect(fault.code).toBe("STORE_MIGRATION_FAILED");
    expect(fault.message).toContain("Migration 2 (broken) could not be applied: division by zero");
    expect(
      await query(address.owner, "SELECT to_regclass('half') AS half, to_regclass('ledger') IS NULL AS none"),
    ).toEqual([{ half: null, none: false }]);
  });

  it("lets one of several starters do the work while the others wait", async () => {
    const { address } = await database([]);
    const slow: Migration = { number: 2, name: "slow", sql: "INSERT INTO ledger VALUES (1); SELECT pg_sleep(0.3)" };
    const results = await Promise.all(
      Array.from({ length: 5 }, () => migrate(address.owner, [ledger, slow], quietLog)),
    );
    expect(results.map((result) => result.applied.length).sort()).toEqual([0, 0, 0, 0, 2]);
  });

  it("treats a list with a gap as our own mistake", async () => {
    await expect(migrate(testServer().owner, [seed], quietLog)).rejects.toThrow(Defect);
  });

  it("says which server it cannot reach", async () => {
    const fault = await faultOf(migrate({ ...testServer().owner, host: "/nowhere" }, [], quietLog));
    expect(fault.code).toBe("STORE_UNAVAILABLE");
    expect(fault.message).toContain("at /nowhere cannot be reached");
  });

  it("refuses a server older than 15", async () => {
    const server = await oldServer("14.9");
    try {
      const target = { host: "127.0.0.1", port: server.port, user: "ann", database: "d", options: "" };
      const fault = await faultOf(migrate(target, [], quietLog));
      expect(fault.code).toBe("STORE_TOO_OLD");
      expect(fault.message).toBe("The database server is PostgreSQL 14.9; Portcullis needs 15 or newer.");
    } finally {
      server.close();
    }
  });
});

describe("the app role", () => {
  it("may do what a migration granted, and cannot rewrite what is append-only", async () => {
    const { address } = await database([ledger]);
    await query(address.app, "INSERT INTO ledger VALUES (5)");
    expect(await query(address.app, "SELECT n FROM ledger")).toEqual([{ n: 5 }]);
    for (const sql of [
      "UPDATE ledger SET n = 6",
      "DELETE FROM ledger",
      "TRUNCATE ledger",
      "SELECT * FROM private_notes",
      "SELECT * FROM migrations",
      "CREATE TABLE mine (n int)",
      "ALTER TABLE ledger DISABLE TRIGGER ALL",
      "SET ROLE portcullis_owner",
    ]) {
      await expect(query(address.app, sql), sql).rejects.toThrow(/permission denied|must be owner/);
    }
  });

  it("is the same for a login that only takes the role, as on a server of the user's", async () => {
    const { address } = await database([ledger]);
    const app = { ...address.owner, options: `${address.owner.options} -c role=portcullis_app` };
    expect(await query(app, "SELECT current_user AS me")).toEqual([{ me: "portcullis_app" }]);
    await query(app, "INSERT INTO ledger VALUES (5)");
    await expect(query(app, "UPDATE ledger SET n = 6")).rejects.toThrow("permission denied");
    await expect(query(app, "RESET ROLE; UPDATE ledger SET n = 6")).rejects.toThrow("permission denied");
  });

  it("that cannot be taken is explained with the statement that an administrator must run", async () => {
    const { address } = await database([]);
    const login = `limited_${process.pid}`;
    await query(address.owner, `CREATE ROLE ${login}`);
    try {
      const limited = { ...address.owner, options: `${address.owner.options} -c role=${login}` };
      const foreign = await faultOf(migrate(limited, [], quietLog));
      expect(foreign.code).toBe("STORE_FORBIDDEN");
      expect(foreign.message).toContain("may not use the schema portcullis");
      await query(address.owner, "DROP SCHEMA portcullis CASCADE");
      const fault = await faultOf(migrate(limited, [], quietLog));
      expect(fault.code).toBe("STORE_FORBIDDEN");
      expect(fault.message).toContain(`CREATE ROLE portcullis_app NOLOGIN; GRANT portcullis_app TO ${login};`);
    } finally {
      await query(address.owner, `DROP ROLE ${login}`);
    }
  });
});

/** Just enough of the protocol to be asked for its version. */
async function oldServer(version: string): Promise<{ readonly port: number; close(): void }> {
  const message = (kind: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(kind);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ready = message("Z", Buffer.from("I"));
  const column = Buffer.concat([Buffer.from([0, 1]), Buffer.from("server_version\0"), Buffer.alloc(6)]);
  const description = message(
    "T",
    Buffer.concat([column, Buffer.from([0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0])]),
  );
  const size = Buffer.alloc(4);
  size.writeInt32BE(version.length);
  const row = message("D", Buffer.concat([Buffer.from([0, 1]), size, Buffer.from(version)]));
  const answer = Buffer.concat([description, row, message("C", Buffer.from("SHOW\0")), ready]);
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.write(Buffer.concat([message("R", Buffer.alloc(4)), ready])));
    socket.on("data", (chunk) => {
      if (chunk[0] === 0x51) socket.write(answer);
      if (chunk[0] === 0x58) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = server.address();
  return { port: typeof place === "object" && place !== null ? place.port : 0, close: () => server.close() };
}
