#!/usr/bin/env node
// The command line's first step. In the repository: run the bundle when nothing that went into it changed, else have it built first. Starting
// is what a person waits for most often, so this reads times and sizes only and loads nothing else. Installed alone: run the bundle that
// came with the package.
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`ctl needs Node 20.19 or newer; this is ${process.version}.\n`);
  process.exitCode = 1;
} else if (!existsSync(new URL("../main.ts", import.meta.url))) {
  // The package carries no sources, so nothing outside its own folder is asked what to run.
  await run("../dist/ctl.js", { home: fileURLToPath(new URL("../", import.meta.url)) });
} else if (isFresh() || (await build())) {
  await run("../../../dist/ctl/ctl.js", { home: root, repository: root });
}

async function run(bundle, installation) {
  const { main } = await import(new URL(bundle, import.meta.url).href);
  process.exitCode = await main(process.argv.slice(2), installation);
}

function isFresh() {
  try {
    const { watched } = JSON.parse(readFileSync(`${root}dist/ctl/manifest.json`, "utf8"));
    return Object.entries(watched).every(([path, seen]) => {
      const found = statSync(`${root}${path}`, { throwIfNoEntry: false });
      return found !== undefined && `${found.mtimeMs}:${found.size}` === seen;
    });
  } catch {
    // No bundle yet, or one of another making: the build says what is wrong, if anything is.
    return false;
  }
}

async function build() {
  try {
    const { ensureBundle } = await import(new URL("../../../scripts/bundle.js", import.meta.url).href);
    await ensureBundle("ctl");
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    process.stderr.write(`ctl could not be built: ${why}\nRun \`npm install\` in the repository first.\n`);
    process.exitCode = 1;
    return false;
  }
}
