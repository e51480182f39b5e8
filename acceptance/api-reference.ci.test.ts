// The described interface on a platform of its own: 2,000 requests of every operation, right and wrong, and every curl line of /docs as it stands. What only
// reads is asked on the shared platform (api-reference.test.ts).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curlLinesOf, isReading, runCurl, runCurls, wrongOf } from "../testkit/curl-lines.ts";
import { fuzzApi } from "../testkit/fuzz/api-fuzz.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
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

/** These would end the login of the lines after them, or every service: each has a login of its own that may not, or is the last of its kind. */
const disruptive =
  /\/v1\/(?:platform\/restart|auth\/logout|auth\/sessions\/revoke|auth\/signing-keys|githubbot\/install)/;

/** GitHub signs the bytes that it sends, so that no example can be right; edges/gateway/githubbot has its tests. */
const signed = /\/githubbot\/webhook'/;

describe("26: the API as it is described", { timeout: 280_000 }, () => {
  test("every curl line of /docs runs, and is answered as a right request", async () => {
    const token = await logIn("duty");
    for (const url of [operatorUrl(platform), publicUrl]) {
      const response = await fetchOnNewConnection(`${url}/docs`);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self'/);
      const page = await response.text();
      expect(page).not.toMatch(/<script|\son\w+=/);
      const document = (await (await fetchOnNewConnection(`${url}/v1/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { servers?: unknown }>>;
      };
      const described = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).filter(({ servers }) => servers === undefined),
      );
      const lines = curlLinesOf(page);
      expect(lines).toHaveLength(described.length);
      const usual = lines.filter((line) => !disruptive.test(line) && !signed.test(line));
      const outcomes = [...(await runCurls(usual, token))];
      for (const line of lines.filter((one) => disruptive.test(one)))
        outcomes.push(await runCurl(line, await logIn("viewer")));
      expect(wrongOf(outcomes)).toEqual([]);
      const reads = outcomes.filter(({ line, status }) => isReading(line) && status !== 200);
      // Reading is answered wherever an example names what is there.
      expect(reads.filter(({ status }) => status !== 404 && status !== 503)).toEqual([]);
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
