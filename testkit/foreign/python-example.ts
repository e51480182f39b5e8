// The desk of examples/python beside a running platform: its processes, and its books and the venue's as they say themselves.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DebianGrpc } from "../debian-grpc.ts";
import { eventually, type Platform } from "../platform.ts";

const run = promisify(execFile);
const example = join(import.meta.dirname, "..", "..", "examples", "python");

export interface DeskBooks {
  readonly orders: Readonly<Record<string, number>>;
  readonly positions: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, number>>;
  readonly waiting: number;
  readonly refused: readonly string[];
}

export interface VenueBooks {
  readonly orders: Readonly<Record<string, number>>;
  readonly executions: number;
  readonly positions: Readonly<Record<string, string>>;
}

export interface PythonExample {
  /** Starts the desk with these further words; the one before must have ended. */
  start(...words: string[]): void;
  kill(): Promise<void>;
  /** Resolves with its exit code. */
  ended(): Promise<number | null>;
  said(): string;
  status(): Promise<DeskBooks>;
  venue(): Promise<VenueBooks>;
  /** Runs a line of Python on the desk's own database. */
  tamper(sql: string): Promise<void>;
  end(): Promise<void>;
}

/** Makes the code, starts the venue and waits until it listens. */
export async function openPythonExample(platform: Platform, folder: string, grpc: DebianGrpc): Promise<PythonExample> {
  const books = join(folder, "books");
  const generated = join(folder, "generated");
  mkdirSync(books, { recursive: true });
  const env = {
    ...grpc.environment,
    GENERATED: generated,
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  };
  await run("sh", [join(example, "generate.sh")], { env });
  let said = "";
  const launch = (words: readonly string[]): ChildProcess => {
    const child = spawn(grpc.python, words, { cwd: example, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    return child;
  };
  const venue = launch(["venue.py", "--folder", books]);
  await eventually("the venue listens", () => existsSync(join(books, "venue.sock")));
  let desk: ChildProcess | undefined;
  const isOver = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
  const killed = async (child: ChildProcess | undefined): Promise<void> => {
    if (child === undefined || isOver(child)) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  const ask = async <Answer>(...words: string[]): Promise<Answer> =>
    JSON.parse((await run(grpc.python, words, { cwd: example, env })).stdout) as Answer;
  return {
    start: (...words) => {
      desk = launch(["desk.py", "--folder", books, ...words]);
    },
    kill: () => killed(desk),
    ended: async () => {
      if (desk === undefined) throw new Error("the desk was never started");
      if (!isOver(desk)) await once(desk, "exit");
      return desk.exitCode;
    },
    said: () => said,
    status: () => ask<DeskBooks>("desk.py", "--folder", books, "--status"),
    venue: () => ask<VenueBooks>("venue.py", "--folder", books, "--books"),
    tamper: async (sql) => {
      const script =
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=30); db.execute(sys.argv[2]); db.commit()";
      await run(grpc.python, ["-c", script, join(books, "desk.db"), sql], { env });
    },
    end: async () => {
      await killed(desk);
      await killed(venue);
    },
  };
}
