// The described interface on a running platform: 2,000 requests of every operation, right and wrong, and every curl line of /docs and README as it stands.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fuzzApi } from "../testkit/fuzz/api-fuzz.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { type Platform, startPlatform } from "../testkit/platform.ts";

let platform: Platform;
let publicUrl = "";

beforeAll(async () => {
  // Strangers ask more here than one address may.
  platform = startPlatform({ environment: { PORTCULLIS_PUBLIC_RATE_PER_S: "200", PORTCULLIS_PUBLIC_BURST: "400" } });
  await platform.ready();
  publicUrl = `http://${platform.runFile().addresses["gateway.public"]}`;
}, 120_000);

afterAll(async () => {
  await platform?.end();
}, 60_000);

const logIn = async (name: string): Promise<string> => (await logInAs(platform, name)).access_token;

interface Ran {
  readonly line: string;
  readonly exit: number;
  readonly status: number;
  readonly body: string;
}

/** As a shell runs it, with what curl was answered. */
function run(line: string, token: string): Promise<Ran> {
  const script = `curl() { command curl -w '\\n%{http_code}' "$@"; }\n${line}`;
  const child = spawn("bash", ["-c", script], { env: { PATH: process.env["PATH"] ?? "", TOKEN: token } });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const [, body = "", status = "0"] = /^([\s\S]*)\n(\d{3})$/.exec(said) ?? [];
      resolve({ line, exit: code ?? -1, status: Number(status), body });
    });
  });
}

function curlLinesOf(page: string): readonly string[] {
  const blocks = [...page.matchAll(/<pre class="curl"><code>([^<]*)<\/code><\/pre>/g)].map(([, line = ""]) => line);
  return blocks.map((line) =>
    line.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
}

/** These would end the login of the lines after them, or every service: each has a login of its own that may not, or is the last of its kind. */
const disruptive = /\/v1\/(?:platform\/restart|auth\/logout|auth\/sessions\/revoke|auth\/signing-keys)/;

/** What an example may come to on a platform that has not what it names, asks for a second factor, or is still making what is asked for. */
const answered = [200, 201, 202, 403, 404, 409, 412, 422, 428, 429, 503];

describe("26: the API as it is described", { timeout: 280_000 }, () => {
  test("every curl line of /docs runs, and is answered as a right request", async () => {
    const token = await logIn("duty");
    for (const url of [operatorUrl(platform), publicUrl]) {
      const response = await fetch(`${url}/docs`);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self'/);
      const page = await response.text();
      expect(page).not.toMatch(/<script|\son\w+=/);
      const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { servers?: unknown }>>;
      };
      const described = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).filter(({ servers }) => servers === undefined),
      );
      const lines = curlLinesOf(page);
      expect(lines).toHaveLength(described.length);
      const usual = lines.filter((line) => !disruptive.test(line));
      const outcomes: Ran[] = [];
      const runs = async (): Promise<void> => {
        for (let line = usual.shift(); line !== undefined; line = usual.shift()) outcomes.push(await run(line, token));
      };
      await Promise.all(Array.from({ length: 6 }, runs));
      for (const line of lines.filter((one) => disruptive.test(one)))
        outcomes.push(await run(line, await logIn("viewer")));
      const wrong = outcomes.filter(
        ({ line, exit, status }) =>
          !answered.includes(status) || (exit !== 0 && !(exit === 28 && line.includes("--max-time"))),
      );
      expect(wrong).toEqual([]);
      const reads = outcomes.filter(({ line, status }) => !line.includes(" -X ") && status !== 200);
      // Reading is answered wherever an example names what is there.
      expect(reads.filter(({ status }) => status !== 404 && status !== 503)).toEqual([]);
    }
  });

  test("every curl line of README runs", async () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
    const token = await logIn("duty");
    const lines = readme
      .split("\n")
      .map((line) => line.replace(/^\$ /, "").trim())
      .filter((line) => /^curl /.test(line));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const here = line
        .replaceAll("http://127.0.0.1:8080", operatorUrl(platform))
        .replaceAll("http://127.0.0.1:8081", publicUrl);
      expect(await run(here, token)).toMatchObject({ exit: 0, status: 200 });
    }
  });

  test("2,000 requests of every operation find nothing that its description does not allow", async () => {
    const seed = 26;
    const result = await fuzzApi({ operatorUrl: operatorUrl(platform), publicUrl, logIn, requests: 2_000, seed });
    expect(result).toMatchObject({ seed, requests: 2_000, violations: [] });
    expect(result.operations_covered).toBe(result.operations);
    expect(result.operations).toBeGreaterThan(110);
  });
});
