// A platform that belongs to a test run and to no worker of it: it goes on when the worker that started it has ended, and it ends with the run, also when
// the run is killed. A shell stands between them, whose parent has gone, and looks once a second whether the run is still there.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  healthOf,
  pause,
  platformCommand,
  platformEnvironment,
  processesMentioning,
  type RunningPlatform,
  runFileIn,
  type StartOptions,
  startMsMax,
  upBanner,
} from "../platform.ts";
import { parseStat } from "../times/processor-time.ts";

/** $0 is the folder for what it says, $1 the process of the run; the rest is the command. */
const script = `
folder=$0; run=$1; shift
"$@" > "$folder/stdout" 2> "$folder/stderr" < /dev/null &
platform=$!
echo $platform > "$folder/pid"
while kill -0 "$run" 2> /dev/null && kill -0 $platform 2> /dev/null; do sleep 1; done
kill -TERM $platform 2> /dev/null
wait $platform
`;

const stopMsMax = 15_000;

/** Its data folder is `data` in the given folder, which is removed with it. */
export function launchDetached(options: Pick<StartOptions, "environment">, folder: string, runPid: number): void {
  const words = ["-c", 'sh -c "$@" &', "sh", script, folder, String(runPid), ...platformCommand({})];
  spawn("sh", words, {
    cwd: folder,
    env: platformEnvironment(options, join(folder, "data")),
    stdio: "ignore",
    detached: true,
  }).unref();
}

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** What it prints is read from here on. */
export function detachedAt(folder: string): RunningPlatform {
  const dataFolder = join(folder, "data");
  const [stdout, stderr] = [join(folder, "stdout"), join(folder, "stderr")];
  const before = { stdout: textOf(stdout).length, stderr: textOf(stderr).length };
  const runFile = () => runFileIn(dataFolder);
  return {
    dataFolder,
    stdout: () => textOf(stdout).slice(before.stdout),
    stderr: () => textOf(stderr).slice(before.stderr),
    runFile,
    health: (listener = "gateway") => healthOf(runFile, listener),
  };
}

/** Resolves when the banner was printed; rejects with everything printed. */
export async function detachedReady(folder: string): Promise<void> {
  const said = () => `${textOf(join(folder, "stdout"))}\n${textOf(join(folder, "stderr"))}`;
  let looksWithout = 0;
  for (const until = Date.now() + startMsMax; Date.now() < until; await pause(50)) {
    if (said().includes(upBanner)) return;
    // The shell needs a moment to begin.
    looksWithout = processesMentioning(folder).length === 0 ? looksWithout + 1 : 0;
    if (looksWithout > 40) throw new Error(`it ended before it was up:\n${said()}`);
  }
  throw new Error(`no banner within ${startMsMax / 1_000} s:\n${said()}`);
}

/** Ends all of it, removes its folder, and says how many seconds of processor it took. */
export async function endDetached(folder: string): Promise<number> {
  const processes = () => processesMentioning(folder);
  const seconds = processes().reduce((sum, pid) => sum + secondsOf(pid), 0);
  signal(Number(textOf(join(folder, "pid"))), "SIGTERM");
  for (const until = Date.now() + stopMsMax; processes().length > 0 && Date.now() < until; ) await pause(50);
  for (const pid of processes()) signal(pid, "SIGKILL");
  while (processes().length > 0) await pause(50);
  rmSync(folder, { recursive: true, force: true });
  return seconds;
}

function signal(pid: number, name: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

function secondsOf(pid: number): number {
  const line = textOf(`/proc/${pid}/stat`);
  return line === "" ? 0 : parseStat(line).seconds;
}
