// Submission files in a folder: the port's promises, and what only a disk has.
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type FilingFilesFixture, filingFilesConformance } from "../../testkit/conformance/filing-files.ts";
import { memoryFilingFiles } from "../../testkit/memory/filing-files.ts";

import { filingFolder } from "./filing-files.ts";

const line = new TextEncoder().encode("{}\n");
const folders: string[] = [];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "filings-"));
  folders.push(folder);
  return folder;
}

async function open(): Promise<FilingFilesFixture> {
  const folder = await newFolder();
  return { files: filingFolder(join(folder, "filings")), close: async () => undefined };
}

filingFilesConformance("a folder", open);
filingFilesConformance("memory", async () => ({ files: memoryFilingFiles(), close: async () => undefined }));

describe("a folder of submission files", () => {
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  it("3: is made with the first line, for its owner alone, and so are its files", async () => {
    const root = join(await newFolder(), "filings");
    const files = filingFolder(root);
    expect(await files.size(["cat", "alpha", "2026-11-13", "events.ndjson"])).toBeUndefined();
    await expect(stat(root)).rejects.toMatchObject({ code: "ENOENT" });
    await files.append(["cat", "alpha", "2026-11-13", "events.ndjson"], 0, line);
    for (const folder of [root, join(root, "cat"), join(root, "cat/alpha"), join(root, "cat/alpha/2026-11-13")]) {
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
    }
    expect((await stat(join(root, "cat/alpha/2026-11-13/events.ndjson"))).mode & 0o777).toBe(0o600);
  });

  it("takes no name that leads out of it", async () => {
    const folder = await newFolder();
    const files = filingFolder(join(folder, "filings"));
    for (const name of ["..", "a/b", "", ".x", "a..b", "a b"]) {
      await expect(files.append([name, "events.ndjson"], 0, line)).rejects.toThrow("is no path");
    }
    expect(await readdir(folder)).toEqual([]);
  });
});
