// Addresses are parsed without ever repeating a password, and connections neither round values nor end the process.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Log, LogFields } from "../../ports/log.ts";
import { startCutProxy } from "../../testkit/cut-proxy.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { addressFromUrl, openClient, openPool } from "./connection.ts";

const options = { log: quietLog, applicationName: "connection test" };

describe("addressFromUrl", () => {
  it("uses the URL's login for both, the app's with the role taken", () => {
    const address = addressFromUrl("postgres://ann:p%40ss@db.example:6543/risk");
    expect(address.owner).toEqual({
      host: "db.example",
      port: 6543,
      user: "ann",
      password: "p@ss",
      database: "risk",
      ssl: { rejectUnauthorized: true, host: "db.example" },
      options: "-c search_path=portcullis",
    });
    expect({ ...address.app, options: "" }).toEqual({ ...address.owner, options: "" });
    expect(address.app.options).toMatch(
      /^-c search_path=portcullis .*-c synchronous_commit=on .*-c role=portcullis_app$/,
    );
    expect(address.description).toBe("PostgreSQL database risk at db.example:6543 as ann");
    expect(JSON.parse(JSON.stringify(address))).toEqual(address);
  });

  it("gives the app its own login when there is one", () => {
    const address = addressFromUrl("postgresql://ann@h/d", "postgresql://bob@h/d");
    expect([address.owner.user, address.app.user]).toEqual(["ann", "bob"]);
    expect(address.app.options).toContain("role=portcullis_app");
  });

  it("reads sockets, IPv6 and TLS modes", () => {
    expect(addressFromUrl("postgres:///d?host=/run/postgresql&user=ann").owner).toMatchObject({
      host: "/run/postgresql",
      port: 5432,
    });
    expect(addressFromUrl("postgres://ann@[::1]/d").owner.host).toBe("::1");
    const tls = (mode: string): unknown => addressFromUrl(`postgres://ann@127.0.0.1/d?sslmode=${mode}`).owner.ssl;
    expect([tls("disable"), tls("require"), tls("verify-full")]).toEqual([
      false,
      { rejectUnauthorized: false },
      { rejectUnauthorized: true, host: "127.0.0.1" },
    ]);
    expect(addressFromUrl("postgres://ann@127.0.0.1/d").owner.ssl).toBe(false);
  });

  it("verifies a server on another machine whatever is not said, and refuses less unless it is allowed", () => {
    const url = "postgres://ann@10.0.0.7/d";
    expect(addressFromUrl(url).owner.ssl).toEqual({ rejectUnauthorized: true, host: "10.0.0.7" });
    for (const mode of ["disable", "allow", "prefer", "require", "no-verify"]) {
      const weak = `${url}?sslmode=${mode}`;
      expect(() => addressFromUrl(weak)).toThrow(`names another machine with sslmode=${mode}`);
      const { ssl } = addressFromUrl(weak, undefined, { insecure: true }).owner;
      expect(ssl).toEqual(mode === "require" || mode === "no-verify" ? { rejectUnauthorized: false } : false);
    }
  });

  it("takes the authority from its file, and verifies on this machine too then", () => {
    const folder = mkdtempSync(join(tmpdir(), "portcullis-ca-"));
    const caFile = join(folder, "ca.crt");
    writeFileSync(caFile, "an authority");
    const { ssl } = addressFromUrl("postgres://ann@127.0.0.1/d", undefined, { ca_file: caFile }).owner;
    expect(ssl).toEqual({ rejectUnauthorized: true, host: "127.0.0.1", ca: "an authority" });
    const socket = addressFromUrl("postgres:///d?host=/run/postgresql&user=ann", undefined, { ca_file: caFile });
    expect(socket.owner.ssl).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["not a url hunter2", "is not a URL of the form"],
    ["mysql://ann:hunter2@h/d", "is not a URL of the form"],
    ["postgres://ann:hunter2%zz@h/d", "contains a %"],
    ["postgres://ann:hunter2@h/", "names no database"],
    ["postgres://:hunter2@h/d", "names no user"],
    ["postgres://ann:hunter2@h/d?port=x", "names a port"],
    ["postgres://ann:hunter2@h/d?sslmode=maybe", "has an sslmode"],
    ["postgres://ann:hunter2@h/d?sslrootcert=/no/such", "names a certificate file that cannot be read"],
    ["postgres://ann:hunter2@h:99999/d", "is not a URL of the form"],
  ])("complains about %s without the password", (url, sentence) => {
    let thrown: unknown;
    try {
      addressFromUrl(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Fault);
    expect(String(thrown)).toContain(`PORTCULLIS_DATABASE_URL ${sentence}`);
    expect(JSON.stringify([String(thrown), thrown, (thrown as Fault).cause])).not.toContain("hunter2");
  });
});

describe("a connection", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase([]);
  });

  afterAll(async () => {
    await database.drop();
  });

  it("keeps every digit of numbers and times", async () => {
    const client = await openClient(database.address.owner, options);
    const { rows } = await client.query(
      `SELECT 9007199254740993::int8 AS big, ARRAY[9007199254740993::int8] AS bigs, 0.1000::numeric AS exact,
        timestamptz '2026-01-02 03:04:05.678901+00' AS at, ARRAY[timestamptz '2026-01-02 03:04:05.678901+00'] AS ats,
        date '2026-01-02' AS day, ARRAY[1.10::numeric] AS exacts`,
    );
    await client.end();
    expect(rows).toEqual([
      {
        big: "9007199254740993",
        bigs: ["9007199254740993"],
        exact: "0.1000",
        at: "2026-01-02 03:04:05.678901+00",
        ats: ["2026-01-02 03:04:05.678901+00"],
        day: "2026-01-02",
        exacts: ["1.10"],
      },
    ]);
  });

  it("cancels a statement at its time limit, and takes named statements", async () => {
    const pool = openPool(database.address.owner, { ...options, statementMsMax: 50, sizeMax: 1 });
    await expect(pool.query("SELECT pg_sleep(5)")).rejects.toThrow("statement timeout");
    for (const n of [1, 2]) {
      const { rows } = await pool.query({ name: "named", text: "SELECT $1::int AS n", values: [n] });
      expect(rows).toEqual([{ n }]);
    }
    const prepared = await pool.query("SELECT count(*) AS n FROM pg_prepared_statements WHERE name = 'named'");
    expect(prepared.rows).toEqual([{ n: "1" }]);
    await pool.end();
  });

  it("survives losing idle and busy connections, says so, and goes on", async () => {
    const lines: string[] = [];
    const note = (message: string, fields?: LogFields): void =>
      void lines.push(`${message} ${String(fields?.["reason"])}`);
    const log: Log = { ...quietLog, warn: note };
    const pool = openPool(database.address.owner, { ...options, log, sizeMax: 2 });
    const [inUse, idle] = await Promise.all([pool.connect(), pool.connect()]);
    idle.release();
    const killer = await openClient(database.address.owner, { ...options, applicationName: "killer" });
    await killer.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'connection test'",
    );
    await killer.end();
    // Both ends are awaited: an idle one not known as lost would be handed out, and a busy one that is
    // given back first says nothing of its own.
    await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(2), { timeout: 20_000 });
    await expect.poll(() => pool.idleCount).toBe(0);
    await expect(inUse.query("SELECT 1")).rejects.toThrow();
    inUse.release(true);
    expect((await pool.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
    expect(lines[0]).toContain("database connection lost");
    await pool.end();
  });

  it("pins what services rely on, whatever the database's own defaults are", async () => {
    const owner = await openClient(database.address.owner, options);
    const own = await testDatabase();
    await owner.query(`ALTER DATABASE ${own.address.owner.database} SET synchronous_commit = off`);
    await owner.end();
    const url = addressFromUrl(`postgres://x@h/${own.address.owner.database}`);
    const asRole = { ...own.address.owner, options: url.app.options };
    for (const target of [own.address.app, asRole]) {
      const client = await openClient(target, options);
      const { rows } = await client.query(
        `SELECT current_setting('synchronous_commit') AS sync, current_setting('search_path') AS path, current_user AS me,
          current_setting('idle_in_transaction_session_timeout') AS idle`,
      );
      await client.end();
      expect(rows).toEqual([{ sync: "on", path: "portcullis", me: "portcullis_app", idle: "30s" }]);
    }
    await own.drop();
  });

  it("gives a connection up whose server falls silent, instead of waiting for ever", async () => {
    const proxy = await startCutProxy(database.address.owner);
    const pool = openPool(proxy.target, { ...options, answerMsMax: 200, sizeMax: 1 });
    // A busy server may be later than this once.
    const answers = () =>
      pool.query("SELECT 3 AS n").then(
        ({ rows }) => rows[0].n,
        () => "late",
      );
    await expect.poll(answers).toBe(3);
    proxy.swallow();
    await expect(pool.query("SELECT 2")).rejects.toThrow(/timeout|terminated/);
    proxy.restore();
    await expect.poll(answers).toBe(3);
    await pool.end();
    await proxy.close();
  });

  it("gives up on a server that is not there", async () => {
    await expect(openClient({ ...database.address.owner, host: "/nowhere" }, options)).rejects.toThrow("ENOENT");
  });
});
