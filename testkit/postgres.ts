// A fresh, migrated database per call, on the server that testkit/global-setup.ts started for the whole test run.
import { randomBytes } from "node:crypto";
import { type DatabaseAddress, openClient, withDatabase } from "../adapters/postgres/connection.ts";
import { type Migration, migrate } from "../adapters/postgres/migrate.ts";
import { migrations as programMigrations } from "../adapters/postgres/migrations/index.ts";
import { testServerVariable } from "./global-setup.ts";
import { quietLog } from "./quiet-log.ts";
import { countDatabase } from "./times/counts.ts";

export interface TestDatabase {
  readonly address: DatabaseAddress;
  /** Ends every connection to it and removes it. */
  drop(): Promise<void>;
}

/** The run's server; its own database (`portcullis`) is migrated, and nobody connects to it: it is what others are copied from. */
export function testServer(): DatabaseAddress {
  const text = process.env[testServerVariable];
  if (text === undefined) {
    throw new Error(`${testServerVariable} is not set: vitest.config.ts must list testkit/global-setup.ts`);
  }
  return JSON.parse(text) as DatabaseAddress;
}

/** A new database with the program's migrations, or with those given. */
export async function testDatabase(migrations: readonly Migration[] = programMigrations): Promise<TestDatabase> {
  countDatabase();
  const name = `test_${process.pid}_${randomBytes(6).toString("hex")}`;
  const address = withDatabase(testServer(), name);
  if (migrations === programMigrations) {
    // Copying files takes half the time of writing every page to the log, and nobody needs that log.
    await onServer(`CREATE DATABASE ${name} TEMPLATE ${testServer().owner.database} STRATEGY FILE_COPY`);
  } else {
    await onServer(`CREATE DATABASE ${name}`);
    await migrate(address.owner, migrations, quietLog);
  }
  return { address, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(sql: string): Promise<void> {
  const target = withDatabase(testServer(), "postgres").owner;
  const client = await openClient(target, { log: quietLog, applicationName: "testkit" });
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
