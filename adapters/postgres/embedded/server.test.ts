// The private server starts from nothing, starts again whatever was killed, and never outlives whoever started it.
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { allOr } from "../../../testkit/full-count.ts";
import { giveMadeDatabase } from "../../../testkit/made-cluster.ts";
import { systemTimers } from "../../system/timers.ts";
import { nobodyUid, query, runsAsRoot, startChild, type TestFolder, testFolder } from "./harness/support.ts";
import { clusterNameFor, type ServerProcess, serverProcesses } from "./old-server.ts";
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

/** Server processes on this cluster, whoever runs them. */
async function processesOn(clusterFolder: string): Promise<readonly ServerProcess[]> {
  const uids = [0, nobodyUid, process.getuid?.() ?? 0, (await stat(clusterFolder)).uid];
  const lists = await Promise.all([...new Set(uids)].map((uid) => serverProcesses(clusterNameFor(clusterFolder), uid)));
  return lists.flat();
}

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

async function untilGone(clusterFolder: string): Promise<number> {
  let waitedMs = 0;
  while ((await processesOn(clusterFolder)).length > 0 && waitedMs < 15_000) {
    await timers.sleep(50);
    waitedMs += 50;
  }
  return (await processesOn(clusterFolder)).length;
}

describe("start and stop", () => {
  it("starts fresh with checked pages, a stable sort order, no network, both logins, and starts again", async () => {
    const first = await startEmbeddedPostgres(folder.options);
    const [facts] = await query(
      first.address.owner,
      `SELECT current_user AS me, current_setting('data_checksums') AS checksums, current_setting('fsync') AS fsync,
         current_setting('listen_addresses') AS listen, current_setting('server_encoding') AS encoding,
         (SELECT datlocale FROM pg_database WHERE datname = current_database()) AS locale,
         current_setting('shared_preload_libraries') AS preload`,
    );
    expect(facts).toEqual({
      me: "portcullis_owner",
      checksums: "on",
      fsync: "on",
      listen: "",
      encoding: "UTF8",
      locale: "C.UTF-8",
      preload: "pg_stat_statements",
    });
    expect(await query(first.address.app, "SELECT current_user AS me")).toEqual([{ me: "portcullis_app" }]);
    await query(first.address.owner, "CREATE TABLE public.kept (n int); INSERT INTO public.kept VALUES (7)");
    expect((await stat(first.places.clusterFolder)).mode & 0o777).toBe(0o700);
    await first.stop();
    await first.stop();
    expect(await first.exited).toMatchObject({ code: 0, asked: true });
    expect(await processesOn(first.places.clusterFolder)).toEqual([]);

    const second = await startEmbeddedPostgres(folder.options);
    expect(await query(second.address.owner, "SELECT n FROM public.kept")).toEqual([{ n: 7 }]);
    await second.stop();
  });

  it("lets no other login in, and runs in a process group of its own, not as root", async () => {
    const server = await startEmbeddedPostgres(begun());
    try {
      await query(server.address.owner, "CREATE ROLE stranger LOGIN SUPERUSER");
      await expect(query({ ...server.address.owner, user: "stranger" }, "SELECT 1")).rejects.toThrow(
        "no pg_hba.conf entry",
      );
      const text = await readFile(`/proc/${server.pid}/stat`, "utf8");
      expect(Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[2])).toBe(server.pid);
      expect((await stat(`/proc/${server.pid}`)).uid).not.toBe(0);
    } finally {
      await server.stop();
    }
  });

  it("explains in one sentence why it cannot start, and leaves nothing running", async () => {
    const options = { ...folder.options, settings: { shared_buffers: "1" } };
    await expect(startEmbeddedPostgres(options)).rejects.toThrow(/PostgreSQL ended while starting: .*shared_buffers/);
    expect(await processesOn(join(folder.options.dataFolder, "postgres"))).toEqual([]);
  });
});

describe("after a kill", () => {
  it("tells of the server's end and starts again with every committed row", async () => {
    const first = await startEmbeddedPostgres(begun());
    await query(first.address.owner, "CREATE TABLE public.kept (n int); INSERT INTO public.kept VALUES (7)");
    process.kill(first.pid, "SIGKILL");
    expect(await first.exited).toEqual({ code: null, signal: "SIGKILL", asked: false });
    const second = await startEmbeddedPostgres(folder.options);
    expect(await query(second.address.owner, "SELECT n FROM public.kept")).toEqual([{ n: 7 }]);
    // Stopping what is dead already must not touch its successor.
    await first.stop();
    expect(await query(second.address.owner, "SELECT n FROM public.kept")).toEqual([{ n: 7 }]);
    await second.stop();
  });

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

  it.each(allOr<"SIGKILL" | "SIGTERM">(["SIGKILL", "SIGTERM"], ["SIGKILL"]))(
    "leaves no orphan when its parent gets %s, and starts again",
    async (signal) => {
      const order = { dataFolder: begun().dataFolder, database: true };
      const first = startChild(order, { tmp: folder.path });
      const answer = await first.answer;
      expect(answer).toMatchObject({ ready: true });
      const clusterFolder = answer.places?.clusterFolder ?? "";
      expect((await processesOn(clusterFolder)).length).toBeGreaterThan(3);
      first.process.kill(signal);
      await first.ended;
      // The next one comes at once and must wait for the old server by itself.
      const second = startChild(order, { tmp: folder.path });
      expect(await second.answer).toMatchObject({ ready: true });
      second.process.kill("SIGKILL");
      await second.ended;
      expect(await untilGone(clusterFolder)).toBe(0);
    },
  );

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
