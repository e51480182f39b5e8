// Which Node runs the platform's parts: the one that `npm install` brought, so that every installation runs the version that was tested and
// measured, whatever the machine has. Where npm has none for this machine, or it does not run here, the parts run on the Node that runs this.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A program that does not answer in this time is not the one we want; it takes 50 ms. */
const answerMsMax = 10_000;

/** The path of a program; asked for once per process, because it is tried first. */
export function findNodeRuntime(own: string = process.execPath, find: () => string | undefined = broughtNode): string {
  const brought = find();
  if (brought === undefined || brought === own) return own;
  const tried = spawnSync(brought, ["--version"], { stdio: "ignore", timeout: answerMsMax });
  return tried.status === 0 ? brought : own;
}

function broughtNode(): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    return join(dirname(resolve(`node-${process.platform}-${process.arch}/package.json`)), "bin", "node");
  } catch {
    // Not installed: npm leaves out what does not fit the machine.
    return undefined;
  }
}
