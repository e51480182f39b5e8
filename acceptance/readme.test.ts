// The five minutes of README.md, run line by line as they stand there on a platform of their own: every line that README shows must be in what the command
// printed. Ids and figures differ from run to run, so they are compared by shape; whole numbers of one or two digits are compared exactly.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingIn, Shell, type Step, stepsOf } from "../testkit/console-blocks.ts";
import { availableLanguage, oneOrderOneHalt } from "../testkit/foreign/short-form.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
/** A list shows what comes of something else, so it is asked again until that has come: README says "within seconds". */
const waitMsMax = 30_000;
/** What README says of exit codes; every other command ends with 0. */
const exits: readonly (readonly [RegExp, number])[] = [
  [/^node examples\/check-order\.js/, 6],
  [/forged\.bundle --vkey/, 10],
];

let platform: Platform;
let shell: Shell;
const folder = temporaryFolder("readme");

beforeAll(async () => {
  for (const name of ["node_modules", "examples", "verifier"]) symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, "home"));
  // As it comes, stops of shares look once a minute; nobody waits for that here.
  const configuration = join(folder, "portcullis.yaml");
  writeFileSync(configuration, "synthetic_stop: { poll_interval_equities_s: 1 }\n");
  platform = startPlatform({ environment: { PORTCULLIS_CONFIG: configuration } });
  await platform.ready();
  shell = new Shell(folder, {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: join(folder, "home"),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
    PORTCULLIS_URL: operatorUrl(platform),
  });
}, 120_000);

afterAll(async () => {
  shell?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function outcomeOf({ command, shown }: Step): Promise<object> {
  const until = Date.now() + waitMsMax;
  for (;;) {
    const { exit, output } = await shell.run(command);
    const missing = missingIn(output, shown);
    if (missing.length === 0 || !command.includes(" list") || Date.now() > until)
      return { exit, missing, ...(missing.length === 0 ? {} : { output }) };
    await pause(200);
  }
}

describe("24.5: README", { timeout: 240_000 }, () => {
  test("shows what its five minutes print, line by line", async () => {
    const steps = stepsOf(readme);
    expect(steps.length).toBeGreaterThanOrEqual(14);
    for (const step of steps) {
      const exit = exits.find(([pattern]) => pattern.test(step.command))?.[1] ?? 0;
      expect([step.command, await outcomeOf(step)]).toEqual([step.command, { exit, missing: [] }]);
      if (exit !== 0) expect(readme).toContain(`(exit code ${exit})`);
    }
  });

  test("has the forger found at the entry that was changed", async () => {
    const { output } = await shell.run('node verifier/audit-verify.js forged.bundle --vkey "$KEY"');
    const sequence = Number(/at sequence (\d+)/.exec(output)?.[1]);
    // Two lines come before the first entry of a bundle.
    const entryAt = (name: string) => readFileSync(join(folder, name), "utf8").split("\n")[sequence + 2];
    expect(entryAt("audit.bundle")).toContain("The loss of the day");
    expect(entryAt("forged.bundle")).toContain("The gain of the day");
  });

  test("is compared line by line: another word, a missing figure or another small number is found", () => {
    const printed = "FUND_HALT   alpha  12:01  The loss is 231032.05 USD; the limit is 2 %.";
    expect(missingIn(printed, ["FUND_HALT alpha … The loss is 9.1 USD; the limit is 2 %."])).toEqual([]);
    for (const other of ["The loss is 9.1 USD; the limit is 3 %.", "The gain is 9.1 USD; the limit is 2 %."])
      expect(missingIn(printed, [`FUND_HALT alpha … ${other}`])).toHaveLength(1);
    expect(missingIn("", ["FUND_HALT"])).toEqual(["FUND_HALT"]);
  });
});

// On the same platform, because another one would cost more than this.
test("32.10: a desk of somebody else's trades a LIVE fund, and a halt waits for its cancellation", async () => {
  await oneOrderOneHalt(platform, folder, await availableLanguage());
}, 240_000);
