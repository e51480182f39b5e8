// The data folder is refused in one clear sentence or held by exactly one program, whoever died before.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { nobodyUid, runsAsRoot, startChild } from "../../testkit/embedded-postgres/support.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { systemClock } from "./clock.ts";
import { makeRuntimeFolder, openDataFolder, socketNameBytesMax, socketPathBytesMax } from "./data-folder.ts";
import { systemRandom } from "./random.ts";

const ports = { clock: systemClock(), random: systemRandom() };
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portcullis-folder-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Error(`expected a Fault, got ${String(thrown)}`);
}

const lockOf = (path: string): string => join(path, "portcullis.lock");
const locksIn = async (path: string): Promise<readonly string[]> =>
  (await readdir(path)).filter((name) => name.startsWith("portcullis.lock"));

describe("the folder", () => {
  it("is made with its parents, mode 0700, and gives everything back", async () => {
    const path = join(folder, "a", "b");
    const held = await openDataFolder(path, ports);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(lockOf(path))).mode & 0o777).toBe(0o600);
    await held.release();
    expect(await readdir(path)).toEqual([]);
  });

  it("is refused when a file stands in its place", async () => {
    const path = join(folder, "file");
    await writeFile(path, "");
    const fault = await faultOf(openDataFolder(path, ports));
    expect(fault.code).toBe("DATA_FOLDER_UNUSABLE");
    expect(fault.message).toContain("there is a file in its place; move the file away or choose another");
  });

  it("is refused when it lies under a file", async () => {
    await writeFile(join(folder, "file"), "");
    const fault = await faultOf(openDataFolder(join(folder, "file", "data"), ports));
    expect(fault.code).toBe("DATA_FOLDER_UNUSABLE");
  });

  it("is refused when this user may not write there", async () => {
    const path = join(folder, "locked");
    await mkdir(path, { mode: 0o500 });
    // Root may write anywhere: there, somebody else has to try.
    const tmp = await mkdtemp(join(tmpdir(), "portcullis-nobody-"));
    try {
      const options = runsAsRoot ? { uid: nobodyUid, tmp } : { tmp };
      const child = startChild({ dataFolder: join(path, "data"), database: false }, options);
      expect(await child.answer).toMatchObject({ ready: false, code: "DATA_FOLDER_UNUSABLE" });
      expect((await child.answer).message).toContain("this user may not write there");
      expect(await child.leave()).toBe(1);
    } finally {
      await rm(tmp, { recursive: true, force: true });
    }
  });

  it("keeps its mode when it existed and is not empty, and is refused when others may write to it", async () => {
    const path = join(folder, "mine");
    await mkdir(path);
    await writeFile(join(path, "notes"), "");
    const { chmod } = await import("node:fs/promises");
    await chmod(path, 0o755);
    await (await openDataFolder(path, ports)).release();
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    await chmod(path, 0o777);
    expect((await faultOf(openDataFolder(path, ports))).message).toContain("other users may write to it");
    expect((await stat(path)).mode & 0o777).toBe(0o777);
  });
});

describe("the runtime folder", () => {
  it("is inside the data folder when short enough", async () => {
    const held = await openDataFolder(folder, ports);
    expect(held.runtimeFolder).toBe(join(held.path, "run"));
    await held.release();
  });

  it("is in the temporary folder when the data folder's path is too long, and goes with the lock", async () => {
    const path = join(folder, "x".repeat(80));
    const held = await openDataFolder(path, ports);
    const longest = join(held.runtimeFolder, "s".repeat(socketNameBytesMax));
    expect(Buffer.byteLength(longest)).toBeLessThanOrEqual(socketPathBytesMax);
    expect(held.runtimeFolder.startsWith(path)).toBe(false);
    expect((await stat(held.runtimeFolder)).mode & 0o777).toBe(0o700);
    await held.release();
    await expect(stat(held.runtimeFolder)).rejects.toThrow("ENOENT");
  });

  it("is made anew when a link was planted in its place", async () => {
    const victim = join(folder, "victim");
    await mkdir(victim);
    await writeFile(join(victim, "kept"), "");
    await symlink(victim, join(folder, "run"));
    await makeRuntimeFolder(folder);
    expect(await readdir(victim)).toEqual(["kept"]);
    expect((await stat(join(folder, "run"))).isDirectory()).toBe(true);
  });
});

describe("the lock", () => {
  it("names its holder to whoever comes second", async () => {
    const held = await openDataFolder(folder, ports);
    const fault = await faultOf(openDataFolder(folder, ports));
    expect(fault.code).toBe("DATA_FOLDER_IN_USE");
    expect(fault.message).toMatch(
      new RegExp(
        `is in use by process ${process.pid} \\(started 20.*Z\\); stop it or choose another PORTCULLIS_DATA_DIR`,
      ),
    );
    await held.release();
    await (await openDataFolder(folder, ports)).release();
  });

  it("is not released by somebody who no longer holds it", async () => {
    const first = await openDataFolder(folder, ports);
    await rm(lockOf(folder));
    const second = await openDataFolder(folder, ports);
    await first.release();
    expect((await faultOf(openDataFolder(folder, ports))).code).toBe("DATA_FOLDER_IN_USE");
    await second.release();
  });

  it.each([
    ["a process that is gone", { pid: 4_194_303 }],
    ["a process id that somebody else has now", { processStart: "1" }],
    ["an earlier boot", { bootId: "another" }],
  ])("is taken over from %s", async (_name, change) => {
    await (await openDataFolder(folder, ports)).release();
    await writeLock({ ...(await ownDescription()), ...change });
    const held = await openDataFolder(folder, ports);
    expect(await locksIn(folder)).toEqual(["portcullis.lock"]);
    await held.release();
  });

  it("is taken over when it is damaged, and when a taker died midway", async () => {
    await writeFile(lockOf(folder), "{");
    await (await openDataFolder(folder, ports)).release();
    const dead = { ...(await ownDescription()), pid: 4_194_303 };
    await writeLock({ ...dead, nonce: "first" });
    await writeFile(`${lockOf(folder)}.first.claim`, JSON.stringify({ ...dead, nonce: "second" }));
    await writeFile(`${lockOf(folder)}.second.draft`, JSON.stringify({ ...dead, nonce: "second" }));
    const held = await openDataFolder(folder, ports);
    expect(await locksIn(folder)).toEqual(["portcullis.lock"]);
    await held.release();
  });

  it("is not taken from another machine, whose processes cannot be seen", async () => {
    await writeLock({ ...(await ownDescription()), host: `not-${hostname()}` });
    const fault = await faultOf(openDataFolder(folder, ports));
    expect(fault.message).toContain(`on not-${hostname()}`);
    expect(fault.message).toContain(`remove ${lockOf(folder)}`);
  });

  it("goes to exactly one of many who take over at once, in one process", async () => {
    for (let round = 0; round < inputCount(20, 6); round += 1) {
      await writeLock({ ...(await ownDescription()), pid: 4_194_303, nonce: `round-${round}` });
      const { takeLock } = await import("./data-folder-lock.ts");
      const results = await Promise.allSettled(Array.from({ length: 12 }, () => takeLock(folder, ports)));
      const won = results.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      expect(await locksIn(folder)).toEqual(["portcullis.lock"]);
      for (const lock of won) await lock.value.release();
    }
  });

  it("goes to exactly one of several processes, also when its holder was killed", async () => {
    const order = { dataFolder: join(folder, "data"), database: false };
    const first = startChild(order, { tmp: folder });
    expect((await first.answer).ready).toBe(true);
    first.process.kill("SIGKILL");
    await first.ended;
    const rivals = Array.from({ length: 5 }, () => startChild(order, { tmp: folder }));
    const answers = await Promise.all(rivals.map((rival) => rival.answer));
    expect(answers.filter((answer) => answer.ready)).toHaveLength(1);
    const winner = rivals[answers.findIndex((answer) => answer.ready)];
    for (const answer of answers) {
      if (!answer.ready) expect(answer.message).toContain(`in use by process ${winner?.process.pid}`);
    }
    await Promise.all(rivals.map((rival) => rival.leave()));
    expect(await locksIn(order.dataFolder)).toEqual([]);
  });
});

async function ownDescription(): Promise<Record<string, unknown>> {
  const held = await openDataFolder(folder, ports);
  const text = await readFile(lockOf(folder), "utf8");
  await held.release();
  return JSON.parse(text) as Record<string, unknown>;
}

async function writeLock(holder: Record<string, unknown>): Promise<void> {
  await writeFile(lockOf(folder), JSON.stringify(holder));
}
