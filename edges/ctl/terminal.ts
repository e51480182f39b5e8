// The two streams and the keyboard. stdout carries the answer and nothing else, stderr carries talk; a question is asked only where a
// person sits, and a reader that went away (`ctl … | head`) is no error.
import picocolors from "picocolors";
import { interrupted, usageRefusal } from "./failure.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export interface Terminal {
  /** For what draws on the terminal itself. */
  readonly streams: Streams;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  /** Of the terminal that shows the answer; undefined where a file or a program takes it. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined;
  /** For stderr. */
  readonly paint: Paint;
  /** For stdout. */
  readonly paintAnswer: Paint;
  write(text: string): void;
  say(line: string): void;
  /** Shows that something is still going on, in one line that the next one replaces; undefined takes it away. Only where a person sits. */
  progress(line: string | undefined): void;
  /** One line from a person; without a person a usage error that names what to add. */
  ask(question: string, insteadAdd: string, signal: AbortSignal): Promise<string>;
}

export type Paint = Pick<
  ReturnType<typeof picocolors.createColors>,
  "bold" | "dim" | "red" | "green" | "yellow" | "cyan"
>;

/** NO_COLOR wins over CLICOLOR_FORCE; without either, colour is for terminals that know it. */
export function wantsColour(environment: Environment, isTerminal: boolean): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  const forced = environment["CLICOLOR_FORCE"] ?? "";
  if (forced !== "" && forced !== "0") return true;
  return isTerminal && environment["TERM"] !== "dumb" && environment["CLICOLOR"] !== "0";
}

export function createTerminal(streams: Streams, environment: Environment): Terminal {
  const { stdin, stdout, stderr } = streams;
  const interactive = stdin.isTTY === true && stderr.isTTY === true;
  let progress = "";
  const showProgress = (line: string): void => {
    if (!interactive || line === progress) return;
    stderr.write(`\r\u001b[K${line}`);
    progress = line;
  };
  return {
    streams,
    interactive,
    get size() {
      return sizeOf(stdout);
    },
    paint: picocolors.createColors(wantsColour(environment, stderr.isTTY === true)),
    paintAnswer: picocolors.createColors(wantsColour(environment, stdout.isTTY === true)),
    write: (text) => {
      showProgress("");
      stdout.write(text);
    },
    say: (line) => {
      showProgress("");
      stderr.write(`${line}\n`);
    },
    progress: (line) => showProgress(line ?? ""),
    ask: async (question, insteadAdd, signal) => {
      showProgress("");
      if (!interactive) throw usageRefusal(`There is no terminal to ask on: add ${insteadAdd}.`);
      return askLine(streams, question, signal);
    },
  };
}

/** Of what is said beside the answer, where its lines are ours to break. */
export function widthOfTalk({ size }: Pick<Terminal, "size">): number {
  return size?.columns ?? 80;
}

/** Read each time: a window is resized while a list is watched. */
function sizeOf(stdout: NodeJS.WriteStream): Terminal["size"] {
  const { isTTY, columns, rows } = stdout;
  return isTTY === true && columns > 0 ? { columns, rows: rows > 0 ? rows : 24 } : undefined;
}

async function askLine({ stdin, stderr }: Streams, question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline");
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: stderr });
    let answered = false;
    const give = (line: string) => {
      answered = true;
      lines.close();
      resolve(line.trim());
    };
    // Ctrl-C reaches readline and not the process while a question stands; so does the end of the input.
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => {
      signal.removeEventListener("abort", stop);
      if (!answered) reject(interrupted());
    });
    const stop = () => lines.close();
    signal.addEventListener("abort", stop, { once: true });
    lines.question(question, give);
  });
}

/** A reader that hung up ends us quietly, whichever stream it read. */
export function leaveQuietlyOnClosedPipe(streams: Pick<Streams, "stdout" | "stderr">, leave: () => void): void {
  for (const stream of [streams.stdout, streams.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      leave();
    });
  }
}
