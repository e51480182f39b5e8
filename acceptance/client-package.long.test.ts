// 26.7: the client as somebody installs it who has nothing else: packed, installed in an empty folder, used by a script of ten lines against a running
// platform, and the same bundle in a browser.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const folder = temporaryFolder("client-package");
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|PORTCULLIS_|XDG_)/i.test(name)),
);

const script = `import { createClient, createPublicClient } from "@portcullis/client";
const [operator, open, token] = globalThis.parameters ?? process.argv.slice(2);
const client = createClient({ baseUrl: operator, token });
const positions = await client.getPositions({ fundId: "alpha" });
const { bid } = await createPublicClient({ baseUrl: open }).getQuote({ symbol: "AAPL" });
const subjects = [];
for await (const event of client.events({ subjects: ["svc.v1.>"] })) {
  if (subjects.push(event.subject) === 5) break;
}
console.log(JSON.stringify({ positions: positions.length, bid, subjects }));
`;

let platform: Platform;
let parameters: readonly string[] = [];

beforeAll(async () => {
  const npm = (cwd: string, ...given: string[]) =>
    execFileSync("npm", given, { cwd, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const place = join(folder, "elsewhere");
  mkdirSync(place);
  npm(root, "pack", "--workspace", "edges/client", "--pack-destination", place);
  writeFileSync(join(place, "package.json"), '{ "name": "elsewhere", "private": true, "type": "module" }\n');
  const archive = readdirSync(place).find((file) => file.endsWith(".tgz")) ?? "";
  npm(place, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${archive}`);
  writeFileSync(join(place, "script.js"), script);
  platform = startPlatform({ funds: "as configured" });
  await platform.ready();
  const { access_token } = await logInAs(platform, "duty");
  parameters = [operatorUrl(platform), `http://${platform.runFile().addresses["gateway.public"]}`, access_token];
}, 300_000);

afterAll(async () => {
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function expectRead(line: string): void {
  const read = JSON.parse(line) as { positions: number; bid: string; subjects: readonly string[] };
  expect(read.positions).toBeGreaterThan(0);
  expect(Number(read.bid)).toBeGreaterThan(0);
  expect(read.subjects).toHaveLength(5);
  for (const subject of read.subjects) expect(subject).toMatch(/^svc\.v1\./);
}

describe("the client, installed", () => {
  test("reads positions, quotes and five events in a script of ten lines", async () => {
    expect(script.trim().split("\n").length).toBeLessThanOrEqual(10);
    const place = join(folder, "elsewhere");
    const said = await new Promise<string>((resolve, reject) => {
      execFile(
        process.execPath,
        ["script.js", ...parameters],
        { cwd: place, env: environment, timeout: 60_000 },
        (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
      );
    });
    expectRead(said);
  }, 120_000);

  test("does the same in a browser", async () => {
    const place = join(folder, "elsewhere");
    const page = join(place, "page.mjs");
    await build({
      bundle: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      entryPoints: [join(place, "script.js")],
      outfile: page,
    });
    const browser = await launchChromium();
    try {
      // The page below comes from no address, and a browser lets such a page reach this machine only when its person said so.
      const tab = await browser.newPage({ locale: "en-US", permissions: ["local-network-access"] });
      const [origin = ""] = parameters;
      // From the operators' own origin, which lets no foreign page in; the public port lets every page in.
      await tab.route(`${origin}/page.html`, (route) =>
        route.fulfill({ contentType: "text/html", body: "<!doctype html><script type=module src=/page.mjs></script>" }),
      );
      await tab.route(`${origin}/page.mjs`, (route) =>
        route.fulfill({ contentType: "text/javascript", body: readFileSync(page, "utf8") }),
      );
      await tab.addInitScript((given) => {
        (globalThis as { parameters?: unknown }).parameters = given;
      }, parameters);
      const failed: string[] = [];
      tab.on("pageerror", (error) => failed.push(String(error)));
      const said = tab.waitForEvent("console", {
        predicate: (message) => message.text().startsWith("{"),
        timeout: 60_000,
      });
      await tab.goto(`${origin}/page.html`);
      expectRead((await said).text());
      expect(failed).toEqual([]);
    } finally {
      await browser.close();
    }
  }, 180_000);
});
