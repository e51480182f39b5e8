// The private server starts from nothing, starts again whatever was killed, and never outlives whoever started it. server-rounds.ci.test.ts has what
// it meets more rarely.
import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  processesOn,
  query,
  startChild,
  type TestFolder,
  testFolder,
  untilGone,
} from "../../../testkit/embedded-postgres/support.ts";
import { byFloor } from "../../../testkit/full-count.ts";
import { giveMadeDatabase } from "../../../testkit/made-cluster.ts";
import { startEmbeddedPostgres } from "./server.ts";

// Each test makes a database or two, which takes long on a machine that is busy with other test files.
vi.setConfig({ testTimeout: 120_000 });

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
    const options = { ...begun(), settings: { shared_buffers: "1" } };
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

  it.each(byFloor<readonly ("SIGKILL" | "SIGTERM")[]>({ first: ["SIGKILL"], later: ["SIGKILL", "SIGTERM"] }))(
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
});
