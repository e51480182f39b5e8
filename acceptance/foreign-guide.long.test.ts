// docs/foreign-systems.md, line by line: the platform is started with the settings that it names, its commands are typed as they stand there, its seed is
// that of examples/seed, and every event that it shows fits its schema. Java and Go are generated, not compiled.
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { subjectByName } from "../contracts/src/subjects.ts";
import { missingIn, Shell, stepsOf } from "../testkit/console-blocks.ts";
import { debianGrpc, debianPlugins } from "../testkit/debian-grpc.ts";
import { seedOf } from "../testkit/foreign/seed.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const guide = readFileSync(join(root, "docs", "foreign-systems.md"), "utf8");
const [first, ...steps] = stepsOf(guide);
const folder = temporaryFolder("foreign-guide");
const commandMsMax = 180_000;
let platform: Platform;
let shell: Shell;

/** The settings in front of `npm start`. */
function settingsOf(command: string): Readonly<Record<string, string>> {
  expect(command).toMatch(/ npm start$/);
  return Object.fromEntries([...command.matchAll(/(PORTCULLIS_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
}

beforeAll(async () => {
  const { environment, python } = await debianGrpc();
  const plugins = await debianPlugins();
  for (const name of ["node_modules", "examples", "contracts"]) symlinkSync(join(root, name), join(folder, name));
  for (const name of ["home", "bin"]) mkdirSync(join(folder, name));
  symlinkSync(python, join(folder, "bin", "python3"));
  platform = startPlatform({ dataFolder: join(folder, "data"), environment: settingsOf(first?.command ?? "") });
  await platform.ready();
  const path = [join(folder, "bin"), dirname(process.execPath), plugins, environment["PATH"] ?? ""].join(delimiter);
  shell = new Shell(
    folder,
    {
      ...environment,
      PATH: path,
      HOME: join(folder, "home"),
      GENERATED: join(folder, "generated"),
      PORTCULLIS_DATA_DIR: platform.dataFolder,
      PORTCULLIS_URL: operatorUrl(platform),
    },
    commandMsMax,
  );
}, 600_000);

afterAll(async () => {
  await shell?.run("kill $(cat venue.pid desk.pid) 2>/dev/null; true");
  shell?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

describe("32.10: the guide for systems of your own", { timeout: 1_200_000 }, () => {
  test("runs as it stands there", async () => {
    expect(steps.length).toBeGreaterThanOrEqual(25);
    for (const { command, shown } of steps) {
      let last: object = {};
      const expected = { command, exit: 0, missing: [] };
      for (let tries = 0; tries < (/ list| position|--books/.test(command) ? 30 : 1); tries += 1) {
        const { exit, output } = await shell.run(command);
        const missing = missingIn(output, shown);
        last = exit === 0 && missing.length === 0 ? expected : { command, exit, missing, output };
        if (last === expected) break;
        await pause(1_000);
      }
      expect(last).toEqual(expected);
    }
  });

  const blocks = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map((match) => ({
    value: JSON.parse(match[1] ?? "") as Record<string, unknown>,
    heading: /^#+ (.*)\n(?![\s\S]*^#+ )/m.exec(guide.slice(0, match.index))?.[1] ?? "",
  }));

  test("shows the seed that the examples use", () => {
    const seeds = blocks.slice(0, 4).map(({ value }) => value);
    expect(seeds).toEqual(["calendars", "instruments", "funds", "envelope"].map(seedOf));
  });

  test("shows events that fit their schemas", () => {
    const events = blocks.slice(4);
    expect(events.length).toBeGreaterThanOrEqual(3);
    for (const { value, heading } of events) {
      const subject = subjectByName(heading.replace(/\*$/, "updated"));
      expect([heading, subject?.schema.safeParse(value).error]).toEqual([heading, undefined]);
      expect(subject).toBeDefined();
    }
    const price = /`(\{"symbol":"AAPL".*?\})`/.exec(guide)?.[1] ?? "";
    expect(subjectByName("svc.v1.market.marks")?.schema.safeParse(JSON.parse(price)).error).toBeUndefined();
  });
});
