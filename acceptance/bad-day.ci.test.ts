// Every line of docs/bad-day.md, run as it stands there on a platform of its own, by two people: each ends with the exit code that the page names.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { developmentOperator, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/bad-day.md"), "utf8");
const lines = [...page.matchAll(/^\$ ctl (.*)$/gm)].map((match) => match[1] ?? "");
/** Every other line ends with 0. */
const exits: readonly (readonly [RegExp, number])[] = [
  [/^oms orders submit/, 6],
  [/--confirm STOP/, 3],
  [/^cmd resume --reason/, 8],
];
/** What each must print of what it is for. */
const prints: readonly (readonly [RegExp, RegExp])[] = [
  [/^riskengine rejections list/, /NOTIONAL_ABOVE_MAX/],
  [/^why /, /DENIED by static: NOTIONAL_ABOVE_MAX/],
  [/^cmd halt --dry-run/, /PAPER +alpha \(.*\): \d+ open orders?, \d+ positions?[\s\S]*Nothing was changed\./],
  [/^cmd halt --confirm HALT/, /THE WHOLE FIRM is halted/],
  [/^cmd resume --cosign/, /1 halt is lifted/],
  [/^operations audit show/, /order/],
  [/^logs riskengine/, /INFO|WARN|ERROR/],
  // A service that had nothing to complain about says nothing.
  [/^logs research/, /^/],
];

const folder = temporaryFolder("bad-day");
let platform: Platform;

beforeAll(async () => {
  mkdirSync(join(folder, "home"));
  platform = startPlatform();
  await platform.ready();
}, 180_000);
afterAll(async () => {
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Ended {
  readonly exit: number;
  readonly output: string;
}

function ctl(words: readonly string[]): Promise<Ended> {
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(folder, "home"),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
    PORTCULLIS_URL: operatorUrl(platform),
  };
  return new Promise((resolve) => {
    execFile(join(root, "node_modules/.bin/ctl"), [...words], { cwd: root, env: environment }, (error, out, err) => {
      resolve({ exit: error === null ? 0 : Number(error.code), output: `${out}${err}` });
    });
  });
}

/** As a shell splits it: quoted text is one word. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

function codeOf(line: string): string {
  const name = line.includes("--profile relief") ? "relief" : "duty";
  return new TOTP({ secret: developmentOperator(platform.dataFolder, name).totp_secret }).generate();
}

test("27.8: docs/bad-day.md, line by line", { timeout: 300_000 }, async () => {
  expect(lines.length).toBeGreaterThanOrEqual(20);
  expect(await ctl(["auth", "login", "--dev", "duty"])).toMatchObject({ exit: 0 });
  expect(await ctl(["auth", "login", "--dev", "relief", "--profile", "relief"])).toMatchObject({ exit: 0 });
  let request = "";
  for (const line of lines) {
    const typed = line.replace("123456", codeOf(line)).replace("REQUEST_ID", request);
    const { exit, output } = await ctl(wordsOf(typed));
    const expected = exits.find(([pattern]) => pattern.test(line))?.[1] ?? 0;
    expect([line, exit, exit === expected ? "" : output]).toEqual([line, expected, ""]);
    const wanted = prints.find(([pattern]) => pattern.test(line))?.[1] ?? /./;
    expect([line, output]).toEqual([line, expect.stringMatching(wanted)]);
    if (expected !== 0) expect(page).toContain(`(exit code ${expected})`);
    request = /^Request +(\S+)$/m.exec(output)?.[1] ?? request;
  }
});
