// Builds what `npm pack` puts into a package that is installed without this repository: `node scripts/packages.js client ctl`, which each
// package calls by itself before it is packed. Everything is bundled, so that neither package needs another one.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildOptions } from "./bundle.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const clientSource = join("edges", "client", "src");

const packages = {
  client: { folder: join("edges", "client"), write: writeClient },
  ctl: { folder: join("edges", "ctl"), write: writeCtl },
};

/** One module on nothing but `fetch`, and its types. */
async function writeClient(target) {
  const { metafile } = await build({
    entryPoints: [join(root, clientSource, "index.ts")],
    outdir: target,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    // Neither a browser's modules nor Node's: what would need one of them fails here and not with whoever installs it.
    platform: "neutral",
    target: "es2022",
    metafile: true,
    logLevel: "warning",
  });
  writeDeclarations(target);
  return metafile;
}

/** The types of what the entry exports, and of what those name. */
function writeDeclarations(target) {
  const work = mkdtempSync(join(target, "types-"));
  try {
    const settings = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        incremental: false,
        tsBuildInfoFile: null,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: root,
        outDir: join(work, "out"),
        typeRoots: [join(root, "node_modules", "@types")],
      },
      files: [join(root, clientSource, "index.ts")],
      // Else the whole tree, as the settings that these extend have it.
      include: [],
    };
    const project = join(work, "tsconfig.json");
    writeFileSync(project, JSON.stringify(settings));
    const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");
    // What a compiler complains of stands on its stdout, and npm's answers stand on ours.
    execFileSync(process.execPath, [compiler, "--project", project], { stdio: ["ignore", 2, 2] });
    copyDeclarations(join(work, "out", clientSource), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copyDeclarations(from, target) {
  const waiting = ["index.d.ts"];
  for (const path of waiting) {
    const text = readFileSync(join(from, path), "utf8");
    mkdirSync(dirname(join(target, path)), { recursive: true });
    const named = /(from |import\()"(\.[^"]+)\.ts"/g;
    writeFileSync(join(target, path), text.replace(named, '$1"$2.js"'));
    for (const match of text.matchAll(named)) {
      const next = join(dirname(path), `${match[2]}.d.ts`);
      if (!waiting.includes(next)) waiting.push(next);
    }
  }
}

/** The bundle that `npx ctl` runs here, without the maps into sources that are not there. */
async function writeCtl(target) {
  const { metafile } = await build({ ...buildOptions("ctl"), sourcemap: false, outdir: target });
  return metafile;
}

/** Our licence, and those of the packages whose code went into the bundle: they want to be named wherever it goes. */
function writeLicences(metafile, target) {
  copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"));
  const used = Object.keys(metafile.inputs).flatMap((path) => {
    // What is loaded later is named by its place on this machine, behind the name of its door.
    const place = relative(root, resolve(root, path.replace(/^later:/, "")));
    const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(place);
    return found === null ? [] : [found[0]];
  });
  const texts = [...new Set(used)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? license : readFileSync(join(root, folder, file), "utf8").trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  if (texts.length > 0) writeFileSync(join(target, "THIRD-PARTY-LICENSES.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

/**
 * Writes a package's `dist`, into its own folder or into `place`. It is made beside its place and moved there whole.
 * @param {string} name
 * @param {string} [place]
 */
export async function buildPackage(name, place) {
  const found = packages[name];
  if (found === undefined) throw new Error(`there is no package "${name}"; known: ${Object.keys(packages).join(", ")}`);
  const target = place ?? join(root, found.folder, "dist");
  mkdirSync(dirname(target), { recursive: true });
  const fresh = mkdtempSync(`${target}-`);
  try {
    writeLicences(await found.write(fresh), fresh);
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    for (const name of process.argv.slice(2)) await buildPackage(name);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
