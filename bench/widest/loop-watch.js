// Loaded into every process of a platform under measurement (NODE_OPTIONS=--import): writes down each stretch for which the process's loop was kept from
// everybody else, by the processor time that it took, so that other programs on the machine count for nothing. Linux only.
import { appendFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const folder = process.env.LOOP_WATCH_FOLDER;
/** Of one service alone, where it is named: watching takes a part of a core from each. */
const watchedService = process.env.LOOP_WATCH_SERVICE;
const service = basename(process.argv[2] ?? "supervisor");
const everyMs = 1;
/** Shorter ones are of no interest. */
const writtenMsMin = 2;

if (folder !== undefined && (watchedService ?? service) === service) {
  const schedule = `/proc/self/task/${process.pid}/schedstat`;
  const takenMs = () => Number(readFileSync(schedule, "latin1").split(" ", 1)[0]) / 1e6;
  const file = join(folder, `${service}-${process.pid}`);
  let before = takenMs();
  setInterval(() => {
    const now = takenMs();
    const ms = now - before;
    if (ms >= writtenMsMin) appendFileSync(file, `${Date.now()} ${ms.toFixed(2)}\n`);
    before = ms >= writtenMsMin ? takenMs() : now;
  }, everyMs).unref();
}
