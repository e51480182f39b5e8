// Data folders of earlier programs start under today's: every order, fill, token, limit and value is there as it was, the funds trade on, and `ctl doctor` names
// what has to be said anew.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOfSocket } from "../adapters/postgres/connection.ts";
import { ownerRoleName } from "../adapters/postgres/embedded/cluster.ts";
import { type KeptRows, keptRows, keptRowsIn, keptTables } from "../testkit/folder-0.1.0/kept-rows.ts";
import { unpackFolder } from "../testkit/folder-0.1.0/unpack.ts";
import { operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
/** Until prices and values are there, on a machine that has much else to do. */
const waitMsMax = 300_000;

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

/** What each had, and what `ctl doctor` says of it. The second was written a day before funds named whose values count and tokens their funds. */
const earlier = [
  {
    of: "0.1.0",
    packed: "folder-0.1.0",
    doctor: { machines: /order-management/, values: /alpha by treasury/ },
    halts: 2,
  },
  {
    of: "the program before orders, values and tokens had owners",
    packed: "folder-before-owners",
    doctor: { machines: /every fund: .*acme-oms/, values: /alpha by treasury.*harbor by order-management/ },
    halts: 0,
  },
];

describe.each(earlier)("a data folder of $of", ({ packed, doctor, halts }) => {
  const place = temporaryFolder("earlier");
  const folder = join(place, "data");
  let before: KeptRows;
  let platform: Platform;

  beforeAll(async () => {
    unpackFolder(packed, folder);
    before = await keptRowsIn(folder);
    // Without its strategies, which would trade on before they were looked at.
    const services = "riskengine,operations,treasury,oms,gateway";
    platform = startPlatform({ dataFolder: folder, environment: { PORTCULLIS_SERVICES: services } });
    await platform.ready();
    await ctl("auth", "login", "--dev", "duty");
  }, 600_000);

  afterAll(async () => {
    await platform?.end();
    rmSync(place, { recursive: true, force: true });
  });

  async function ctl<Answer>(...words: string[]): Promise<Answer> {
    const env = {
      ...process.env,
      PORTCULLIS_URL: operatorUrl(platform),
      PORTCULLIS_DATA_DIR: platform.dataFolder,
      XDG_CONFIG_HOME: join(platform.dataFolder, "config"),
    };
    const program = join(root, "edges/ctl/bin/ctl.js");
    const options = { env, maxBuffer: 64 * 1_024 * 1_024 };
    // What is refused, or fails a check, is answered all the same.
    const { stdout } = await run(process.execPath, [program, ...words, "--json"], options).catch(
      (thrown: { readonly stdout?: string; readonly stderr?: string }) => {
        if (thrown.stdout === undefined || thrown.stdout === "") throw new Error(thrown.stderr);
        return { stdout: thrown.stdout };
      },
    );
    return JSON.parse(stdout) as Answer;
  }

  test.each(keptTables.map((table) => [table]))("keeps every row of %s", async (table) => {
    const { host, port } = platform.runFile().database;
    const now = new Set((await keptRows(addressOfSocket(host, port, ownerRoleName).owner))[table]);
    expect(before[table].length).toBeGreaterThan(table === "halt" ? halts - 1 : 0);
    expect(before[table].filter((row) => !now.has(row))).toEqual([]);
  });

  test("trades on", async () => {
    const named = ["--fund-id", "alpha", "--strategy-id", "alpha-momentum", "--symbol", "AAPL", "--side", "BUY"];
    interface Status {
      readonly order: { readonly order_id: string };
      readonly state: string;
      readonly code?: string;
    }
    let last: Status | undefined;
    const isTaken = async (): Promise<boolean> => {
      last = await ctl<Status>("oms", "orders", "submit", ...named, "--quantity", "1");
      return last.state !== "REJECTED";
    };
    await eventually("an order passes", isTaken, waitMsMax).catch((thrown: unknown) => {
      throw new Error(`${String(thrown)} ${last?.code}`);
    });
    const id = last?.order.order_id ?? "";
    const isFilled = async () => (await ctl<Status>("oms", "orders", "show", id)).state === "FILLED";
    await eventually("it is filled", isFilled, waitMsMax);
  }, 700_000);

  test("and `ctl doctor` names what has to be said anew", async () => {
    const { checks } = await ctl<{ readonly checks: readonly Check[] }>("doctor");
    expect(checks.filter(({ state }) => state === "fail")).toEqual([]);
    for (const [name, told] of Object.entries(doctor)) {
      expect(checks.find((check) => check.name === name)?.detail, name).toMatch(told);
    }
  });
});
