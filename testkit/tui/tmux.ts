// A terminal that a test can type into and read: tmux with a server of its own, in which a shell runs. What the shell's programs write is kept byte by byte, beside
// what a person would see of it.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DebianProgram, environmentOf, findProgram } from "../debian-package.ts";
import { eventually } from "../platform.ts";

const run = promisify(execFile);

const tmuxProgram: DebianProgram = {
  packageName: "tmux",
  names: ["tmux"],
  binaryPath: "usr/bin/tmux",
  cacheName: "tmux",
  versionFlag: "-V",
};

export interface Pane {
  /** What stands there now, line by line, without the blanks at their ends. */
  lines(): Promise<readonly string[]>;
  /** The same with the codes for weight and inverse video. */
  painted(): Promise<string>;
  /** Keys by tmux's names: "Enter", "C-c", "NPage". */
  press(...keys: readonly string[]): Promise<void>;
  /** Letters, as fast as they come. */
  type(text: string): Promise<void>;
  /** Waits until what stands there is so; says what stands there when it does not come. */
  until(sentence: string, isSo: (lines: readonly string[]) => boolean, msMax?: number): Promise<readonly string[]>;
  resize(columns: number, rows: number): Promise<void>;
  /** Every byte that was written to the terminal. */
  output(): string;
  /** Whether the second screen is shown, and whether the cursor is. */
  state(): Promise<{ readonly alternate: boolean; readonly cursor: boolean }>;
  /** The process that the shell runs now. */
  runningPid(): Promise<number>;
}

export interface Tmux {
  pane(size: { readonly columns: number; readonly rows: number }, environment: Environment): Promise<Pane>;
  end(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

export async function startTmux(folder: string): Promise<Tmux> {
  const found = await findProgram(tmuxProgram);
  const socket = join(folder, "tmux");
  const tmux = (...words: readonly string[]) =>
    run(found.binary, ["-S", socket, "-f", "/dev/null", ...words], { env: environmentOf(found) });
  let count = 0;
  return {
    async pane({ columns, rows }, environment) {
      count += 1;
      const name = `pane-${count}`;
      const outputPath = join(folder, `${name}.out`);
      writeFileSync(outputPath, "");
      const given = { TERM: "screen", PS1: "$ ", LANG: "C.UTF-8", ...environment };
      const settings = Object.entries(given).map(([key, value]) => `${key}=${value}`);
      const size = ["-x", String(columns), "-y", String(rows)];
      await tmux("new-session", "-d", "-s", name, ...size, "env", "-i", ...settings, "sh", "-i");
      await tmux("pipe-pane", "-t", name, `cat >> ${outputPath}`);
      return paneOf(name, tmux, outputPath);
    },
    async end() {
      // Nothing runs when the last shell has left.
      await tmux("kill-server").catch(() => undefined);
    },
  };
}

function paneOf(
  name: string,
  tmux: (...words: readonly string[]) => Promise<{ readonly stdout: string }>,
  outputPath: string,
): Pane {
  const lines = async (): Promise<readonly string[]> => {
    const { stdout } = await tmux("capture-pane", "-p", "-t", name);
    return stdout.split("\n").map((line) => line.trimEnd());
  };
  return {
    lines,
    painted: async () => (await tmux("capture-pane", "-p", "-e", "-t", name)).stdout,
    press: async (...keys) => void (await tmux("send-keys", "-t", name, ...keys)),
    type: async (text) => void (await tmux("send-keys", "-l", "-t", name, text)),
    async until(sentence, isSo, msMax = 20_000) {
      let last: readonly string[] = [];
      const found = async (): Promise<boolean> => {
        last = await lines();
        return isSo(last);
      };
      await eventually(sentence, found, msMax).catch((cause: unknown) => {
        throw new Error(`${sentence}: what stood there was\n${last.join("\n")}`, { cause });
      });
      return last;
    },
    resize: async (columns, rows) =>
      void (await tmux("resize-window", "-t", name, "-x", String(columns), "-y", String(rows))),
    output: () => readFileSync(outputPath, "latin1"),
    async state() {
      const { stdout } = await tmux("display-message", "-p", "-t", name, "#{alternate_on} #{cursor_flag}");
      const [alternate, cursor] = stdout.trim().split(" ");
      return { alternate: alternate === "1", cursor: cursor === "1" };
    },
    async runningPid() {
      const { stdout } = await tmux("display-message", "-p", "-t", name, "#{pane_pid}");
      const shell = stdout.trim();
      const [child = ""] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").split(" ");
      if (child === "") throw new Error("the shell runs nothing");
      return Number(child);
    },
  };
}
