// The suite that every place for submission files passes: ports/filing-files.ts.
import { expect, it } from "vitest";
import type { FilingFiles } from "../../ports/filing-files.ts";

export interface FilingFilesFixture {
  readonly files: FilingFiles;
  close(): Promise<void>;
}

const path = ["cat", "alpha", "2026-11-13", "events.ndjson"];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (found: Uint8Array): string => new TextDecoder().decode(found);

export function filingFilesConformance(name: string, open: () => Promise<FilingFilesFixture>): void {
  const withFiles = async (run: (files: FilingFiles) => Promise<void>) => {
    const { files, close } = await open();
    try {
      await run(files);
    } finally {
      await close();
    }
  };

  it(`submission files, ${name}: 1: what was appended is read as it was written`, () =>
    withFiles(async (files) => {
      expect(await files.size(path)).toBeUndefined();
      expect(await files.append(path, 0, bytes('{"a":"ü"}\n'))).toBe(true);
      await files.append(path, 11, bytes("{}\n"));
      expect(await files.size(path)).toBe(14);
      expect(text(await files.read(path, 0, 100))).toBe('{"a":"ü"}\n{}\n');
      expect(text(await files.read(path, 11, 2))).toBe("{}");
      expect(text(await files.read(path, 14, 10))).toBe("");
    }));

  it(`submission files, ${name}: 3: what was set aside has the other name, and no name is replaced`, () =>
    withFiles(async (files) => {
      const aside = [...path.slice(0, -1), "events.ndjson.changed-1"];
      expect(await files.setAside(path, "events.ndjson.changed-1")).toBe(false);
      await files.append(path, 0, bytes("one\n"));
      expect(await files.setAside(path, "events.ndjson.changed-1")).toBe(true);
      expect(await files.size(path)).toBeUndefined();
      await files.append(path, 0, bytes("two\n"));
      expect(await files.setAside(path, "events.ndjson.changed-1")).toBe(false);
      expect([text(await files.read(path, 0, 9)), text(await files.read(aside, 0, 9))]).toEqual(["two\n", "one\n"]);
    }));

  it(`submission files, ${name}: 2: nothing is appended at another length than the file's`, () =>
    withFiles(async (files) => {
      await files.append(path, 0, bytes("{}\n"));
      for (const at of [0, 2, 4]) {
        expect(await files.append(path, at, bytes("{}\n"))).toBe(false);
      }
      expect(await files.size(path)).toBe(3);
    }));
}
