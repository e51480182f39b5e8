// Every verb of the specification's table on a running platform: as a table, as CSV and as JSON, the last equal to the API's own answer; what ctl says
// and exits with when the server is down, the token is wrong, the caller may not, or the fund is halted; danger verbs without a terminal, and
// `--dry-run` of each, which leaves nothing on record.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../adapters/system/clock.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { type RunResult, runFake } from "../testkit/ctl/fakes.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const folder = temporaryFolder("ctl-table");
let platform: Platform;
let token = "";

beforeAll(async () => {
  for (const name of ["duty", "viewer"]) mkdirSync(join(folder, name), { recursive: true });
  platform = startPlatform();
  await platform.ready();
  for (const name of ["duty", "viewer"]) {
    expect((await ctl(`auth login --dev ${name}`, {}, name)).exit, name).toBe(0);
  }
  token = (await logInAs(platform, "duty")).access_token;
}, 180_000);
afterAll(async () => {
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function ctl(line: string, environment: Readonly<Record<string, string>> = {}, who = "duty"): Promise<RunResult> {
  return runFake(
    line.split(" ").map((word) => word.replaceAll("_", " ")),
    {
      environment: {
        XDG_CONFIG_HOME: join(folder, who),
        PORTCULLIS_DATA_DIR: platform.dataFolder,
        PORTCULLIS_URL: operatorUrl(platform),
        ...environment,
      },
      clock: systemClock(),
      timers: systemTimers(),
      folder,
    },
  );
}

async function api(path: string): Promise<unknown> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status, path).toBe(200);
  return answer.json();
}

/** Prices and values move: what did not change while ctl asked is what it must have been answered. */
async function comparable(path: string, line: string): Promise<{ readonly ctl: unknown; readonly api: unknown }> {
  for (let tries = 0; ; tries += 1) {
    const before = await api(path);
    const { exit, stdout } = await ctl(`${line} --json`);
    expect(exit, line).toBe(0);
    const after = await api(path);
    if (JSON.stringify(before) === JSON.stringify(after) || tries >= 100)
      return { ctl: JSON.parse(stdout), api: after };
  }
}

/** A position says beside what the API has whether its fund is PAPER or LIVE, which is shown everywhere. */
function withoutMode(rows: unknown): unknown {
  return (rows as readonly { readonly mode?: string }[]).map(({ mode, ...row }) => {
    expect(["PAPER", "LIVE"]).toContain(mode);
    return row;
  });
}

/** The verbs of the table that list, with where the API has the same. */
const lists: readonly (readonly [string, string])[] = [
  ["treasury funds list", "/v1/treasury/funds"],
  ["oms positions list --fund-id alpha", "/v1/oms/positions?fund_id=alpha"],
  ["ls", "/v1/oms/positions"],
  ["research strategies list", "/v1/research/strategies"],
  ["riskengine rejections list --fund-id alpha --hours 1", "/v1/riskengine/rejections?fund_id=alpha&hours=1"],
  ["riskengine halts list", "/v1/halts"],
  ["operations watchdog status", "/v1/operations/watchdogs"],
  ["operations alarms list --hours 1", "/v1/operations/alarms?hours=1"],
];

describe("27: the specification's verbs that list", () => {
  it.each(lists)("%s is a table, CSV, and the API's own answer", { timeout: 120_000 }, async (line, path) => {
    const compared = await comparable(path, line);
    const isPositions = path.startsWith("/v1/oms/positions");
    expect(isPositions ? withoutMode(compared.ctl) : compared.ctl).toEqual(compared.api);
    const rows = compared.api as readonly object[];
    const csv = await ctl(`${line} --format csv`);
    expect(csv.exit).toBe(0);
    if (rows.length > 0) expect(csv.stdout.split("\n")[0]).toMatch(/^[a-z_]+(,[a-z_0-9]+)+$/);
    const table = await ctl(line);
    expect([table.exit, table.stdout.trim() === ""]).toEqual([0, false]);
  });
});

describe("27: the specification's verbs that show one thing", () => {
  it.each([
    ["auth whoami", "/v1/auth/identity", ["actor", "name", "roles"]],
    ["riskengine envelope show --fund-id alpha", "/v1/riskengine/envelopes/alpha", undefined],
    ["operations audit verify --from-sequence 0", undefined, undefined],
    ["operations audit tail", undefined, undefined],
    ["operations audit show --subject-id alpha", undefined, undefined],
    ["operations watchdog config --watchdog vpin", undefined, undefined],
    ["logs riskengine --count 5", undefined, undefined],
  ] as const)("%s", { timeout: 120_000 }, async (line, path, members) => {
    const shown = await ctl(line);
    expect([shown.exit, shown.stdout.trim() === ""], shown.stderr).toEqual([0, false]);
    const json = await ctl(`${line} --json`);
    expect(json.exit, json.stderr).toBe(0);
    // Lines that follow each other are one JSON text each.
    const texts = line.startsWith("logs") ? json.stdout.trim().split("\n") : [json.stdout];
    const parsed = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    if (path === undefined) return;
    const own = (await api(path)) as Record<string, unknown>;
    const names = members ?? Object.keys(own);
    for (const name of names) expect(parsed[0]?.[name], name).toEqual(own[name]);
  });

  it("riskengine reconcile and envelope set change what they say", { timeout: 60_000 }, async () => {
    expect((await ctl("riskengine reconcile --fund-id alpha --force --json")).exit).toBe(0);
    const set = await ctl(
      "riskengine envelope set --fund-id alpha --max-position-pct 0.06 --daily-loss-halt-pct 0.02 --reason tighter --json",
    );
    expect(set.exit, set.stderr).toBe(0);
    expect(((await api("/v1/riskengine/envelopes/alpha")) as { max_position_pct: number }).max_position_pct).toBe(0.06);
  });
});

describe("27: when it does not work", () => {
  it.each([
    ["the server is down", { PORTCULLIS_URL: "http://127.0.0.1:9", PORTCULLIS_TOKEN: "pcs_1_x" }, 9, /127\.0\.0\.1:9/],
    ["the token is wrong", { PORTCULLIS_TOKEN: "pcs_wrong_wrong" }, 4, /PORTCULLIS_TOKEN|log in|token/i],
  ])("%s: every list says so and exits so", { timeout: 60_000 }, async (_what, environment, exit, words) => {
    for (const [line] of lists) {
      const ended = await ctl(line, environment);
      expect([ended.exit, ended.stdout], line).toEqual([exit, ""]);
      expect(ended.stderr, line).toMatch(words);
    }
  });

  it("a viewer learns that they may not, by exit 5", { timeout: 60_000 }, async () => {
    for (const line of [
      "cmd halt alpha --confirm HALT --reason x",
      "cmd cancel-all --confirm CANCEL --reason x",
      "cmd flatten-paper --confirm FLATTEN --reason x",
      "riskengine envelope set --fund-id alpha --max-position-pct 0.05 --reason x",
    ]) {
      const ended = await ctl(line, {}, "viewer");
      expect([ended.exit, ended.stdout], line).toEqual([5, ""]);
      expect(ended.stderr, line).toMatch(/operator|risk_officer|role/);
    }
  });

  it("a halted fund refuses an order by exit 6 and names the halt", { timeout: 60_000 }, async () => {
    expect((await ctl("cmd halt beta --confirm HALT --reason a_test")).exit).toBe(0);
    const order = await ctl(
      "oms orders submit --fund-id beta --strategy-id beta-trend --symbol BTC-USD --side BUY --quantity 0.01",
    );
    expect(order.exit, order.stderr).toBe(6);
    expect(`${order.stdout}${order.stderr}`).toMatch(/halt/i);
    expect((await ctl("riskengine halts list")).stdout).toMatch(/CANCELLED (yes|NOT YET)/);
  });
});

describe("27: danger verbs", () => {
  const worded = ["cmd halt alpha", "cmd cancel-all", "cmd flatten-paper", "cmd resume beta"];
  /** Restarting asks for no word: it stops nothing that is not begun again. */
  const verbs = [...worded, "cmd restart-all"];
  const attempts = async (): Promise<number> => {
    const { size } = (await api("/v1/operations/audit/status")) as { readonly size: number };
    let count = 0;
    for (let from = 0; from < size; from += 1_000) {
      const page = (await api(`/v1/operations/audit/entries?from_sequence=${from}&count_max=1000`)) as {
        readonly texts: readonly string[];
      };
      count += page.texts.filter((text) => text.includes('"actor":"operator:duty"')).length;
    }
    return count;
  };

  it("--dry-run of each says what it would hit, changes nothing and leaves no entry of that operator", {
    timeout: 120_000,
  }, async () => {
    const before = await attempts();
    for (const verb of verbs) {
      const ended = await ctl(`${verb} --dry-run`);
      expect([ended.exit, ended.stdout.trim() === ""], `${verb}: ${ended.stderr}`).toEqual([0, false]);
    }
    expect(await attempts()).toBe(before);
    expect(await ctl("riskengine halts list --id alpha")).toMatchObject({ stdout: expect.stringContaining("No halt") });
  });

  it("without a terminal and without their word none of them does anything", { timeout: 60_000 }, async () => {
    for (const verb of worded) {
      const ended = await ctl(`${verb} --reason x`);
      expect([2, 3], `${verb}: ${ended.stderr}`).toContain(ended.exit);
      expect(ended.stderr, verb).toMatch(/--confirm|typ/i);
    }
    expect(await ctl("riskengine halts list --id alpha")).toMatchObject({ stdout: expect.stringContaining("No halt") });
  });
});
