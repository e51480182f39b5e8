// A small program for tests that must kill, or must be, a whole process: it takes a data folder, optionally starts the
// private server on it, says so in one line of JSON, and leaves when its input ends.

import { describeBinaries } from "../../adapters/postgres/embedded/binaries.ts";
import { startEmbeddedPostgres } from "../../adapters/postgres/embedded/server.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { openDataFolder } from "../../adapters/system/data-folder.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";

export interface ChildOrder {
  readonly dataFolder: string;
  readonly database: boolean;
  /** The package with the server's programs, when it is not npm's. */
  readonly binariesFolder?: string;
}

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function inputEnd(): Promise<void> {
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
}

async function main(order: ChildOrder): Promise<void> {
  const random = systemRandom();
  const folder = await openDataFolder(order.dataFolder, { clock: systemClock(), random });
  try {
    if (!order.database) {
      say({ ready: true });
      await inputEnd();
      return;
    }
    const { path: dataFolder, runtimeFolder } = folder;
    const binaries =
      order.binariesFolder === undefined ? {} : { binaries: await describeBinaries(order.binariesFolder) };
    const server = await startEmbeddedPostgres({
      dataFolder,
      runtimeFolder,
      log: silent,
      timers: systemTimers(),
      random,
      ...binaries,
    });
    const { address, pid, places, userName } = server;
    say({ ready: true, address, pid, places, userName });
    await inputEnd();
    await server.stop();
  } finally {
    await folder.release();
  }
}

try {
  await main(JSON.parse(process.argv[2] ?? "{}") as ChildOrder);
} catch (error) {
  say({ ready: false, code: error instanceof Fault ? error.code : "none", message: messageOf(error) });
  process.exitCode = 1;
}
