// The ground under the parts: the database is kept up, and closing works at every moment, also in the middle of a restart.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfiguration } from "../adapters/configuration/load-configuration.ts";
import { openClient } from "../adapters/postgres/connection.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { byFloor } from "../testkit/full-count.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { eventually, pause, processesMentioning, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { type Foundation, layFoundation } from "./foundation.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** With a database that is made: how one is made from nothing is server.test.ts's business. */
async function lay(): Promise<{ foundation: Foundation; folder: string }> {
  const folder = temporaryFolder("foundation");
  folders.push(folder);
  giveMadeDatabase(join(folder, "data"));
  const loaded = loadConfiguration({
    environment: { PORTCULLIS_DATA_DIR: join(folder, "data"), PORTCULLIS_DISK_RESERVE_MB: "0" },
    readFile: () => "",
  });
  if (!loaded.ok) throw new Error("the configuration is wrong");
  const ports = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log: quietLog };
  return { foundation: await layFoundation(loaded.configuration, ports), folder };
}

async function answers(foundation: Foundation): Promise<boolean> {
  const client = await openClient(foundation.database.app, { log: quietLog, applicationName: "test" }).catch(
    () => undefined,
  );
  await client?.end();
  return client !== undefined;
}

describe("the foundation", { timeout: 90_000 }, () => {
  test("starts the database again when it is killed, and says so", async () => {
    const { foundation, folder } = await lay();
    let restarts = 0;
    foundation.onRestart(() => {
      restarts += 1;
    });
    const pid = foundation.embedded()?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    await eventually("a new server answers", async () => restarts === 1 && (await answers(foundation)));
    expect(foundation.embedded()?.pid).not.toBe(pid);
    await foundation.close();
    expect(processesMentioning(folder)).toEqual([]);
  });

  test.each(byFloor({ first: [100], later: [0, 100, 400, 800] }))(
    "closes %i ms after the database was killed, and leaves nothing running",
    async (ms) => {
      const { foundation, folder } = await lay();
      process.kill(foundation.embedded()?.pid ?? 0, "SIGKILL");
      await pause(ms);
      await foundation.close();
      await eventually("nothing is left", () => processesMentioning(folder).length === 0);
    },
  );
});
