// `<data dir>/run.json`: where everything is right now, for people, scripts and tests. Replaced atomically, removed at a clean stop.

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../contracts/src/parse-json.ts";

export interface RunFile {
  readonly pid: number;
  readonly started_at: string;
  readonly data_dir: string;
  readonly addresses: Readonly<Record<string, string>>;
  /** Under which addresses people reach the HTTP listeners: `gateway` and `gateway.public`. */
  readonly urls: Readonly<Record<string, string>>;
  readonly processes: Readonly<Record<string, number>>;
  readonly database: {
    readonly embedded: boolean;
    /** The folder of the unix socket, or the host name. */
    readonly host: string;
    readonly port: number;
    readonly name: string;
    readonly pid?: number;
  };
}

export function writeRunFile(dataFolder: string, content: RunFile): void {
  const path = join(dataFolder, "run.json");
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, path);
}

/** Where a part of the platform with that supervisor answers; undefined while that is not known, or when the file is of another start. */
export function addressInRunFile(dataFolder: string, supervisor: number, part: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(dataFolder, "run.json"), "utf8");
  } catch {
    // The platform has not said yet where it answers, or it has ended.
    return undefined;
  }
  const { pid, addresses } = parseJson(text) as RunFile;
  return pid === supervisor ? addresses[part] : undefined;
}

export function removeRunFile(dataFolder: string): void {
  rmSync(join(dataFolder, "run.json"), { force: true, recursive: true });
}
