// `npm run compat`: whether what we promise today keeps what every release promised (docs/compatibility.md). It compares the descriptions of the
// interfaces with those in contracts/released, names every break, and fails when there is one. `--freeze VERSION` writes a release's folder.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { asyncApiBreaks } from "./compat/async-api.js";
import { openApiBreaks } from "./compat/open-api.js";
import { schemaBreaks } from "./compat/schemas.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const releasedFolder = join("contracts", "released");
const image = "protos.binpb";

/** A record by itself: its schema is the document. */
const recordBreaks = (before, after) => schemaBreaks("", before, after, { before, after, direction: "both" });

/** What a release keeps: each file, where its present form is committed, and how the two are compared. */
const kept = [
  { file: "openapi.json", present: "edges/client/openapi.json", breaks: openApiBreaks },
  { file: "openapi.public.json", present: "edges/client/openapi.public.json", breaks: openApiBreaks },
  { file: "asyncapi.json", present: "contracts/asyncapi.json", breaks: asyncApiBreaks },
  { file: "audit-entry.schema.json", present: "contracts/schemas/audit-entry.schema.json", breaks: recordBreaks },
  { file: "halt.schema.json", present: "contracts/schemas/halt.schema.json", breaks: recordBreaks },
];

/**
 * Every break against one release, each with the file that it is in.
 * @param {string} released the release's folder
 * @param {string} tree the folder whose present form is held to it
 */
export function breaksAgainst(released, tree = root) {
  return [...documentBreaks(released, tree), ...protoBreaks(join(released, image), tree)];
}

/** The same without the protos. */
export function documentBreaks(released, tree) {
  return kept.flatMap(({ file, present, breaks }) => {
    const before = readJson(join(released, file));
    const path = join(tree, present);
    if (!existsSync(path)) return [`${file}: the description is gone`];
    return breaks(before, readJson(path)).map((line) => `${file}: ${line}`);
  });
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

const buf = join(root, "node_modules", ".bin", "buf");

/** Of the protos, by the rules WIRE_JSON of buf.yaml: numbers, types and names on the wire and in JSON. */
function protoBreaks(against, tree) {
  const found = spawnSync(buf, ["breaking", "--against", resolve(against), "--error-format", "json"], {
    cwd: tree,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  // 100 is what buf ends with when it found something; every other failure is no answer.
  if (found.status !== 0 && found.status !== 100)
    throw new Error(`buf breaking failed: ${found.stderr}${found.stdout}`);
  return found.stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line))
    .map(({ path, start_line, message }) => `protos: ${path ?? ""}:${start_line ?? 0}: ${message}`);
}

/** Writes what a release promises. A release that is out never changes. */
export function freeze(version) {
  const folder = join(root, releasedFolder, version);
  if (existsSync(folder)) throw new Error(`${releasedFolder}/${version} exists; what was released does not change`);
  const work = mkdtempSync(join(tmpdir(), "portcullis-freeze-"));
  try {
    execFileSync(buf, ["build", "--exclude-source-info", "-o", join(work, image)], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    });
    mkdirSync(folder, { recursive: true });
    for (const { file, present } of kept) copyFileSync(join(root, present), join(folder, file));
    copyFileSync(join(work, image), join(folder, image));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function main() {
  const freezeAt = process.argv.indexOf("--freeze");
  if (freezeAt !== -1) return freeze(process.argv[freezeAt + 1] ?? "");
  const versions = readdirSync(join(root, releasedFolder)).sort();
  let count = 0;
  for (const version of versions) {
    const lines = breaksAgainst(join(root, releasedFolder, version));
    for (const line of lines) console.error(`${version}: ${line}`);
    count += lines.length;
  }
  console.log(`${count} breaks against ${versions.join(", ")}`);
  if (count > 0) process.exitCode = 1;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
