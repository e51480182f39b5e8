// What the two packages promise in their package.json is there after a build, and nothing in it leads out of the package. That they install and
// run in an empty folder is acceptance/packages.long.test.ts.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byFloor } from "../testkit/full-count.ts";

interface Scripts {
  buildPackage(name: string, place: string): Promise<void>;
  ensureBundle(name: string): Promise<string>;
}

interface Manifest {
  readonly version: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: unknown;
  readonly files: readonly string[];
  readonly types?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
}

const root = resolve(import.meta.dirname, "..");
const names = ["client", "ctl"] as const;
/** What `npm test` builds; the second floor builds ctl as well. */
const built = byFloor<readonly (typeof names)[number][]>({ first: ["client"], later: names });
const read = <Value>(path: string): Value => JSON.parse(readFileSync(path, "utf8")) as Value;
const manifestOf = (name: string): Manifest => read(join(root, "edges", name, "package.json"));
const script = async (file: string): Promise<Scripts> => import(pathToFileURL(join(root, "scripts", file)).href);

let folder = "";
const distOf = (name: string): string => join(folder, name, "dist");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-packages-"));
  const { buildPackage } = await script("packages.js");
  for (const name of built) await buildPackage(name, distOf(name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every path that a manifest names, whatever conditions stand above it. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(pathsIn) : [];
}

function filesOf(name: string): readonly string[] {
  return readdirSync(distOf(name), { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(distOf(name), path)).isFile(),
  );
}

/** What a module takes from outside its package, by all that it reaches; a file that is not there fails. */
async function takenBy(entry: string): Promise<readonly string[]> {
  const options = { bundle: true, format: "esm", platform: "node", packages: "external" } as const;
  const { metafile } = await build({ ...options, entryPoints: [entry], write: false, outdir: folder, metafile: true });
  return Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
}

describe("24.9: packages that are installable", () => {
  it("the workspaces are the packages that somebody installs", () => {
    const { workspaces, version } = read<Manifest>(join(root, "package.json"));
    expect(workspaces).toEqual(names.map((name) => `edges/${name}`));
    expect(names.map((name) => manifestOf(name).version)).toEqual(names.map(() => version));
  });

  it.each(built)("%s has every path that its package.json names, and needs no other package", (name) => {
    const { bin, dependencies, exports, files, types } = manifestOf(name);
    const named = pathsIn([bin, exports, files, types]);
    expect(named.length).toBeGreaterThan(2);
    const placeOf = (path: string) =>
      /^(\.\/)?dist(\/|$)/.test(path) ? join(folder, name, path) : join(root, "edges", name, path);
    expect(named.filter((path) => !existsSync(placeOf(path)))).toEqual([]);
    expect(named.filter((path) => !files.some((file) => join(path).startsWith(file)))).toEqual([]);
    expect(dependencies).toBeUndefined();
    expect(filesOf(name)).toContain("LICENSE");
  });

  it("the client's module imports nothing at all, and its types only each other", async () => {
    expect(await takenBy(join(distOf("client"), "index.js"))).toEqual([]);
    const declarations = filesOf("client").filter((path) => path.endsWith(".d.ts"));
    expect(declarations).toContain("index.d.ts");
    const lost = declarations.flatMap((path) =>
      [...readFileSync(join(distOf("client"), path), "utf8").matchAll(/\b(?:from |import\()"([^"]+)"/g)]
        .map((match) => join(dirname(path), (match[1] ?? "").replace(/\.js$/, ".d.ts")))
        .filter((target) => !declarations.includes(target)),
    );
    expect(lost).toEqual([]);
  });

  const withCtl = built.filter((name) => name === "ctl");
  it.each(withCtl)(
    "%s's modules import each other and Node's own, and the licences of what is inside are there",
    async (name) => {
      const taken = await takenBy(join(distOf(name), "ctl.js"));
      expect(taken).toContain("node:fs");
      expect(taken.filter((path) => !isBuiltin(path))).toEqual([]);
      const licences = readFileSync(join(distOf(name), "THIRD-PARTY-LICENSES.txt"), "utf8");
      for (const inside of ["commander", "openid-client", "zod"]) {
        expect(licences).toMatch(new RegExp(`^${inside} \\d`, "m"));
      }
    },
  );

  it("in the repository ctl's quick look finds every file that it watches, so that a fresh bundle starts at once", async () => {
    await (await script("bundle.js")).ensureBundle("ctl");
    const { watched } = read<{ watched: Record<string, string> }>(join(root, "dist/ctl/manifest.json"));
    expect(Object.keys(watched).length).toBeGreaterThan(100);
    expect(Object.keys(watched).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
