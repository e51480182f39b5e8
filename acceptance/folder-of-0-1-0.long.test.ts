// A data folder of 0.1.0 starts under today's program and loses nothing: halts, positions, the approval that was sent, people, keys and the audit log.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OldFolder, unpackOldFolder } from "../testkit/folder-0.1.0/unpack.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
let platform: Platform;
let old: OldFolder;

interface Limits {
  readonly max_position_pct: string;
}

interface Replayed {
  readonly replayed: number;
  readonly changed: number;
}

async function ctl(...words: string[]): Promise<unknown> {
  const environment = {
    ...process.env,
    PORTCULLIS_URL: operatorUrl(platform),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
    XDG_CONFIG_HOME: join(platform.dataFolder, "config"),
  };
  const { stdout } = await run(process.execPath, [join(root, "edges/ctl/bin/ctl.js"), ...words, "--json"], {
    env: environment,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  const folder = join(temporaryFolder("old"), "data");
  old = unpackOldFolder(folder);
  // Without its strategies, which would trade on before they were looked at.
  const services = "riskengine,operations,treasury,oms,gateway";
  platform = startPlatform({ dataFolder: folder, environment: { PORTCULLIS_SERVICES: services } });
  await platform.ready();
  await ctl("auth", "login", "--dev", "duty");
}, 600_000);

afterAll(() => platform.end());

describe("a data folder of 0.1.0", () => {
  test("is held as it was: what a fund holds, what is halted, what is reserved", async () => {
    const holds = [];
    for (const fund of ["alpha", "beta", "gamma"]) {
      holds.push(...((await ctl("oms", "positions", "list", "--fund-id", fund)) as OldFolder["positions"]));
    }
    const named = holds.map(({ fund_id, strategy_id, symbol, quantity }) => ({
      fund_id,
      strategy_id,
      symbol,
      quantity,
    }));
    expect(named).toEqual(old.positions);
    expect(await ctl("riskengine", "halts", "list")).toEqual(
      expect.arrayContaining(old.halts.map((halt) => expect.objectContaining(halt))),
    );
    expect(await ctl("riskengine", "approvals", "list")).toContainEqual(expect.objectContaining(old.approval));
  });

  test("has its decisions, which replay as they were decided", async () => {
    const hours = Math.ceil((Date.now() - Date.parse("2026-11-01")) / 3_600_000);
    let replayed = 0;
    for (const fund of ["alpha", "beta", "gamma"]) {
      // A limit must be named; this one is as it is.
      const { max_position_pct: same } = (await ctl("riskengine", "envelope", "show", "--fund-id", fund)) as Limits;
      const words = ["--fund-id", fund, "--hours", String(hours), "--max-position-pct", same];
      const found = (await ctl("riskengine", "envelope", "replay", ...words)) as Replayed;
      expect([fund, found.changed]).toEqual([fund, 0]);
      replayed += found.replayed;
    }
    expect(replayed).toBeGreaterThan(20);
  });

  test("has its audit log, under the same keys, and it verifies from its first entry on", async () => {
    const status = (await ctl("operations", "audit", "status")) as OldFolder["audit"];
    expect(status.origin).toBe(old.audit.origin);
    expect(status.keys).toEqual(expect.arrayContaining([...old.audit.keys]));
    expect(status.size).toBeGreaterThan(old.audit.size);
    expect(await ctl("operations", "audit", "verify")).toMatchObject({ entry_count: expect.anything() });
  });
});
