// Reads what is kept in `<data dir>/logs`, and the database server's own log beside it, which is masked here because the server does not mask it.
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as instant from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { LoggedService } from "../../contracts/src/platform-services.ts";
import type { KeptLine, KeptLogs, LinesWanted, LogLevelName } from "../../ports/kept-logs.ts";
import type { Timers } from "../../ports/timers.ts";
import { filesMax, logPath } from "./kept-log.ts";
import { redactText } from "./log-redaction.ts";

const logLevelNames: readonly LogLevelName[] = ["debug", "info", "warn", "error"];
const pollMs = 500;
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

interface Place {
  readonly inode: number;
  readonly offset: number;
}

async function* follow(
  dataFolder: string,
  wanted: Omit<Filter, "since">,
  timers: Timers,
  signal: AbortSignal,
): AsyncGenerator<readonly KeptLine[]> {
  const [path = "", ...older] = pathsOf(dataFolder, wanted.service);
  let place = await endOf(path);
  let quiet = 0;
  while (!signal.aborted) {
    const lines: KeptLine[] = [];
    const now = await endOf(path);
    if (now !== undefined && place !== undefined && now.inode !== place.inode) {
      // Renamed meanwhile: what was still written to it comes first.
      for (const old of older) {
        if ((await endOf(old))?.inode === place.inode) lines.push(...(await readOn(old, place, wanted)).lines);
      }
      place = { inode: now.inode, offset: 0 };
    }
    if (now !== undefined) {
      const from = place === undefined || place.offset > now.offset ? { inode: now.inode, offset: 0 } : place;
      const read = await readOn(path, from, wanted);
      lines.push(...read.lines);
      place = read.place;
    }
    quiet = lines.length > 0 ? 0 : quiet + pollMs;
    if (lines.length > 0 || quiet >= quietMs) {
      quiet = 0;
      yield lines;
    }
    await timers.sleep(pollMs, signal);
  }
}

async function endOf(path: string): Promise<Place | undefined> {
  try {
    const { ino, size } = await stat(path);
    return { inode: ino, offset: size };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Whole lines only: the rest is read with what follows it. */
async function readOn(
  path: string,
  place: Place,
  wanted: Filter,
): Promise<{ lines: readonly KeptLine[]; place: Place }> {
  const file = await open(path, "r");
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytesMax), 0, chunkBytesMax, place.offset);
    const whole = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
    const lines = linesOf(buffer.subarray(0, whole).toString("utf8"), wanted);
    return { lines, place: { ...place, offset: place.offset + whole } };
  } finally {
    await file.close();
  }
}
