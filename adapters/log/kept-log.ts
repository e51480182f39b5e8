// Log lines kept in `<data dir>/logs`, beside standard output: one file per service, written by that service alone, so that its last words are there
// when it is killed. A file that is full is renamed and a new one begun; together they stay below `filesMax` times `bytesMax`. The lines are those of
// standard output: masked already. A disk that takes nothing costs lines here and nothing else.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LogDestination } from "./pino-log.ts";

export const bytesMax = 1_048_576;
export const filesMax = 5;

export function logPath(dataFolder: string, service: string, age = 0): string {
  return join(dataFolder, "logs", age === 0 ? `${service}.log` : `${service}.log.${age}`);
}

interface OpenFile {
  readonly descriptor: number;
  bytes: number;
}

export function keptLog(dataFolder: string, service: string, fileBytesMax = bytesMax): LogDestination {
  let file: OpenFile | undefined;
  let lost = 0;

  function open(): OpenFile {
    mkdirSync(join(dataFolder, "logs"), { recursive: true, mode: 0o700 });
    const descriptor = openSync(logPath(dataFolder, service), "a", 0o600);
    return { descriptor, bytes: fstatSync(descriptor).size };
  }

  function rotated({ descriptor }: OpenFile): OpenFile {
    closeSync(descriptor);
    for (let age = filesMax - 2; age >= 0; age -= 1) {
      try {
        renameSync(logPath(dataFolder, service, age), logPath(dataFolder, service, age + 1));
      } catch (thrown) {
        // There are not that many yet.
        if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
      }
    }
    return open();
  }

  function append(line: string): void {
    const bytes = Buffer.from(line, "utf8");
    file ??= open();
    if (file.bytes > 0 && file.bytes + bytes.length > fileBytesMax) {
      const full = file;
      file = undefined;
      file = rotated(full);
    }
    file.bytes += writeSync(file.descriptor, bytes);
  }

  return {
    write(line) {
      try {
        if (lost > 0) {
          const message = "Log lines could not be kept.";
          append(`${JSON.stringify({ level: "warn", service, lost, message })}\n`);
          lost = 0;
        }
        append(line);
      } catch {
        // Standard output has the line; the count is written when writing works again.
        lost += 1;
      }
    },
  };
}

const serviceField = /"service":"([a-z]+)"/;

/** For a process of several services: each line goes to the file of the service that it names, and to `usual` when it names none. */
export function keptLogs(dataFolder: string, names: readonly string[], usual: string): LogDestination {
  const files = new Map([...names, usual].map((name) => [name, keptLog(dataFolder, name)]));
  return {
    write(line) {
      const named = serviceField.exec(line)?.[1];
      (files.get(named ?? usual) ?? files.get(usual))?.write(line);
    },
  };
}

const heldMax = 200;

/** Holds the first lines back until it is known where they are kept: the data folder is nobody's before it is locked. */
export function lateKeptLog(): LogDestination & { keep(destination: LogDestination): void } {
  let held: string[] = [];
  let kept: LogDestination | undefined;
  return {
    write(line) {
      if (kept !== undefined) kept.write(line);
      else if (held.length < heldMax) held.push(line);
    },
    keep(destination) {
      kept = destination;
      for (const line of held) destination.write(line);
      held = [];
    },
  };
}
