// What is made once for a whole test run, by whichever worker needs it first, and kept beside the run's other files until its end. The workers are
// processes, so a file that only one of them can make says who does it; the others wait for what came of it, a failure included.
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../platform.ts";

/** Names the folder that testkit/global-setup.ts makes for this, and removes. */
export const runFolderVariable = "PORTCULLIS_TEST_RUN";

export function runFolder(): string {
  const folder = process.env[runFolderVariable];
  if (folder === undefined) throw new Error(`${runFolderVariable} is not set: this works in a test run only`);
  return folder;
}

type Outcome<Made> = { readonly made: Made } | { readonly failure: string };

/** What `make` resolves to must survive JSON. */
export async function onceInRun<Made>(
  name: string,
  make: () => Promise<Made>,
  folder: string = runFolder(),
): Promise<Made> {
  const result = join(folder, `${name}.json`);
  const taken = tryToTake(join(folder, `${name}.lock`));
  if (taken) writeWhole(result, JSON.stringify(await outcomeOf(make)));
  else await writtenBy(join(folder, `${name}.lock`), result, name);
  const outcome = JSON.parse(readFileSync(result, "utf8")) as Outcome<Made>;
  if ("failure" in outcome) throw new Error(`${name} could not be made for this run: ${outcome.failure}`);
  return outcome.made;
}

/** Whether this process is the one that makes it. */
export function tryToTake(lock: string): boolean {
  try {
    const file = openSync(lock, "wx");
    writeFileSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

async function outcomeOf<Made>(make: () => Promise<Made>): Promise<Outcome<Made>> {
  try {
    return { made: await make() };
  } catch (thrown) {
    return { failure: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
}

/** A reader sees all of it or nothing. */
export function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}

async function writtenBy(lock: string, result: string, name: string): Promise<void> {
  for (; !existsSync(result); await pause(50)) {
    // Between the file and the number in it is a moment.
    const maker = Number(readFileSync(lock, "utf8"));
    if (maker > 0 && !isAlive(maker) && !existsSync(result))
      throw new Error(`${name} could not be made for this run: process ${maker}, which was making it, has ended`);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The process that the run is: what belongs to the run ends with it. */
export function runPid(): number {
  return Number(readFileSync(join(runFolder(), "run.pid"), "utf8"));
}
