// The suite runs on the Node that npm brings. Whoever starts the platform may have an older one, down to what the README promises: there it starts, is
// healthy, answers ctl and stops, with services on the Node that npm brought and, in one process, without it.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorUrl } from "../testkit/login.ts";
import { oldestNode, oldestVersion } from "../testkit/oldest-node.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
let node: string;
const started: Platform[] = [];

beforeAll(async () => {
  node = await oldestNode();
}, 600_000);

afterAll(async () => {
  for (const platform of started) await platform.end();
});

describe(`Node ${oldestVersion}`, { timeout: 240_000 }, () => {
  test("is what package.json promises, and what is run here", async () => {
    const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { engines: { node: string } };
    expect(`${engines.node}.0`).toBe(`>=${oldestVersion}`);
    expect((await run(node, ["--version"])).stdout.trim()).toBe(`v${oldestVersion}`);
  });

  test.each([
    ["with services of their own", []],
    ["in one process", ["--single-process"]],
  ])("starts, checks and stops the platform %s", async (_name, parameters) => {
    const platform = startPlatform({ node, arguments: parameters });
    started.push(platform);
    await platform.ready();
    expect(await platform.health()).toBe(200);
    const environment = {
      ...process.env,
      PORTCULLIS_URL: operatorUrl(platform),
      PORTCULLIS_DATA_DIR: platform.dataFolder,
      XDG_CONFIG_HOME: join(platform.dataFolder, "config"),
    };
    const ctl = (...words: string[]) => run(node, [join(root, "edges/ctl/bin/ctl.js"), ...words], { env: environment });
    await ctl("auth", "login", "--dev", "duty");
    expect((await ctl("riskengine", "halts", "list")).stdout).toContain("No halt is in force");
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    expect(platform.processes()).toEqual([]);
  });
});
