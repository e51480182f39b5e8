// Bundles what runs, with esbuild, and only when a source file changed since the last time: `npm start`, `npm run bench`,
// `npm run sim`, `npm run oracle` and `ctl` call `ensureBundle` and never run stale code. `node scripts/bundle.js` builds everything.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { setPriority } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Each bundle is one folder under dist/ with its entry points; shared code is split into chunks. */
const bundles = {
  portcullis: ["main.ts", "supervisor/service-process.ts", "compose/report-process.ts", "compose/filing-process.ts"],
  // One file without chunks: a mind of the repository bot may read that and nothing else.
  mind: ["compose/bot-mind.ts"],
  bench: [
    "bench/main.ts",
    "bench/check-order/check-order-server.ts",
    "bench/check-order/check-order-generator.ts",
    "bench/check-order/check-order-gates.ts",
    "bench/halt/halt-server.ts",
    "bench/halt/halt-generator.ts",
    "bench/market-data/market-data-server.ts",
  ],
  sim: ["sim/main.ts"],
  oracle: ["testkit/oracle/main.ts"],
  fuzz: ["testkit/fuzz/main.ts"],
  ctl: ["compose/ctl.ts"],
  web: ["compose/web.tsx"],
};

/** What decides about every bundle besides its sources; ctl's own quick look (edges/ctl/bin/ctl.js) compares their times too. */
const always = ["package-lock.json", "scripts/bundle.js"];

/** PostgreSQL's client looks whether it runs at Cloudflare; without this answer it makes Node load its whole `fetch` to find out. */
const atCloudflare = { navigator: '{"userAgent":"Node.js"}' };

/** @param {string} name */
export function buildOptions(name) {
  return name === "web" ? webOptions() : nodeOptions(name);
}

/** For browsers: the names of all files carry their content, so that they may be kept for ever. */
function webOptions() {
  return {
    entryPoints: { web: join(root, "compose/web.tsx"), icon: join(root, "edges/web/look/icon.svg") },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    publicPath: "/assets",
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: ["chrome120", "firefox121", "safari17"],
    jsx: "automatic",
    splitting: true,
    metafile: true,
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    loader: { ".woff2": "file", ".svg": "copy" },
    // What writes tables for terminals is loaded only by whoever has one.
    external: ["cli-table3"],
    define: { "process.env.NODE_ENV": '"production"' },
  };
}

/** @param {string} name */
function nodeOptions(name) {
  return {
    entryPoints: bundles[name].map((entry) => join(root, entry)),
    // Entries lie in one folder, whatever folders their sources are in.
    entryNames: "[name]",
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    splitting: true,
    metafile: true,
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    // The bundler makes every `const` of a module a `var`, which the engine must load and may not trust; with this it writes numbers where they are used.
    minifySyntax: true,
    logLevel: "warning",
    // These read files beside their own code or are loaded only when configured, so they stay in node_modules.
    external: [
      "@opentelemetry/sdk-*",
      "@opentelemetry/exporter-*",
      "@node-rs/argon2",
      "@fastify/*",
      "oidc-provider",
      "fastify",
      "ai",
      "@ai-sdk/*",
      "pg-native",
      "esbuild",
      "playwright-core",
      "vitest",
      "tsx",
      "@grpc/reflection",
      "@grpc/proto-loader",
      "bzip2-wasm",
      "ssh2",
    ],
    // Ink's own, for its developers: never asked for here, and whoever installs ctl has none.
    alias: { "react-devtools-core": "node:module" },
    define: atCloudflare,
    plugins: [{ name: "unasked-callers", setup: leaveCallersOut }],
    // CommonJS packages inside an ES module still ask for `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    ...(name === "ctl" ? quickToStart() : {}),
  };
}

/** A command line is read anew at every start: what is not there need not be read. Names stay, for stack traces. */
function quickToStart() {
  return {
    minifyWhitespace: true,
    // React's checks for developers are a megabyte that no user needs.
    define: { ...atCloudflare, "process.env.NODE_ENV": '"production"' },
    // Loading `node:module` for its `createRequire` takes longer than all that is asked of it, which is modules of Node's own.
    banner: {
      js: 'const require = (name) => process.getBuiltinModule(name) ?? process.getBuiltinModule("node:module").createRequire(import.meta.url)(name);',
    },
    plugins: [
      { name: "quick-to-start", setup: setUpQuickStart },
      { name: "unasked-callers", setup: leaveCallersOut },
    ],
  };
}

/**
 * pino looks up at every start who called it, for transports, of which we have none. Node reads and parses the source maps of everything
 * that was loaded to answer: a sixth of what the start of a service computes.
 * @param {import("esbuild").PluginBuild} build
 */
function leaveCallersOut(build) {
  build.onResolve({ filter: /\/caller$/ }, ({ importer }) =>
    /[\\/]pino[\\/]/.test(importer) ? { path: "caller", namespace: "unused" } : undefined,
  );
  build.onLoad({ filter: /^caller$/, namespace: "unused" }, () => ({ contents: "module.exports = () => [];" }));
}

/** @param {import("esbuild").PluginBuild} build */
function setUpQuickStart(build) {
  // esbuild makes one chunk of what the same entries reach, and whatever is loaded later counts as an entry: the modules of every start
  // would lie in nine chunks. Behind this door each of our later modules reaches all of them, and they lie in one.
  const start = JSON.stringify(join(root, "edges/ctl/main.ts"));
  build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
    kind === "dynamic-import" ? { path: resolve(resolveDir, path), namespace: "later" } : undefined,
  );
  build.onLoad({ filter: /./, namespace: "later" }, ({ path }) => ({
    contents: `import ${start}; export * from ${JSON.stringify(path)};`,
    resolveDir: root,
  }));
  // commander could start other programs as its commands and loads Node's part for that; ours are all its own.
  build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
    /[\\/]commander[\\/]/.test(importer) ? { path: "child_process", namespace: "unused" } : undefined,
  );
  build.onLoad({ filter: /^child_process$/, namespace: "unused" }, () => ({ contents: "module.exports = {};" }));
}

/** A fingerprint of everything besides the source files that decides what a bundle contains. */
function recipe(name) {
  const hash = createHash("sha256").update(name);
  for (const path of always) hash.update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

function stamp(path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  return found === undefined ? "missing" : `${found.mtimeMs}:${found.size}`;
}

function isFresh(name) {
  const manifestPath = join(root, "dist", name, "manifest.json");
  if (!existsSync(manifestPath)) return false;
  const manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
  if (manifest.recipe !== recipe(name)) return false;
  return Object.entries(manifest.inputs).every(([path, seen]) => stamp(path) === seen);
}

async function build(name) {
  const { build: esbuild, stop } = await import("esbuild");
  const place = join(root, "dist", name);
  mkdirSync(place, { recursive: true });
  // Built beside its place and moved into it file by file, the manifest last. Old chunks stay: their names carry their content, and
  // a program that is still running may load one later.
  const fresh = mkdtempSync(join(root, "dist", `.${name}-`));
  try {
    const result = await esbuild({ ...buildOptions(name), outdir: fresh });
    if (name === "web") finishWeb(fresh, result.metafile);
    const inputs = Object.keys(result.metafile.inputs)
      // What the bundler made up itself is named after its maker, and is no file.
      .filter((path) => !/^(later|unused|<define):/.test(path))
      .map((path) => relative(root, resolve(root, path)))
      .filter((path) => !path.startsWith("node_modules") && !path.startsWith(".."));
    const manifest = {
      recipe: recipe(name),
      inputs: Object.fromEntries(inputs.map((path) => [path, stamp(path)])),
    };
    for (const file of readdirSync(fresh)) renameSync(join(fresh, file), join(place, file));
    writeManifest(name, manifest);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    // Its helper would stay as long as the platform, with several hundred megabytes.
    await stop();
  }
}

/** The one page that names the others, and every text once more in the forms in which it travels. */
function finishWeb(folder, { outputs }) {
  const [script, facts] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === "compose/web.tsx") ?? [];
  if (script === undefined) throw new Error("the desks' entry is not among what was built");
  const name = (path) => `/assets/${path.split("/").at(-1)}`;
  const icon = Object.keys(outputs).find((path) => path.endsWith(".svg"));
  writeFileSync(
    join(folder, "page.html"),
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Portcullis</title>
<link rel="stylesheet" href="${name(facts.cssBundle)}">${icon === undefined ? "" : `\n<link rel="icon" href="${name(icon)}">`}
<script type="module" src="${name(script)}"></script>
</head>
<body><div id="root"></div><noscript>The desks need JavaScript. <a href="/docs">The API</a> and <code>ctl</code> do not.</noscript></body>
</html>
`,
  );
  for (const file of readdirSync(folder).filter((one) => /\.(js|css|svg)$/.test(one))) {
    const bytes = readFileSync(join(folder, file));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes));
  }
}

/** The desks are built beside the platform when they are stale, with the lowest priority: nothing waits for them. */
export function buildWebAside() {
  if (isFresh("web")) return;
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "web"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  child.once("spawn", () => setPriority(child.pid, 19));
  child.once("error", (error) => console.error(`the desks could not be built: ${error.message}`));
  child.unref();
}

/** `watched` is everything that, when it has not been touched, needs no closer look. */
function writeManifest(name, { recipe, inputs }) {
  const watched = { ...inputs, ...Object.fromEntries(always.map((path) => [path, stamp(path)])) };
  const path = join(root, "dist", name, "manifest.json");
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, `${JSON.stringify({ recipe, inputs, watched }, null, 2)}\n`);
  renameSync(fresh, path);
}

/** Makes sure that the named bundle is there and up to date; returns the URL of its entry module. */
export async function ensureBundle(name) {
  const entry = bundles[name]?.[0];
  if (entry === undefined) throw new Error(`there is no bundle "${name}"; known: ${Object.keys(bundles).join(", ")}`);
  if (!isFresh(name)) {
    await build(name);
  } else if (name === "ctl") {
    // Touched and not changed: remembered, so that the next quick look is enough.
    writeManifest(name, JSON.parse(readFileSync(join(root, "dist", name, "manifest.json"), "utf8")));
  }
  return pathToFileURL(join(root, "dist", name, `${entry.split("/").at(-1)?.replace(/\.ts$/, ".js")}`)).href;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    const named = process.argv.slice(2);
    for (const name of named.length > 0 ? named : Object.keys(bundles)) {
      if (bundles[name] === undefined) throw new Error(`there is no bundle "${name}"`);
      await build(name);
      console.error(`built dist/${name}`);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
