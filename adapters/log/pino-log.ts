// The log: one line of JSON per event on standard output (what a container runtime collects), or a readable line on a
// terminal. Writing is synchronous, so a process that dies at the next instruction has said everything before it. The log
// never throws and never ends the process: a line that cannot be written is counted, and the count is logged when writing
// works again.
import { writeSync } from "node:fs";
import { pino } from "pino";
import { messageOf } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log, LogFields } from "../../ports/log.ts";
import { systemClock } from "../system/clock.ts";
import { narrowBounds, type Plain, plainFields, wideBounds } from "./log-fields.ts";
import { prettyLine } from "./log-pretty.ts";
import { redactText } from "./log-redaction.ts";

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof logLevels)[number];
type SpokenLevel = Exclude<LogLevel, "silent">;

/** Where finished lines go; each comes with its line break. */
export interface LogDestination {
  write(line: string): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Readable lines instead of JSON. */
  readonly pretty: boolean;
  readonly destination?: LogDestination;
  /** Colours in readable lines; default no. */
  readonly colour?: boolean;
  readonly clock?: Clock;
  /** Where every line goes as JSON besides. */
  readonly kept?: LogDestination;
}

/** No line is longer: a longer one is cut to its essentials and says so. */
export const lineCharsMax = 16_384;
const messageCharsMax = 2_000;

/** Names that every line has; a field of the same name gets a trailing underscore. */
const lineNames = new Set(["level", "time", "message", "truncated"]);

export function createLog(options: LogOptions): Log {
  const clock = options.clock ?? systemClock();
  const destination = options.destination ?? fileDescriptorDestination(1);
  const shown: LogDestination = options.pretty ? prettyDestination(destination, options.colour ?? false) : destination;
  const lines = options.kept === undefined ? shown : both(options.kept, shown);
  const writer = pino(
    {
      level: options.level,
      base: null,
      // The fields arrive plain and bounded: pino shall neither rework errors nor cut depth a second time.
      serializers: { err: (value: unknown) => value },
      depthLimit: 64,
      edgeLimit: 1_000,
      messageKey: "message",
      timestamp: () => `,"time":"${instant.format(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  );

  function speak(level: SpokenLevel, message: string, bound: LogFields, fields: LogFields | undefined): void {
    if (!writer.isLevelEnabled(level)) return;
    try {
      const sentence = cut(redactText(String(message)));
      writer[level](boundedFields({ ...bound, ...fields }, sentence), sentence);
    } catch (thrown) {
      // Whatever went wrong here must not reach the caller, who only wanted to tell something.
      lines.write(
        `${JSON.stringify({ level: "error", message: "A log line was lost.", reason: messageOf(thrown) })}\n`,
      );
    }
  }

  function logWith(bound: LogFields): Log {
    return {
      debug: (message, fields) => speak("debug", message, bound, fields),
      info: (message, fields) => speak("info", message, bound, fields),
      warn: (message, fields) => speak("warn", message, bound, fields),
      error: (message, fields) => speak("error", message, bound, fields),
      with: (fields) => logWith({ ...bound, ...fields }),
    };
  }

  return logWith({});
}

function cut(message: string): string {
  return message.length <= messageCharsMax ? message : `${message.slice(0, messageCharsMax)}…`;
}

/** The fields in full when they fit in a line, else their outline, else only the word that there were some. */
function boundedFields(fields: LogFields, sentence: string): Record<string, Plain> {
  // What is left beside the message and the level, time and braces of a line.
  const room = lineCharsMax - JSON.stringify(sentence).length - 200;
  const full = renamed(plainFields(fields, wideBounds));
  if (JSON.stringify(full).length <= room) return full;
  const outline = { ...renamed(plainFields(fields, narrowBounds)), truncated: true };
  if (JSON.stringify(outline).length <= room) return outline;
  return { truncated: true };
}

function renamed(fields: Record<string, Plain>): Record<string, Plain> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [lineNames.has(name) ? `${name}_` : name, value]),
  );
}

function both(one: LogDestination, other: LogDestination): LogDestination {
  return {
    write(line) {
      one.write(line);
      other.write(line);
    },
  };
}

function prettyDestination(destination: LogDestination, colour: boolean): LogDestination {
  return { write: (line) => destination.write(prettyLine(line, colour)) };
}

/** A reader that stopped reading may hold a line back for this long before it is given up. */
const stuckMsMax = 1_000;
const retryMs = 5;

/** Writes each line to a file descriptor before it returns. */
export function fileDescriptorDestination(
  fileDescriptor: number,
  write: (fileDescriptor: number, bytes: Uint8Array) => number = (target, bytes) => writeSync(target, bytes),
): LogDestination {
  let lostCount = 0;

  function writeWhole(line: string): boolean {
    let rest: Uint8Array = Buffer.from(line, "utf8");
    let waitedMs = 0;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(write(fileDescriptor, rest));
      } catch (thrown) {
        const full = thrown instanceof Error && "code" in thrown && thrown.code === "EAGAIN";
        if (!full || waitedMs >= stuckMsMax) return false;
        // The pipe is full. Waiting here is on purpose: the next line would have to wait as well.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
        waitedMs += retryMs;
      }
    }
    return true;
  }

  return {
    write(line) {
      if (!writeWhole(line)) {
        lostCount += 1;
        return;
      }
      if (lostCount === 0) return;
      const confession = JSON.stringify({ level: "warn", message: "Log lines were lost.", lost_count: lostCount });
      if (writeWhole(`${confession}\n`)) lostCount = 0;
    },
  };
}
