// Reads what is kept in `<data dir>/logs`, and the database server's own log beside it, which is masked here because the server does not mask it.
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as instant from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { LoggedService } from "../../contracts/src/platform-services.ts";
import type { KeptLine, KeptLogs, LinesWanted, LogLevelName } from "../../ports/kept-logs.ts";
import type { Timers } from "../../ports/timers.ts";
import { filesMax, logPath } from "./kept-log.ts";
import { redactText } from "./log-redaction.ts";

const logLevelNames: readonly LogLevelName[] = ["debug", "info", "warn", "error"];
export const pollMs = 500;
const quietMs = 10_000;
/** Read at once from a file that has grown. */
const chunkBytesMax = 1_048_576;

export function readKeptLogs(dataFolder: string, timers: Timers): KeptLogs {
  return {
    async read(wanted) {
      const paths = pathsOf(dataFolder, wanted.service);
      const found: KeptLine[][] = [];
      let count = 0;
      let isKept = false;
      // The newest file first, and no further than needed.
      for (const path of paths) {
        const text = await textOf(path);
        if (text === undefined) continue;
        isKept = true;
        const lines = linesOf(text, wanted);
        found.unshift(lines);
        count += lines.length;
        if (count >= wanted.countMax) break;
      }
      return isKept ? found.flat().slice(-wanted.countMax) : undefined;
    },
    follow: (wanted, signal) => follow(dataFolder, wanted, timers, signal),
  };
}

function pathsOf(dataFolder: string, service: LoggedService): readonly string[] {
  if (service === "postgres") return [join(dataFolder, "postgres.log"), join(dataFolder, "postgres.log.1")];
  return Array.from({ length: filesMax }, (_, age) => logPath(dataFolder, service, age));
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

type Filter = Pick<LinesWanted, "service" | "level" | "since">;

function linesOf(text: string, wanted: Filter): KeptLine[] {
  return text.split("\n").flatMap((line) => {
    const read = line === "" ? undefined : lineOf(line, wanted.service);
    return read !== undefined && isWanted(read, wanted) ? [read] : [];
  });
}

function isWanted({ level, at }: KeptLine, wanted: Filter): boolean {
  if (wanted.level !== undefined && rankOf(level) < rankOf(wanted.level)) return false;
  if (wanted.since === undefined) return true;
  const when = instant.tryParse(at);
  return when !== undefined && when >= wanted.since;
}

const rankOf = (level: string): number => {
  const rank = logLevelNames.indexOf(level as LogLevelName);
  return rank < 0 ? logLevelNames.length : rank;
};

function lineOf(line: string, service: LoggedService): KeptLine | undefined {
  if (service === "postgres") return serverLine(line);
  try {
    const { time, level, message, service: named, ...fields } = parseJson(line) as Record<string, unknown>;
    const texts = { at: String(time ?? ""), level: String(level ?? "info"), message: String(message ?? "") };
    return { ...texts, service: typeof named === "string" ? named : service, ...without(fields, "at") };
  } catch {
    // Half a line: the process died while it wrote, or is writing it.
    return undefined;
  }
}

function without(fields: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const { [name]: taken, ...rest } = fields;
  return taken === undefined ? rest : { ...rest, [`${name}_`]: taken };
}

/** 2026-11-17 18:54:17.680 UTC [123] LOG:  database system is ready */
const serverForm =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})? (?:UTC|GMT) (?:\[\d+\] )?(.*?) ?\b([A-Z]+\d?): {1,2}(.*)$/;
const serverLevels: Readonly<Record<string, LogLevelName>> = {
  WARNING: "warn",
  ERROR: "error",
  FATAL: "error",
  PANIC: "error",
};

function serverLine(line: string): KeptLine {
  const [, day, time, fraction = ".0", application = "", word = "", rest = ""] = serverForm.exec(line) ?? [];
  if (day === undefined) return { at: "", level: "info", service: "postgres", message: redactText(line) };
  const at = `${day}T${time}${fraction.padEnd(7, "0")}Z`;
  const level = word.startsWith("DEBUG") ? "debug" : (serverLevels[word] ?? "info");
  const named = application === "" ? {} : { application };
  return { at, level, service: "postgres", ...named, message: redactText(rest) };
}

/** A file that is read on. While it is open no other file can have its inode, so that two names are the same file when they have the same. */
interface OpenFile {
  readonly file: FileHandle;
  readonly inode: number;
  offset: number;
}

async function* follow(
  dataFolder: string,
  wanted: Omit<Filter, "since">,
  timers: Timers,
  signal: AbortSignal,
): AsyncGenerator<readonly KeptLine[]> {
  const paths = pathsOf(dataFolder, wanted.service);
  let current = await openEnd(paths[0] ?? "");
  let quiet = 0;
  try {
    while (!signal.aborted) {
      const lines = current === undefined ? [] : await readOn(current, wanted);
      const newer = await openedSince(paths, current?.inode);
      // Renamed meanwhile: what was still written to it comes first, then what was begun after it.
      if (newer.length > 0 && current !== undefined) lines.push(...(await readOn(current, wanted)));
      for (const next of newer) {
        await current?.file.close();
        current = next;
        lines.push(...(await readOn(next, wanted)));
      }
      quiet = lines.length > 0 ? 0 : quiet + pollMs;
      if (lines.length > 0 || quiet >= quietMs) {
        quiet = 0;
        yield lines;
      }
      await timers.sleep(pollMs, signal);
    }
  } finally {
    await current?.file.close();
  }
}

/** The files that were begun after that one, the oldest first; all of them when it is gone, none when it is the newest. */
async function openedSince(paths: readonly string[], inode: number | undefined): Promise<readonly OpenFile[]> {
  const opened: OpenFile[] = [];
  // The newest first: what is renamed meanwhile is met twice, and never missed.
  for (const path of paths) {
    const next = await openFile(path);
    if (next === undefined) continue;
    if (next.inode === inode) {
      await next.file.close();
      break;
    }
    if (opened.some((one) => one.inode === next.inode)) await next.file.close();
    else opened.push(next);
  }
  return opened.reverse();
}

async function openEnd(path: string): Promise<OpenFile | undefined> {
  const opened = await openFile(path);
  if (opened !== undefined) opened.offset = (await opened.file.stat()).size;
  return opened;
}

async function openFile(path: string): Promise<OpenFile | undefined> {
  try {
    const file = await open(path, "r");
    return { file, inode: (await file.stat()).ino, offset: 0 };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Whole lines only: the rest is read with what follows it. A file that was cut is read from its beginning. */
async function readOn(opened: OpenFile, wanted: Filter): Promise<KeptLine[]> {
  const { file } = opened;
  if ((await file.stat()).size < opened.offset) opened.offset = 0;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytesMax), 0, chunkBytesMax, opened.offset);
  const whole = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
  opened.offset += whole;
  return linesOf(buffer.subarray(0, whole).toString("utf8"), wanted);
}
