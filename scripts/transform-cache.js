// Where transformed sources are kept between test runs: a folder of its own for each compiler configuration and version of Node, because what is made
// under one must not be read under another. What would make it larger than half a gigabyte is thrown away as a whole.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, ".cache", "transforms");
const bytesMax = 500_000_000;
/** A folder that is walked for compiler configurations has none of ours inside these. */
const skipped = new Set(["node_modules", "dist", ".cache", ".portcullis", ".git", "coverage"]);

/** @param {string} folder @returns {string[]} */
function configurationsIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : configurationsIn(path);
    return /^tsconfig.*\.json$/.test(entry.name) ? [path] : [];
  });
}

export function cacheFolder() {
  const hash = createHash("sha256").update(process.version);
  for (const path of [...configurationsIn(root), join(root, "package-lock.json")].sort())
    hash.update(readFileSync(path));
  return join(home, hash.digest("hex").slice(0, 16));
}

/** Called once before a run: folders of other versions go, and ours too when it has grown beyond its bound. */
export function trimTransforms(folder = cacheFolder(), most = bytesMax) {
  const place = dirname(folder);
  if (!existsSync(place)) return;
  for (const name of readdirSync(place)) {
    const other = join(place, name);
    if (other !== folder || bytesOf(other) > most) rmSync(other, { recursive: true, force: true });
  }
}

/** @param {string} folder @returns {number} */
function bytesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesOf(path) : (statSync(path, { throwIfNoEntry: false })?.size ?? 0));
  }, 0);
}
