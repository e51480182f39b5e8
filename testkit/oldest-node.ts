// The oldest Node that the README promises (package.json, engines): fetched once from npm into the project's cache, and held against the hashes that
// npm's registry had when it was pinned here.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const oldestVersion = "20.19.0";
const cacheFolder = join(import.meta.dirname, "..", ".cache");

/** Of the package `node-linux-<arch>`, as package-lock.json would pin it. */
const integrity: Readonly<Record<string, string>> = {
  x64: "sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==",
  arm64: "sha512-kT7jX7frbsrMrXMsBaFt3Th1SWs5VjxTzd0U8vxcmdCFkaqeu5hFK0+QoYfIo5drmr3DmwJfLtO2gnD/7hNE/Q==",
};

/** The path of its program. */
export async function oldestNode(): Promise<string> {
  const folder = join(cacheFolder, `node-${oldestVersion}-${process.arch}`);
  const program = join(folder, "bin", "node");
  if (existsSync(program)) return program;
  const expected = integrity[process.arch];
  if (expected === undefined) throw new Error(`npm has no Node ${oldestVersion} for ${process.arch}`);
  await mkdir(cacheFolder, { recursive: true });
  const fetched = await mkdtemp(join(cacheFolder, "node-"));
  try {
    await run("npm", ["pack", "--silent", `node-linux-${process.arch}@${oldestVersion}`], { cwd: fetched });
    const archive = join(fetched, `node-linux-${process.arch}-${oldestVersion}.tgz`);
    const found = `sha512-${createHash("sha512")
      .update(await readFile(archive))
      .digest("base64")}`;
    if (found !== expected)
      throw new Error(`node-linux-${process.arch}@${oldestVersion} is not what was pinned: ${found}`);
    await run("tar", ["-xzf", archive, "-C", fetched]);
    // Another worker may have been faster; what it put there is the same.
    await rename(join(fetched, "package"), folder).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(program)) throw error;
    });
  } finally {
    await rm(fetched, { recursive: true, force: true });
  }
  return program;
}
