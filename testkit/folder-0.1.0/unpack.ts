// A data folder that release 0.1.0 wrote, packed after a clean stop: three paper funds that had traded for some minutes, two halts, an approval of a foreign
// order management that was sent, and an audit log. `expected.json` is what 0.1.0 itself said of it before it stopped.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

export interface OldFolder {
  readonly positions: readonly {
    readonly fund_id: string;
    readonly strategy_id: string;
    readonly symbol: string;
    readonly quantity: string;
  }[];
  readonly halts: readonly { readonly halt_id: string; readonly severity: string }[];
  readonly approval: Readonly<Record<string, string>>;
  readonly audit: { readonly origin: string; readonly keys: readonly string[]; readonly size: number };
}

/** Makes the folder at that place and gives what 0.1.0 said of it. */
export function unpackOldFolder(place: string): OldFolder {
  unpackFolder("folder-0.1.0", place);
  return JSON.parse(readFileSync(join(import.meta.dirname, "expected.json"), "utf8")) as OldFolder;
}

/** One of the packed folders of testkit, by the name of the folder that it lies in. */
export function unpackFolder(name: string, place: string): void {
  const packed = readFileSync(join(import.meta.dirname, "..", name, "folder.tar.br"));
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const archive = join(place, "folder.tar");
  writeFileSync(archive, brotliDecompressSync(packed));
  execFileSync("tar", ["-xpf", archive, "-C", place]);
  rmSync(archive);
}
