// The private server in rarer trouble: killed while it is made, found by a successor in odd states, run by another user, in a folder with a long path.
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  nobodyUid,
  processesOn,
  query,
  runsAsRoot,
  startChild,
  type TestFolder,
  testFolder,
} from "../../../testkit/embedded-postgres/support.ts";
import { giveMadeDatabase } from "../../../testkit/made-cluster.ts";
import { systemTimers } from "../../system/timers.ts";
import { startEmbeddedPostgres } from "./server.ts";

// Each test makes a database or two, which takes long on a machine that is busy with other test files.
vi.setConfig({ testTimeout: 120_000 });

const timers = systemTimers();
let folder: TestFolder;

beforeEach(async () => {
  folder = await testFolder();
  await chmod(folder.path, 0o711);
});

afterEach(async () => {
  await folder.remove();
});

/** For tests that are not about making a database: they begin with one that is made, and kill processes, never the machine. */
function begun(): TestFolder["options"] {
  giveMadeDatabase(folder.options.dataFolder);
  return { ...folder.options, settings: { fsync: "off" } };
}

/** A folder in which another user can make things. */
async function openFolder(): Promise<string> {
  const home = join(folder.path, "home");
  await mkdir(home);
  await chmod(home, 0o777);
  return home;
}

describe("after a kill", () => {
  it("ends a busy session that outlives a killed server", async () => {
    const first = await startEmbeddedPostgres(begun());
    const busy = query(first.address.owner, "SELECT count(*) FROM generate_series(1, 1000000000000)");
    busy.catch(() => undefined);
    const running = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT count%'";
    await expect.poll(async () => (await query(first.address.owner, running)).length).toBe(1);
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    await first.stop();
    expect(await processesOn(first.places.clusterFolder)).toEqual([]);
    await expect(busy).rejects.toThrow();
  });

  it("starts although the pid file and the socket's lock name a living process of the same user", async () => {
    const first = await startEmbeddedPostgres(begun());
    await first.stop();
    const home = await openFolder();
    // PostgreSQL trusts the file if it may signal that process, so the process must be of the server's own user.
    const identity = runsAsRoot ? { uid: (await stat(first.places.clusterFolder)).uid } : {};
    const other = startChild({ dataFolder: join(home, "other"), database: false }, { ...identity, tmp: home });
    expect(await other.answer).toMatchObject({ ready: true });
    const words = `${other.process.pid}\n${first.places.clusterFolder}\n`;
    await writeFile(join(first.places.clusterFolder, "postmaster.pid"), words);
    await writeFile(join(first.places.socketFolder, ".s.PGSQL.5432.lock"), words);
    await writeFile(join(first.places.socketFolder, ".s.PGSQL.5432"), "");
    const second = await startEmbeddedPostgres(folder.options);
    await second.stop();
    expect(await other.leave()).toBe(0);
  });

  it("begins again when initdb was killed midway", async () => {
    const { dataFolder } = folder.options;
    const order = { dataFolder, database: true };
    const child = startChild(order, { tmp: folder.path });
    let drafts: readonly string[] = [];
    while (drafts.length === 0) {
      await timers.sleep(5);
      drafts = (await readdir(dataFolder)).filter((name) => name.startsWith("postgres.making-"));
    }
    // Its folders are there, and the templates are being made.
    await expect
      .poll(() =>
        stat(join(dataFolder, drafts[0] ?? "", "base", "1")).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    child.process.kill("SIGKILL");
    await child.ended;
    await expect(stat(join(dataFolder, "postgres"))).rejects.toThrow("ENOENT");
    const again = startChild(order, { tmp: folder.path });
    expect(await again.answer).toMatchObject({ ready: true });
    expect(await again.leave()).toBe(0);
    expect((await readdir(dataFolder)).filter((name) => name.includes("making"))).toEqual([]);
  });

  it("does not touch a complete cluster because of a draft beside it", async () => {
    const first = await startEmbeddedPostgres(begun());
    await query(first.address.owner, "CREATE TABLE public.kept (n int)");
    await first.stop();
    await mkdir(join(folder.options.dataFolder, "postgres.making-old"));
    const second = await startEmbeddedPostgres(folder.options);
    expect(await query(second.address.owner, "SELECT n FROM public.kept")).toEqual([]);
    await second.stop();
    expect(await readdir(folder.options.dataFolder)).not.toContain("postgres.making-old");
  });
});

describe("places", () => {
  it("works as an ordinary user, who logs in as both roles, and whom nobody else can follow", async () => {
    const home = await openFolder();
    const dataFolder = join(home, "data");
    const identity = runsAsRoot ? { uid: nobodyUid } : {};
    const child = startChild({ dataFolder, database: true }, { ...identity, tmp: home });
    const answer = await child.answer;
    expect(answer).toMatchObject({ ready: true, places: { serverFolder: dataFolder, outsideDataFolder: false } });
    if (runsAsRoot) {
      expect(answer.userName).toBe("nobody");
      // Root is not the user that runs this platform.
      const { address } = answer;
      if (address === undefined) throw new Error("no address");
      await expect(query(address.owner, "SELECT 1")).rejects.toThrow(/[Pp]eer authentication failed/);
    }
    expect((await stat(dataFolder)).mode & 0o777).toBe(0o700);
    expect(await child.leave()).toBe(0);
  });

  it("finds a short socket folder for a data folder with a long path", async () => {
    const long = join(folder.path, "y".repeat(90));
    await mkdir(long, { mode: 0o700 });
    giveMadeDatabase(long);
    const child = startChild({ dataFolder: long, database: true }, { tmp: folder.path });
    const answer = await child.answer;
    expect(answer).toMatchObject({ ready: true });
    const socket = join(answer.places?.socketFolder ?? "", ".s.PGSQL.5432");
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
    expect(await child.leave()).toBe(0);
    await expect(stat(dirname(socket))).rejects.toThrow("ENOENT");
  });
});
