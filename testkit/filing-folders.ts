// The three folders of a regulator's server, on disk: what a transport brings there is looked at, and what the regulator says is put there.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function filingFolders() {
  const root = await mkdtemp(join(tmpdir(), "portcullis-filing-"));
  for (const name of ["transit", "complete", "feedback"]) await mkdir(join(root, name));
  const put = (place: string) => (name: string, content: Uint8Array) => writeFile(join(root, place, name), content);
  const complete = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
    const names = await readdir(join(root, "complete"));
    const read = names.map(
      async (name) => [name, new Uint8Array(await readFile(join(root, "complete", name)))] as const,
    );
    return new Map(await Promise.all(read));
  };
  return {
    root,
    complete,
    putComplete: put("complete"),
    putTransit: put("transit"),
    putFeedback: put("feedback"),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
