// The program as its users start, stop and break it: real processes, real database, real signals.
import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findNodeRuntime } from "../adapters/system/node-runtime.ts";
import { allOr } from "../testkit/full-count.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const open: Platform[] = [];
const folders: string[] = [];

function start(...parameters: Parameters<typeof startPlatform>): Platform {
  const platform = startPlatform(...parameters);
  open.push(platform);
  return platform;
}

function folder(name: string): string {
  const made = temporaryFolder(name);
  folders.push(made);
  return made;
}

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
  for (const path of folders) rmSync(path, { recursive: true, force: true });
}, 60_000);

const parts = ["riskengine", "operations", "treasury", "oms", "research", "gateway"] as const;

describe("a platform that runs", { timeout: 120_000 }, () => {
  // The first two tests share it: the second breaks what the first has looked at.
  let platform: Platform;

  beforeAll(async () => {
    platform = start({ environment: { PORTCULLIS_VAULT_TOKEN: "hunter2" }, database: "from nothing" });
    await platform.ready();
  }, 120_000);

  test("tells where everything is, is healthy on both ports, and refuses a second start", async () => {
    await expect.poll(() => platform.stdout()).toMatch(/operators +http:\/\/127\.0\.0\.1:\d+/);
    await expect.poll(() => platform.stdout()).toContain("Try next");
    const run = platform.runFile();
    expect(Object.keys(run.processes).sort()).toEqual([...parts].sort());
    expect(run.pid).toBe(platform.pid);
    // A child's environment is open to whoever runs as the same user, so no setting is in it.
    for (const pid of Object.values(run.processes)) {
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toMatch(/hunter2|PORTCULLIS_/);
      expect(realpathSync(`/proc/${pid}/exe`)).toBe(realpathSync(findNodeRuntime({ warn: expect.fail })));
    }
    expect(run.database).toMatchObject({ embedded: true, name: "portcullis" });
    await expect.poll(() => platform.health()).toBe(200);
    await expect.poll(() => platform.health("gateway.public")).toBe(200);
    expect(statSync(join(platform.dataFolder, "secrets.key")).mode & 0o777).toBe(0o600);

    const second = start({ dataFolder: platform.dataFolder });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    await expect
      .poll(() => second.stderr())
      .toMatch(new RegExp(`in use by process ${platform.pid} .*PORTCULLIS_DATA_DIR`));
    await expect.poll(() => second.stderr().trim().split("\n")).toHaveLength(1);
  });

  test("kill -9 of each part: the others answer, health tells the truth, it comes back at the same address, and stops cleanly on a doubled group signal", async () => {
    const before = platform.runFile();
    for (const part of allOr(parts, ["operations"])) {
      const pid = platform.runFile().processes[part] ?? 0;
      process.kill(pid, "SIGKILL");
      await eventually(`health is not ok without ${part}`, async () => (await platform.health()) !== 200, 5_000);
      await eventually(`${part} is back`, async () => (await platform.health()) === 200);
      const now = platform.runFile();
      expect(now.processes[part]).not.toBe(pid);
      expect(now.addresses).toEqual(before.addresses);
      expect({ ...now.processes, [part]: 0 }).toEqual({ ...before.processes, ...changed(parts, part, now), [part]: 0 });
    }
    await expect.poll(() => platform.stdout()).toContain("a part ended and is started again");
    await expect.poll(() => platform.stdout()).toContain("a part is back");

    const databasePid = platform.runFile().database.pid ?? 0;
    process.kill(databasePid, "SIGKILL");
    await eventually("health is not ok without the database", async () => (await platform.health()) === 503, 5_000);
    await eventually("the database is back", async () => (await platform.health()) === 200);
    expect(platform.runFile().database.pid).not.toBe(databasePid);
    expect(platform.runFile().processes).toMatchObject({ gateway: expect.any(Number) });

    process.kill(platform.pid, "SIGKILL");
    await eventually("nothing outlives the supervisor", () => platform.processes().length === 0, 15_000);

    const again = start({ dataFolder: platform.dataFolder });
    await again.ready();
    await expect.poll(() => again.health()).toBe(200);
    again.signalGroup("SIGINT");
    again.signalGroup("SIGTERM");
    expect(await again.exited).toEqual({ code: 0, signal: null });
    await eventually("nothing is left", () => again.processes().length === 0);
  });

  test("leaves a start that hangs when it is asked to stop", async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const platform = start({ environment: { PORTCULLIS_DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/none` } });
    await eventually(
      "it tries to connect",
      () => new Promise((resolve) => server.getConnections((_, count) => resolve(count > 0))),
    );
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    server.close();
  });
});

/** What the loop has already replaced before this part. */
function changed(
  all: readonly string[],
  part: string,
  now: { processes: Readonly<Record<string, number>> },
): Record<string, number> {
  const earlier = all.slice(0, all.indexOf(part));
  return Object.fromEntries(earlier.map((name) => [name, now.processes[name] ?? 0]));
}

describe("a platform that cannot start says why in one sentence", { timeout: 60_000 }, () => {
  async function refusal(
    options: Parameters<typeof startPlatform>[0],
  ): Promise<{ code: number | null; sentence: string }> {
    const platform = start(options);
    const { code } = await platform.exited;
    await eventually("nothing is left", () => platform.processes().length === 0);
    return { code, sentence: platform.stderr().trim() };
  }

  test("the data folder is a file, or cannot be written", async () => {
    const parent = folder("unusable");
    writeFileSync(join(parent, "file"), "");
    const asFile = await refusal({ dataFolder: join(parent, "file") });
    expect(asFile).toMatchObject({
      code: 1,
      sentence: expect.stringMatching(/^Portcullis stops: The data folder .*PORTCULLIS_DATA_DIR/),
    });
    const unwritable = await refusal({ dataFolder: "/proc/portcullis" });
    expect(unwritable).toMatchObject({
      code: 1,
      sentence: expect.stringMatching(/^Portcullis stops: The data folder .*PORTCULLIS_DATA_DIR/),
    });
  });

  test("a configuration with five mistakes reports five", async () => {
    const parent = folder("mistakes");
    const file = join(parent, "portcullis.yaml");
    const text = [
      "synthetic_stop:",
      "  pol_interval_s: 5",
      "  enabled: perhaps",
      "broker_exit_reconciler:",
      "  interval_s: -1",
      "lifecycle:",
      "  drain_timeout_s: 0",
      "fund:",
      "  fund_id: alpha",
      "  compliance: { cat_enabled: true }",
      "",
    ].join("\n");
    writeFileSync(file, text);
    const { code, sentence } = await refusal({ environment: { PORTCULLIS_CONFIG: file } });
    expect(code).toBe(2);
    const lines = sentence.split("\n");
    expect(lines[0]).toBe("The configuration has 5 mistakes:");
    expect(lines).toHaveLength(6);
    expect(sentence).toContain("did you mean");
  });

  test("the database cannot be reached", async () => {
    const { code, sentence } = await refusal({
      environment: { PORTCULLIS_DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/none" },
    });
    expect(code).toBe(1);
    expect(sentence).toMatch(/^Portcullis stops: .*127\.0\.0\.1:1/);
    expect(sentence).not.toContain("hunter2");
  });

  test("an unknown flag shows the usage", async () => {
    const { code, sentence } = await refusal({ arguments: ["--sinlge-process"] });
    expect(code).toBe(2);
    expect(sentence).toContain("--single-process");
  });
});

describe("questions that need no platform", { timeout: 30_000 }, () => {
  test("--print-config shows sources and no secrets", async () => {
    const platform = start({
      arguments: ["--print-config"],
      environment: { PORTCULLIS_DATABASE_URL: "postgres://me:hunter2@db.example/x", PORTCULLIS_VAULT_TOKEN: "hunter3" },
    });
    expect((await platform.exited).code).toBe(0);
    await expect.poll(() => platform.stdout()).toContain("environment PORTCULLIS_DATABASE_URL");
    expect(platform.stdout()).not.toMatch(/hunter/);
  });

  test("--version and --help", async () => {
    const version = start({ arguments: ["--version"] });
    await version.exited;
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8")) as {
      version: string;
    };
    await expect.poll(() => version.stdout().trim()).toBe(manifest.version);
    const help = start({ arguments: ["--help"] });
    await help.exited;
    await expect.poll(() => help.stdout()).toMatch(/^Usage: npm start/);
  });
});
