// 28.7: what lies in the memory and the environment of each service's process: its own database login, and neither the owner's nor another's. Read from heap
// snapshots of real processes; that a snapshot shows passwords at all is shown by the one that must be there.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient } from "../adapters/postgres/connection.ts";
import { platformServices } from "../contracts/src/platform-services.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";

const ownersPassword = "the-owners-own-password-5e1f";
const folder = temporaryFolder("process-secrets");
const snapshots = join(folder, "snapshots");
let postgres: PlainPostgres;
let platform: Platform;
let passwords: Readonly<Record<string, string>>;

beforeAll(async () => {
  mkdirSync(snapshots);
  postgres = await startPlainPostgres("the embedded one");
  await postgres.administer("CREATE ROLE trading LOGIN CREATEROLE", "CREATE DATABASE portfolio OWNER trading");
  platform = startPlatform({
    dataFolder: join(folder, "data"),
    environment: {
      PORTCULLIS_DATABASE_URL: postgres.urlOf("trading", "portfolio").replace("trading@", `trading:${ownersPassword}@`),
      PGPASSWORD: ownersPassword,
      NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${snapshots}`,
    },
  });
  await platform.ready();
  passwords = await passwordsOfServices();
}, 180_000);

afterAll(async () => {
  await platform?.end();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function passwordsOfServices(): Promise<Readonly<Record<string, string>>> {
  const client = await openClient(postgres.as("trading", "portfolio"), { log: quietLog, applicationName: "test" });
  try {
    const { rows } = await client.query<{ role: string; password: string }>("select role, password from service_login");
    return Object.fromEntries(rows.map(({ role, password }) => [role.replace("portfolio_", ""), password]));
  } finally {
    await client.end();
  }
}

/** The text of a process's memory; the file is written while the process stands still. */
async function snapshotOf(pid: number): Promise<Buffer> {
  process.kill(pid, "SIGUSR2");
  const name = () => readdirSync(snapshots).find((file) => file.includes(`.${pid}.`) && file.endsWith(".heapsnapshot"));
  const tail = (path: string) => readFileSync(path).subarray(-3).toString("latin1").trim();
  await eventually(
    `a snapshot of ${pid}`,
    () => {
      const file = name();
      if (file === undefined || statSync(join(snapshots, file)).size < 1_000_000) return false;
      return tail(join(snapshots, file)).endsWith("]}");
    },
    180_000,
  );
  const path = join(snapshots, name() ?? "");
  const content = readFileSync(path);
  rmSync(path);
  return content;
}

describe("28.7: a service's process", { timeout: 300_000 }, () => {
  test.each(platformServices)("%s has its own database password in its memory, and no other", async (service) => {
    const pid = platform.runFile().processes[service] ?? 0;
    const memory = await snapshotOf(pid);
    const others = platformServices.filter((other) => other !== service);
    const found = (text: string): boolean => memory.includes(text);
    expect(found(passwords[service] ?? "none"), "its own").toBe(true);
    expect(found(ownersPassword), "the owner's").toBe(false);
    expect(others.filter((other) => found(passwords[other] ?? service))).toEqual([]);
  });

  test("has none of them in its environment, nor has anything that was printed", () => {
    const all = [ownersPassword, ...Object.values(passwords)];
    for (const service of platformServices) {
      const pid = platform.runFile().processes[service] ?? 0;
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      expect(environment.length).toBeGreaterThan(10);
      expect(
        all.filter((password) => environment.includes(password)),
        service,
      ).toEqual([]);
    }
    const printed = `${platform.stdout()}${platform.stderr()}`;
    expect(all.filter((password) => printed.includes(password))).toEqual([]);
  });
});
