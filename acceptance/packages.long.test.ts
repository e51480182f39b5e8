// 24.9: what `npm pack` gives is installed in an empty folder without a network, as on the machine of somebody who has no repository, and used.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeServer, startFakeServer } from "../testkit/ctl/fakes.ts";
import { temporaryFolder } from "../testkit/platform.ts";

const root = join(import.meta.dirname, "..");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const folder = temporaryFolder("packages");
/** Without what a surrounding npm says about the folder that it runs in. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|PORTCULLIS_|XDG_)/i.test(name)),
);

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Packs a workspace and installs the archive in a folder of its own that has nothing else; returns that folder. */
function installed(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  const npm = (cwd: string, ...parameters: string[]) =>
    execFileSync("npm", parameters, { cwd, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  npm(root, "pack", "--workspace", `edges/${name}`, "--pack-destination", place);
  const archive = readdirSync(place).find((file) => file.endsWith(".tgz")) ?? "";
  expect(archive).toBe(`portcullis-${name}-0.1.0.tgz`);
  writeFileSync(join(place, "package.json"), '{ "name": "elsewhere", "private": true, "type": "module" }\n');
  npm(place, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${archive}`);
  expect(readdirSync(join(place, "node_modules")).filter((entry) => !entry.startsWith("."))).toEqual(["@portcullis"]);
  return place;
}

function run(
  place: string,
  file: string,
  parameters: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<{ exit: number; stdout: string; stderr: string }> {
  const env = { ...environment, HOME: place, XDG_CONFIG_HOME: join(place, "config"), ...more };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...parameters], { cwd: place, env }, (error, stdout, stderr) => {
      const exit = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ exit, stdout, stderr });
    });
  });
}

const halt = { severity: "FUND_HALT", fund_id: "alpha", reason: "A test.", requested_by: "operator:duty" };

describe("the client", () => {
  let place = "";
  const script = `import { ApiError, type AnswerOf, createClient } from "@portcullis/client";

const client = createClient({ baseUrl: process.argv[2] ?? "", token: "t" });
const halts: AnswerOf<"listHalts"> = await client.listHalts();
console.log(halts.map((halt) => halt.severity + " " + halt.fund_id).join());
try {
  await client.getOrder({ orderId: "o/1" });
} catch (error) {
  console.log(error instanceof ApiError ? error.code : "another error");
}
`;
  const typesFor = (text: string, ...options: string[]) => {
    writeFileSync(join(place, "script.ts"), text);
    const strict = ["--strict", "--target", "es2022", "script.ts", "console.d.ts", ...options];
    return run(place, compiler, strict);
  };

  beforeAll(() => {
    place = installed("client");
    // As little as a script needs that has neither Node's types nor a page.
    writeFileSync(join(place, "console.d.ts"), "declare const process: { argv: string[] };\n");
  }, 300_000);

  it.each([
    ["node", ["--module", "nodenext"]],
    ["bundlers", ["--module", "esnext", "--moduleResolution", "bundler"]],
  ])("has types for %s that accept a right script and refuse a wrong one", async (_who, how) => {
    const lib = ["--lib", "es2022,dom", "--noEmit", ...how];
    expect(await typesFor(script, ...lib)).toMatchObject({ exit: 0, stdout: "" });
    const wrong = await typesFor(script.replace("orderId:", "orderIdd:").replace("halt.fund_id", "halt.fund"), ...lib);
    expect(wrong.exit).not.toBe(0);
    expect(wrong.stdout).toMatch(/orderIdd/);
    expect(wrong.stdout).toMatch(/Property 'fund' does not exist/);
  });

  it("answers a script, and a bundle made for browsers", async () => {
    server.on("GET /v1/halts", { body: [halt] });
    const made = await typesFor(script, "--lib", "es2022,dom", "--module", "nodenext");
    expect(made).toMatchObject({ exit: 0 });
    const said = { exit: 0, stdout: "FUND_HALT alpha\nNOT_FOUND\n", stderr: "" };
    expect(await run(place, "script.js", [server.url])).toEqual(said);
    expect(server.calls("GET /v1/halts").at(-1)?.authorization).toBe("Bearer t");
    const options = { bundle: true, format: "esm", platform: "browser", target: "es2022" } as const;
    await build({ ...options, entryPoints: [join(place, "script.js")], outfile: join(place, "page.mjs") });
    expect(readFileSync(join(place, "page.mjs"), "utf8")).not.toMatch(/node:|require\(/);
    expect(await run(place, "page.mjs", [server.url])).toEqual(said);
  });

  it("carries the description of the interface, and neither sources nor tests", async () => {
    writeFileSync(
      join(place, "paths.js"),
      'import api from "@portcullis/client/openapi.json" with { type: "json" };\nconsole.log(Object.hasOwn(api.paths, "/v1/halts"));\n',
    );
    expect((await run(place, "paths.js", [])).stdout).toBe("true\n");
    const carried = readdirSync(join(place, "node_modules/@portcullis/client"), { recursive: true, encoding: "utf8" });
    expect(carried.filter((path) => /\.ts$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
  });
});

describe("ctl", () => {
  let place = "";
  const ctl = (line: string, more: Readonly<Record<string, string>> = {}) =>
    run(place, join(place, "node_modules/.bin/ctl"), line.split(" "), more);

  beforeAll(() => {
    place = installed("ctl");
  }, 300_000);

  it("says its version and its help, for every verb", async () => {
    expect(await ctl("--version")).toEqual({ exit: 0, stdout: "0.1.0\n", stderr: "" });
    const help = await ctl("help");
    expect(help).toMatchObject({ exit: 0, stderr: "" });
    expect(help.stdout).toContain("riskengine");
    expect((await ctl("help cmd halt")).stdout).toContain("ctl cmd halt");
    expect((await ctl("completion bash")).exit).toBe(0);
  });

  it("asks the server that it is told to ask", async () => {
    const second_factor = { enrolled_at: null, recovery_codes_left: 0, locked_until: null };
    const times = { issued_at: "2026-11-15T12:00:00.000000Z", expires_at: "2126-11-15T12:05:00.000000Z" };
    const who = { actor: "operator:duty", kind: "operator", name: "duty", roles: ["operator"] };
    const body = { ...who, ...times, issuer: "https://issuer.example", second_factor };
    server.on("GET /v1/auth/identity", { body });
    const answer = await ctl("auth whoami --json", { PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" });
    expect(answer, answer.stderr).toMatchObject({ exit: 0 });
    expect(JSON.parse(answer.stdout)).toMatchObject({ actor: "operator:duty" });
    expect(server.calls("GET /v1/auth/identity").at(-1)?.authorization).toBe("Bearer pcs_1_x");
  });

  it("exits 9 when nobody answers, and offers nothing that it cannot do", async () => {
    const nobody = { PORTCULLIS_URL: "http://127.0.0.1:1", PORTCULLIS_TOKEN: "pcs_1_x" };
    const answer = await ctl("riskengine halts list", nobody);
    expect(answer).toMatchObject({ exit: 9, stdout: "" });
    expect(answer.stderr).toContain("`ctl doctor` looks closer.");
    const doctor = await ctl("doctor", nobody);
    expect(doctor.stdout).toContain("ctl 0.1.0, installed without the platform");
    expect(answer.stderr + doctor.stdout + doctor.stderr).not.toContain("ctl up");
  });

  it.each(["up", "up --detach"])("%s says in one sentence what it lacks", async (line) => {
    const answer = await ctl(line);
    expect(answer).toMatchObject({ exit: 1, stdout: "" });
    expect(answer.stderr).toContain("This ctl is installed without the platform, which starts from its repository");
    expect(answer.stderr).not.toMatch(/ {4}at |ENOENT|Starting/);
  });
});
