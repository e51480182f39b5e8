// `npm run check`: types, lint and format, and the architecture (tidy.test.ts). Everything runs, then it says what failed.
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tool = (name) => join(root, "node_modules", ".bin", name);

const steps = [
  ["types", tool("tsc"), ["--noEmit", "--project", root]],
  ["lint and format", tool("biome"), ["check", "--error-on-warnings", root]],
  ["tidy", tool("vitest"), ["run", "--root", root, "--config", join(root, "vitest.tidy.config.ts")]],
];

const skipTidy = process.argv.includes("--no-tidy");
const failed = [];
for (const [name, command, parameters] of steps) {
  if (skipTidy && name === "tidy") continue;
  console.error(`check: ${name}`);
  const result = spawnSync(command, parameters, { cwd: root, stdio: "inherit" });
  if (result.status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(", ")}`);
  process.exit(1);
}
console.error("check: all good");
