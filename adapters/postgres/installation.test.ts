// Whose database it is: two data folders on one database, in every order. The numbers are those of the module's header.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { installationFile } from "../system/installation-file.ts";
import { systemRandom } from "../system/random.ts";
import { openClient } from "./connection.ts";
import { checkInstallation, claimInstallation } from "./installation.ts";

let database: TestDatabase;
const folders: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(async () => {
  await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "portcullis-installation-"));
  folders.push(made);
  return made;
}

/** As a start does. */
async function start(path: string, adopt?: string): Promise<string> {
  const { owner } = database.address;
  const options = { owner, file: installationFile(path), adopt, random: systemRandom(), log: quietLog };
  try {
    await checkInstallation(options);
    await claimInstallation(options);
    return "started";
  } catch (thrown) {
    return String((thrown as Error).message);
  }
}

const idIn = (path: string): string => readFileSync(join(path, "installation-id"), "utf8").trim();

async function rows(): Promise<readonly string[]> {
  const client = await openClient(database.address.owner, { log: quietLog, applicationName: "test" });
  try {
    return (await client.query<{ id: string }>("select id from portcullis.installation")).rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

it("belongs to the first folder, and others come in only on purpose (1, 2)", async () => {
  const [first, second] = [folder(), folder()];
  expect(await start(second, systemRandom().uuid())).toMatch(/belongs to no installation/);
  expect(await rows()).toEqual([]);
  expect(await start(first)).toBe("started");
  const id = idIn(first);
  expect(await rows()).toEqual([id]);
  expect(await start(first), "its own folder, again").toBe("started");
  const refusal = await start(second);
  expect(refusal).toContain("Nothing was written");
  expect(refusal).toContain(`npm start -- --adopt ${id}`);
  expect(() => idIn(second)).toThrow();
  expect(await start(second, systemRandom().uuid()), "another id").toContain(`--adopt ${id}`);
  expect(await start(second, id)).toBe("started");
  expect(await start(second), "from then on without a word").toBe("started");
  const strange = folder();
  const other = systemRandom().uuid();
  installationFile(strange).write(other);
  expect(await start(strange)).toContain(`is of installation ${other}`);
  writeFileSync(join(strange, "installation-id"), "what?");
  expect(await start(strange)).toContain("holds no installation's id");
  expect(await rows()).toEqual([id]);
});

it("is claimed by a folder that knows its id before the database does, so that a kill in between locks nobody out (4)", async () => {
  const client = await openClient(database.address.owner, { log: quietLog, applicationName: "test" });
  await client.query("delete from portcullis.installation");
  await client.end();
  const path = folder();
  const file = installationFile(path);
  const write = (): never => {
    throw new Error("killed before it is on disk");
  };
  const options = { adopt: undefined, random: systemRandom(), log: quietLog, owner: database.address.owner };
  await expect(claimInstallation({ ...options, file: { ...file, write } })).rejects.toThrow("killed");
  expect(await rows(), "nothing was claimed for a folder that does not know it").toEqual([]);
  expect(await start(path)).toBe("started");
  expect(await rows()).toEqual([idIn(path)]);
});

it("is refused to one of two that claim it at once (3)", async () => {
  const client = await openClient(database.address.owner, { log: quietLog, applicationName: "test" });
  await client.query("delete from portcullis.installation");
  await client.end();
  const both = [folder(), folder()];
  const ends = await Promise.all(both.map((path) => start(path)));
  expect(ends.filter((end) => end === "started")).toHaveLength(1);
  expect(ends.filter((end) => end.includes("--adopt"))).toHaveLength(1);
  expect(await rows()).toHaveLength(1);
});
