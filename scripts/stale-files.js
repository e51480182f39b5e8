// Which committed files are not what would be generated: those that differ, and those in generated folders that nothing writes any more.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const generatedFolders = ["contracts/src/generated", "edges/client/src/generated"];

/**
 * @param {string} fresh the folder in which everything was generated
 * @param {string} committed the repository
 */
export function staleFiles(fresh, committed) {
  const written = filesUnder(fresh);
  const kept = generatedFolders.flatMap((folder) => filesUnder(committed, folder));
  const differs = (path) => {
    const before = join(committed, path);
    return !existsSync(before) || readFileSync(before, "utf8") !== readFileSync(join(fresh, path), "utf8");
  };
  return [...written.filter(differs), ...kept.filter((path) => !written.includes(path))];
}

function filesUnder(folder, within = "") {
  return readdirSync(join(folder, within), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
