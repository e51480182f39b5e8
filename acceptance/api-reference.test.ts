// The described interface on a running platform: every curl line of README, and of /docs every one that reads, as it stands, and requests of every reading
// operation, right and wrong. What changes something is asked on a platform of its own (api-reference.ci.test.ts).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { curlLinesOf, isReading, runCurl, runCurls, wrongOf } from "../testkit/curl-lines.ts";
import { fuzzApi } from "../testkit/fuzz/api-fuzz.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import type { PersonKind } from "../testkit/shared/people.ts";
import { sharedPlatform } from "../testkit/shared/shared-platform.ts";

const shared = sharedPlatform({ funds: 0, people: ["duty", "viewer"] });
let publicUrl = "";

beforeAll(() => {
  publicUrl = `http://${shared.platform.runFile().addresses["gateway.public"]}`;
});

const logIn = async (kind: PersonKind): Promise<string> =>
  (await logInAs(shared.platform, shared.person(kind))).access_token;

describe("26: the API as it is described", { timeout: 280_000 }, () => {
  test("every curl line of /docs that reads runs, and is answered as a right request", async () => {
    const token = await logIn("duty");
    for (const url of [operatorUrl(shared.platform), publicUrl]) {
      const response = await fetchOnNewConnection(`${url}/docs`);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self'/);
      const page = await response.text();
      expect(page).not.toMatch(/<script|\son\w+=/);
      const lines = curlLinesOf(page).filter(isReading);
      expect(lines.length).toBeGreaterThan(5);
      const outcomes = await runCurls(lines, token);
      expect(wrongOf(outcomes)).toEqual([]);
      // Reading is answered wherever an example names what is there.
      expect(outcomes.filter(({ status }) => ![200, 404, 503].includes(status))).toEqual([]);
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
        .replaceAll("http://127.0.0.1:8080", operatorUrl(shared.platform))
        .replaceAll("http://127.0.0.1:8081", publicUrl);
      expect(await runCurl(here, token)).toMatchObject({ exit: 0, status: 200 });
    }
  });

  test("200 requests of every reading operation find nothing that its description does not allow", async () => {
    const urls = { operatorUrl: operatorUrl(shared.platform), publicUrl };
    const result = await fuzzApi({ ...urls, logIn: () => logIn("viewer"), requests: 200, seed: 26, readsOnly: true });
    expect(result).toMatchObject({ requests: 200, violations: [] });
    expect(result.operations_covered).toBe(result.operations);
    expect(result.operations).toBeGreaterThan(50);
  });
});
