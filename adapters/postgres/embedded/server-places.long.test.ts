// Where the server's data and programs go when they cannot stay where they are. Each test copies the whole package, so they are in the long form.
import { chmod, cp, mkdir, mkdtemp, readdir, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  nobodyUid,
  query,
  runsAsRoot,
  startChild,
  type TestFolder,
  testFolder,
} from "../../../testkit/embedded-postgres/support.ts";
import { isCode, locateBinaries } from "./binaries.ts";
import { startEmbeddedPostgres } from "./server.ts";

let folder: TestFolder;

beforeEach(async () => {
  folder = await testFolder();
  await chmod(folder.path, 0o711);
});

afterEach(async () => {
  await folder.remove();
});

/** A folder in which another user can make things. */
async function openFolder(): Promise<string> {
  const home = join(folder.path, "home");
  await mkdir(home);
  await chmod(home, 0o777);
  return home;
}

describe("places", () => {
  it("puts data and programs where the server's user can go when that user cannot enter the clone", async () => {
    const closed = await mkdtemp(join(tmpdir(), "portcullis-closed-"));
    const dataFolder = join(closed, "data");
    const runtimeFolder = join(dataFolder, "run");
    await mkdir(runtimeFolder, { recursive: true, mode: 0o700 });
    const source = await locateBinaries();
    await cp(join(source.folder, "native"), join(closed, "package", "native"), { recursive: true });
    // As under a strict umask: a hard link of it would be of no use to the server's user.
    await chmod(join(closed, "package", "native", "bin", "postgres"), 0o700);
    const label = `test-${process.pid}-${Math.floor(Math.random() * 1e9)}`;
    const binaries = { folder: join(closed, "package"), label };
    const options = { ...folder.options, dataFolder, runtimeFolder, binaries };
    const first = await startEmbeddedPostgres(options);
    try {
      expect(first.places.outsideDataFolder).toBe(runsAsRoot);
      expect(first.places.binariesFolder === binaries.folder).toBe(!runsAsRoot);
      expect((await stat(dataFolder)).mode & 0o777).toBe(0o700);
      await query(first.address.owner, "CREATE TABLE public.kept (n int)");
      await first.stop();
      const second = await startEmbeddedPostgres(options);
      expect(second.places).toEqual(first.places);
      await query(second.address.app, "SELECT 1");
      await second.stop();
      if (runsAsRoot) await refusals(options, closed, first.places.serverFolder);
    } finally {
      await first.stop();
      await rm(closed, { recursive: true, force: true });
      if (first.places.outsideDataFolder) await removeOutside(first.places.serverFolder, first.places.binariesFolder);
    }
  });

  it("makes the library links when npm ran no scripts", async () => {
    const bare = await packageWithoutLinks(join(folder.path, "bare"));
    const server = await startEmbeddedPostgres({ ...folder.options, binaries: { folder: bare, label: "test" } });
    expect(server.places.binariesFolder).toBe(bare);
    await server.stop();
    expect(await readdir(join(bare, "native", "lib"))).toContain("libpq.so.5");
  });

  it("copies the programs into the data folder of an ordinary user who may not make the links", async () => {
    const bare = await packageWithoutLinks(join(folder.path, "bare"));
    await chmod(join(bare, "native", "lib"), 0o555);
    const home = await openFolder();
    const order = { dataFolder: join(home, "data"), database: true, binariesFolder: bare };
    const child = startChild(order, { ...(runsAsRoot ? { uid: nobodyUid } : {}), tmp: home });
    const answer = await child.answer;
    expect(answer).toMatchObject({ ready: true });
    expect(answer.places?.binariesFolder.startsWith(join(order.dataFolder, "binaries"))).toBe(true);
    expect(await child.leave()).toBe(0);
    await chmod(join(bare, "native", "lib"), 0o755);
  });
});

/** Invariants 1 to 3 of places.ts. */
async function refusals(
  options: Parameters<typeof startEmbeddedPostgres>[0],
  closed: string,
  serverFolder: string,
): Promise<void> {
  const copy = join(closed, "copy");
  await cp(options.dataFolder, copy, { recursive: true });
  await expect(startEmbeddedPostgres({ ...options, dataFolder: copy })).rejects.toThrow("is a copy of");
  await rm(copy, { recursive: true });
  const note = join(options.dataFolder, "postgres-elsewhere.json");
  await rm(note);
  const fresh = await startEmbeddedPostgres(options);
  expect(fresh.places.serverFolder).toBe(`${serverFolder}-2`);
  await fresh.stop();
  await rm(fresh.places.serverFolder, { recursive: true });
  await expect(startEmbeddedPostgres(options)).rejects.toThrow("is not there any more");
}

/** The package as npm unpacks it: the links are not among its files. */
async function packageWithoutLinks(target: string): Promise<string> {
  const links = /lib(ecpg|ecpg_compat|icudata|icui18n|icuuc|pgtypes|pq)\.so(\.\d+)?$/;
  const source = await locateBinaries();
  await cp(source.folder, target, { recursive: true, filter: (path) => !links.test(path) });
  expect(await readdir(join(target, "native", "lib"))).not.toContain("libpq.so.5");
  return target;
}

async function removeOutside(serverFolder: string, binariesFolder: string): Promise<void> {
  await rm(serverFolder, { recursive: true, force: true });
  await rm(binariesFolder, { recursive: true, force: true });
  // The shared parents go only when nobody else uses them.
  for (const parent of [dirname(binariesFolder), dirname(serverFolder)]) {
    await rmdir(parent).catch((error: unknown) => {
      if (!isCode(error, ["ENOTEMPTY", "ENOENT"])) throw error;
    });
  }
}
