// Which Node runs the platform's parts: the one that `npm install` brought, so that every installation runs the version that was tested and
// measured, whatever the machine has. Where npm has none for this machine, or it does not run here, the parts run on the Node that runs this.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";

/** A program that does not answer in this time is not the one we want; it takes 50 ms. */
const answerMsMax = 10_000;

/** The path of a program; asked for once per process, because it is tried first. That it does not run is reported, because then services run on what was not tested here. */
export function findNodeRuntime(
  log: Pick<Log, "warn">,
  own: string = process.execPath,
  find: () => string | undefined = broughtNode,
): string {
  const brought = find();
  if (brought === undefined || brought === own) return own;
  const tried = spawnSync(brought, ["--version"], { stdio: "ignore", timeout: answerMsMax });
  if (tried.status === 0) return brought;
  const why = tried.error === undefined ? `it ended with ${tried.status ?? tried.signal}` : messageOf(tried.error);
  log.warn("the Node that npm brought does not run here, so services run on this one", { brought, own, why });
  return own;
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
