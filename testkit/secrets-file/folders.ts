// What the tests of the file store share: a temporary folder, real ports, and a log that remembers its lines.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileSecretsOptions, openFileSecrets } from "../../adapters/secrets-file/file-secrets.ts";
import type { KeySource } from "../../adapters/secrets-file/store-key.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Log } from "../../ports/log.ts";
import type { Secrets } from "../../ports/secrets.ts";

export interface RememberingLog extends Log {
  readonly lines: string[];
}

export function rememberingLog(): RememberingLog {
  const lines: string[] = [];
  const write = (message: string, fields?: unknown) => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const log: RememberingLog = { lines, debug: write, info: write, warn: write, error: write, with: () => log };
  return log;
}

export interface FileFixture {
  readonly folder: string;
  readonly options: FileSecretsOptions;
  readonly log: RememberingLog;
  open(changes?: Partial<FileSecretsOptions>): Promise<Secrets>;
  close(): Promise<void>;
}

export async function makeFileFixture(key?: KeySource): Promise<FileFixture> {
  const folder = await mkdtemp(join(tmpdir(), "portcullis-secrets-"));
  const log = rememberingLog();
  const options: FileSecretsOptions = {
    file: join(folder, "secrets.enc"),
    key: key ?? { kind: "key file", path: join(folder, "secrets.key") },
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log,
  };
  const opened: Secrets[] = [];
  return {
    folder,
    options,
    log,
    async open(changes = {}) {
      const secrets = await openFileSecrets({ ...options, ...changes });
      opened.push(secrets);
      return secrets;
    },
    async close() {
      for (const secrets of opened) await secrets.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
