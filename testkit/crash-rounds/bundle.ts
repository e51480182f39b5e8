// Bundles the child program once per test file, so that a restarted child is up in a moment. The bundle lies inside the repository's
// cache folder, from where it finds the packages that are not bundled.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ownPrefix, removeAbandoned } from "../abandoned.ts";

const root = join(import.meta.dirname, "..", "..");

export interface Bundle {
  readonly program: string;
  remove(): void;
}

export async function bundleProgram(): Promise<Bundle> {
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  removeAbandoned(cache, "crash-rounds");
  const folder = mkdtempSync(join(cache, ownPrefix("crash-rounds")));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await build({
      entryPoints: [join(import.meta.dirname, "program.ts")],
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      splitting: true,
      logLevel: "warning",
      external: ["pg-native"],
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    });
    return { program: join(folder, "program.mjs"), remove };
  } catch (error) {
    remove();
    throw error;
  }
}
