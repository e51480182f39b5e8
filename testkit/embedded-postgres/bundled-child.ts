// The child program of these tests as one JavaScript file: it is started often and as other users, and is not translated every time.
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

const root = join(import.meta.dirname, "..", "..");

/** Bundles the program when it is first asked for and gives its path. It lies where the packages that it looks for by name are found. */
export function bundledChild(entry: string): () => string {
  let path: string | undefined;
  return () => {
    path ??= bundle(entry);
    return path;
  };
}

function bundle(entry: string): string {
  const folder = join(root, "dist", "test-programs");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "embedded-child.js");
  const fresh = join(folder, `embedded-child-${process.pid}.js`);
  buildSync({
    entryPoints: [entry],
    outfile: fresh,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
    external: ["pg-native"],
    // CommonJS packages inside an ES module still ask for `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  // Another test process may be starting the one that is there.
  renameSync(fresh, path);
  return path;
}
