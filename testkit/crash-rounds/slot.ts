// A place for one child process that is killed and started again: which incarnation runs, whether it has said that it is ready,
// and whether it ended without having been killed. Children end with this process, whatever ends it.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Order, Word } from "./order.ts";

export interface SlotOptions {
  readonly name: string;
  /** The bundled program. */
  readonly program: string;
  readonly logFolder: string;
  /** The order for an incarnation of this name. */
  readonly order: (incarnation: string) => Order;
  readonly heard?: (word: Word) => void;
}

export interface Slot {
  readonly name: string;
  running(): boolean;
  /** Runs, and has not been told to end. */
  alive(): boolean;
  /** The running incarnation has said that it can work. */
  ready(): boolean;
  start(): void;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks, and kills after a while. */
  stop(): Promise<void>;
  send(command: Command): void;
  /** One sentence when an incarnation ended by itself. */
  complaint(): string | undefined;
  /** The end of what the newest incarnation wrote to its log. */
  lastWords(): string;
}

const stopMsMax = 15_000;

export function createSlot(options: SlotOptions): Slot {
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let isReady = false;
  let expected = false;
  let complaint: string | undefined;
  let logPath: string | undefined;
  let count = 0;

  function start(): void {
    count += 1;
    const incarnation = `${options.name}.${count}`;
    logPath = join(options.logFolder, `${incarnation}.log`);
    const log = openSync(logPath, "a");
    // The kernel ends the child with us; a disconnected channel does the same where that cannot be asked for.
    const command = ["--pdeathsig", "KILL", process.execPath, options.program];
    const started = spawn("setpriv", [...command, JSON.stringify(options.order(incarnation))], {
      stdio: ["ignore", log, log, "ipc"],
    });
    closeSync(log);
    child = started;
    isReady = false;
    expected = false;
    started.on("message", (word: Word) => {
      if (word.type === "ready") isReady = true;
      options.heard?.(word);
    });
    exited = new Promise((resolve) => {
      const end = (why: string): void => {
        if (child === started) child = undefined;
        if (!expected) complaint ??= `${incarnation} ended by itself: ${why}`;
        resolve();
      };
      started.once("error", (error) => end(error.message));
      started.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
    });
  }

  async function kill(): Promise<void> {
    expected = true;
    child?.kill("SIGKILL");
    await exited;
  }

  /** A child that dies before it has read the command is started again by the test and told again. */
  function send(command: Command): void {
    if (child?.connected) child.send(command, () => undefined);
  }

  return {
    name: options.name,
    running: () => child !== undefined,
    alive: () => child !== undefined && !expected,
    ready: () => child !== undefined && !expected && isReady,
    start,
    kill,
    async stop() {
      expected = true;
      send("stop");
      const slow = setTimeout(() => child?.kill("SIGKILL"), stopMsMax);
      await exited;
      clearTimeout(slow);
    },
    send,
    complaint: () => complaint,
    lastWords: () => (logPath === undefined ? "" : readFileSync(logPath, "utf8").slice(-3_000)),
  };
}
