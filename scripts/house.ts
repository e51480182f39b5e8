// `npm run house`: the house in figures (testkit/tidy/house.ts), and a sentence for everything that is held and is not so.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { houseOf } from "../testkit/tidy/house.ts";

const root = join(import.meta.dirname, "..");
const skipped = new Set(["node_modules", "dist", ".cache", ".portcullis", ".git", "coverage"]);
const shownMax = 20;

function* walk(folder = ""): Iterable<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) yield path;
    else if (!skipped.has(entry.name)) yield* walk(path);
  }
}

const texts = new Map<string, string>();
for (const path of walk()) {
  if (/\.(tsx?|js|proto|md)$/.test(path)) texts.set(path, readFileSync(join(root, path), "utf8"));
}
const { rooms, held } = houseOf(texts);
for (const { room, files, lines } of rooms) {
  console.log(`${room.padEnd(14)}${String(files).padStart(6)} files${String(lines).padStart(9)} lines`);
}
const sum = (of: "files" | "lines"): number => rooms.reduce((total, room) => total + room[of], 0);
console.log(
  `${"product".padEnd(14)}${String(sum("files")).padStart(6)} files${String(sum("lines")).padStart(9)} lines`,
);
for (const { name, most, found, instead } of held) {
  console.log(`${String(found.length).padStart(6)} ${name}${most === 0 ? "" : ` (at most ${most})`}`);
  if (found.length <= most) continue;
  for (const one of found.slice(0, shownMax)) console.error(`       ${one}`);
  if (found.length > shownMax) console.error(`       and ${found.length - shownMax} more`);
  console.error(`       ${instead}`);
}
process.exitCode = held.some(({ found, most }) => found.length > most) ? 1 : 0;
