// `<data dir>/run.json`: where everything is right now, for people, scripts and tests. Replaced atomically, removed at a clean stop.
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface RunFile {
  readonly pid: number;
  readonly started_at: string;
  readonly data_dir: string;
  readonly addresses: Readonly<Record<string, string>>;
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

export function removeRunFile(dataFolder: string): void {
  rmSync(join(dataFolder, "run.json"), { force: true, recursive: true });
}
