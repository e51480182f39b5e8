// What the gateway hands out for the desks: one page under a strict policy, files that may be kept for ever, and nothing from anywhere else.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http, { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchOnNewConnection } from "../../../testkit/http/fetch-on-new-connection.ts";
import { deskPages, policyOf } from "./desk-pages.ts";

let folder: string;
let server: Server;
let base: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-desk-pages-"));
  writeFileSync(join(folder, "web-ABCDEFGH.js"), "1");
  writeFileSync(join(folder, "web-ABCDEFGH.js.gz"), gzipSync("1"));
  writeFileSync(join(folder, "manifest.json"), "{}");
  const pages = deskPages({ folder, baseUrl: () => base, issuer: () => `${base}/oidc` });
  server = createServer((request, response) => void pages.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetchOnNewConnection(`${base}${path}`, { headers, redirect: "manual" });

describe("the desks' pages", () => {
  test("say that they are being built, and ask again, until they are there", async () => {
    const before = await get("/risk");
    expect([before.status, before.headers.get("refresh")]).toEqual([503, "2"]);
    writeFileSync(join(folder, "page.html"), "<p>desk");
    const after = await get("/risk?fund=alpha");
    expect([after.status, await after.text()]).toEqual([200, "<p>desk"]);
    expect(after.headers.get("cache-control")).toBe("no-store");
    expect(after.headers.get("content-security-policy")).toBe(policyOf(base, `${base}/oidc`));
  });

  test("have files that are kept for ever, packed for whoever takes that", async () => {
    const packed = await get("/assets/web-ABCDEFGH.js", { "accept-encoding": "gzip" });
    const unpacked = gunzipSync(await packed.arrayBuffer()).toString();
    expect([packed.headers.get("content-encoding"), unpacked]).toEqual(["gzip", "1"]);
    expect(packed.headers.get("cache-control")).toContain("immutable");
    const plain = await get("/assets/web-ABCDEFGH.js", { "accept-encoding": "identity" });
    expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "1"]);
  });

  test("lead nowhere else", async () => {
    for (const path of [
      "/assets/manifest.json",
      "/assets/..%2fpage.html",
      "/assets/page.html",
      "/assets/none-ABCDEFGH.js",
    ]) {
      expect((await get(path)).status, path).not.toBe(200);
    }
    expect((await fetchOnNewConnection(`${base}/risk`, { method: "POST" })).status).toBe(405);
  });

  test("allow no inline code and one other origin at most, that of the user's issuer", () => {
    const own = policyOf("https://desk.example", "https://desk.example/oidc");
    expect(own).not.toMatch(/unsafe|https:/);
    expect(policyOf("https://desk.example", "https://login.example/realm")).toContain(
      "connect-src 'self' https://login.example;",
    );
  });
});

test("people who type localhost are sent to the base URL", async () => {
  const { port } = new URL(base);
  const answer = await new Promise<string | undefined>((resolve, reject) => {
    const request = http.get(`${base}/risk?fund=a`, { headers: { host: `localhost:${port}` } }, (response) => {
      response.resume();
      resolve(response.headers.location);
    });
    request.once("error", reject);
  });
  expect(answer).toBe(`${base}/risk?fund=a`);
});
