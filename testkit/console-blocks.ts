// Pages of commands, run as they stand there: each line of a console block that begins with `$` is typed into one shell, and the lines below it must be
// among what it printed. Ids and figures differ from run to run, so they are compared by shape; whole numbers of one or two digits are compared exactly.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { pause } from "./platform.ts";

export interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

export interface Answer {
  readonly exit: number;
  readonly output: string;
}

export function stepsOf(text: string): readonly Step[] {
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
  return blocks
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((part) => part.trimEnd().split("\n"))
    .map(([command = "", ...shown]) => ({ command, shown }));
}

const plain = (line: string): string => line.trim().replaceAll(/\s+/g, " ");

/** The pattern of a line of README: `…` is anything, an id any id, a figure any figure. */
function patternOf(line: string): RegExp {
  const pattern = plain(line)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("…", ".*")
    .replaceAll(/[0-9a-f]{32}/g, "[0-9a-f]{32}")
    .replaceAll(/(?<![\w{[.-])(?:\d+\\\.\d+|\d{3,})(?![\w}])/g, "[\\d.]+");
  return new RegExp(`^${pattern}$`);
}

export function missingIn(output: string, shown: readonly string[]): readonly string[] {
  const lines = output.split("\n").map(plain);
  return shown.filter((line) => !lines.some((printed) => patternOf(line).test(printed)));
}

/** One shell for all lines, because one of them sets a variable for another. `npx` is the folder that it would look in, without npm's own second. */
export class Shell {
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #waitMsMax: number;
  #said = "";

  constructor(
    folder: string,
    environment: Readonly<Record<string, string>>,
    /** How long a command may take. */
    waitMsMax = 30_000,
  ) {
    this.#waitMsMax = waitMsMax;
    this.#bash = spawn("bash", ["--norc"], { cwd: folder, env: environment });
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#said += text;
      });
    }
    this.#bash.stdin.write('npx() { local name=$1; shift; "node_modules/.bin/$name" "$@"; }\nexec 2>&1\n');
  }

  async run(command: string): Promise<Answer> {
    this.#said = "";
    this.#bash.stdin.write(`${command}\nprintf '\\nended with %s\\n' $?\n`);
    const until = Date.now() + this.#waitMsMax;
    while (Date.now() < until) {
      const end = /\nended with (\d+)\n$/.exec(this.#said);
      if (end !== null) return { exit: Number(end[1]), output: this.#said.slice(0, end.index) };
      await pause(10);
    }
    throw new Error(`no end of ${command}:\n${this.#said}`);
  }

  end(): void {
    this.#bash.stdin.end();
    this.#bash.kill();
  }
}
