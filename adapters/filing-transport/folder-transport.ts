// The way to a regulator by a folder that something else carries on, with the folders `transit`, `complete` and `feedback` in it.
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { FilingTransport } from "../../ports/filing-transport.ts";
import { isHarmlessName, listedMax, nameTaken, unreachable } from "./transport-faults.ts";

export function folderTransport({ folder }: { readonly folder: string }): FilingTransport {
  const [transit, complete, feedback] = ["transit", "complete", "feedback"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];

  async function put(name: string, content: Uint8Array): Promise<"SENT" | "THERE"> {
    const target = join(complete, name);
    const there = await readFile(target).catch(absent);
    if (there !== undefined) {
      if (there.equals(content)) return "THERE";
      throw nameTaken(name);
    }
    for (const place of [transit, complete]) await mkdir(place, { recursive: true, mode: 0o700 });
    const beside = join(transit, name);
    await rm(beside, { force: true });
    await write(beside, content);
    const { size } = await lstat(beside);
    if (size !== content.length) throw unreachable(`${beside} has ${size} bytes of ${content.length}`);
    await rename(beside, target);
    await syncFolder(complete);
    return "SENT";
  }

  return {
    async put({ name, content }) {
      if (!isHarmlessName(name)) throw new Defect(`${name} is no name of a submission file`);
      return told(`${name} could not be brought to ${folder}`, () => put(name, content));
    },
    feedback: () =>
      told(`${feedback} cannot be read`, async () => {
        const names = ((await readdir(feedback).catch(absent)) ?? []).filter(isHarmlessName).sort().slice(0, listedMax);
        const found = await Promise.all(
          names.map(async (name) => ({ name, stat: await lstat(join(feedback, name)).catch(absent) })),
        );
        return found.flatMap(({ name, stat }) => (stat?.isFile() === true ? [{ name, bytes: stat.size }] : []));
      }),
    async read(name, bytesMax) {
      if (!isHarmlessName(name)) throw unreachable(`${name} is no name of a feedback file`);
      return told(`${name} cannot be read`, () => readAtMost(join(feedback, name), bytesMax));
    },
    close: async () => undefined,
  };
}

async function write(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A link is not followed. */
async function readAtMost(path: string, bytesMax: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > bytesMax) throw unreachable(`it has ${size} bytes, more than ${bytesMax}`);
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw unreachable(what, thrown);
  }
}

function absent(thrown: unknown): undefined {
  if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
  throw thrown;
}
