// Processor time by the kernel's count (/proc, so Linux only): of a process with everything that it started and that has not yet ended, and of
// platforms under test, whose processes may outlive the one that started them.
import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** What every process of a platform under test has in its environment (testkit/platform.ts). */
const platformMark = "PLATFORM_UNDER_TEST=";

interface ProcessTime {
  readonly parent: number;
  /** With the children that it has waited for. */
  readonly seconds: number;
}

/** One line of /proc/<pid>/stat; the program's name may contain spaces and brackets, so fields are counted behind its last bracket. */
export function parseStat(line: string): ProcessTime {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const ticks = [11, 12, 13, 14].map((index) => Number(fields[index] ?? 0)).reduce((sum, one) => sum + one, 0);
  return { parent: Number(fields[1] ?? 0), seconds: ticks / ticksPerSecond };
}

function processTimes(): ReadonlyMap<number, ProcessTime> {
  const times = new Map<number, ProcessTime>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = readOrEmpty(`/proc/${name}/stat`);
    if (line !== "") times.set(Number(name), parseStat(line));
  }
  return times;
}

/** A process may end while we look. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function descendantsOf(root: number, times: ReadonlyMap<number, ProcessTime>): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of times) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const found = new Set<number>();
  for (const waiting = [root]; waiting.length > 0; ) {
    const pid = waiting.pop();
    if (pid === undefined || found.has(pid)) continue;
    found.add(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

export interface ProcessorMeter {
  /** Looks for processes whose parent is gone; what such a one used is counted up to the last look. */
  look(): void;
  /** Seconds since the meter was made. */
  seconds(): number;
}

/** Of this process and all that it starts; undefined where there is no /proc. */
export function processorMeter(platform: NodeJS.Platform = process.platform): ProcessorMeter | undefined {
  if (platform !== "linux") return undefined;
  const orphans = new Map<number, number>();
  const orphansBefore = new Map<number, number>();
  const count = (): number => {
    const times = processTimes();
    const ours = descendantsOf(process.pid, times);
    for (const [pid, { parent, seconds }] of times) {
      if (parent === 1 && !ours.has(pid) && isOurPlatform(pid)) orphans.set(pid, seconds);
    }
    const inTree = [...ours].reduce((sum, pid) => sum + (times.get(pid)?.seconds ?? 0), 0);
    const outside = [...orphans].reduce((sum, [pid, seconds]) => sum + seconds - (orphansBefore.get(pid) ?? 0), 0);
    return inTree + outside;
  };
  const before = count();
  for (const [pid, seconds] of orphans) orphansBefore.set(pid, seconds);
  return { look: () => void count(), seconds: () => Math.max(0, count() - before) };
}

/** Platforms carry their folder and the worker that started them in their mark. */
function isOurPlatform(pid: number): boolean {
  const environment = readOrEmpty(`/proc/${pid}/environ`);
  return environment.includes(platformMark) && environment.includes(`${workerMark}${process.pid}\0`);
}

/** Says in a platform's environment which test process started it. */
export const workerVariable = "STARTED_BY_TEST_PROCESS";
const workerMark = `${workerVariable}=`;
