// `npm run check`: types, lint and format, what is generated, and the architecture (tidy.test.ts). Everything runs, side by side, then it says what failed.
import { spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tool = (name) => join(root, "node_modules", ".bin", name);

const steps = [
  // The compiler's native edition: 13 s where the one in JavaScript, which tidy reads sources with, takes 48.
  ["types", join(root, "node_modules", "typescript-native", "bin", "tsc"), ["--noEmit", "--project", root]],
  // The desks know a browser and the rest does not.
  [
    "types of the desks",
    join(root, "node_modules", "typescript-native", "bin", "tsc"),
    ["--noEmit", "--project", join(root, "edges", "web")],
  ],
  // With the two rules that read every type first, which a file alone need not wait for (`npx biome check FILE`: 0.1 s instead of 9).
  [
    "lint and format",
    tool("biome"),
    ["check", "--error-on-warnings", `--config-path=${join(root, "biome.types.json")}`, root],
  ],
  // What is committed is what the declarations say; a declaration that leaves something open is named.
  ["generated", process.execPath, [join(root, "scripts", "gen.js"), "--check"]],
  // What a release promised is still kept (docs/compatibility.md).
  ["compatibility", process.execPath, [join(root, "scripts", "compat.js")]],
  // Rooms, loops and what nobody takes, in figures.
  ["house", tool("tsx"), [join(root, "scripts", "house.ts")]],
  ["tidy", tool("vitest"), ["run", "--root", root, "--config", join(root, "vitest.tidy.config.ts")]],
];

/** Runs one step; what it says is kept together and shown when it has ended, because the steps run beside each other. */
function run([name, command, parameters]) {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
    child.once("error", (error) => said.push(Buffer.from(`${error.message}\n`)));
    child.once("close", (code) => {
      console.error(`check: ${name}`);
      process.stderr.write(Buffer.concat(said));
      resolve(code === 0 ? [] : [name]);
    });
  });
}

// The tests hold these two as well, so `npm test` leaves them out.
const heldByTests = ["generated", "tidy"];
const skipTidy = process.argv.includes("--no-tidy");
const chosen = steps.filter(([name]) => !heldByTests.includes(name) || !skipTidy);
const failed = (await Promise.all(chosen.map(run))).flat();
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(", ")}`);
  process.exit(1);
}
console.error("check: all good");
