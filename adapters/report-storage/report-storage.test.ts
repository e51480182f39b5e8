// Both storages under the suite of their port; then what is the bucket's own: its signature, its prefix, and answers that were lost.
import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, expect, it } from "vitest";
import { reportStorageConformance } from "../../testkit/conformance/report-storage.ts";
import { type S3Server, startS3Server } from "../../testkit/s3-server.ts";
import { systemTimers } from "../system/timers.ts";
import { folderStorage } from "./folder-storage.ts";
import { type S3StorageOptions, s3Storage } from "./s3-storage.ts";

const timers = systemTimers();
const patienceMs = 30_000;

reportStorageConformance("folder", async () => {
  const parent = await mkdtemp(join(tmpdir(), "portcullis-storage-"));
  const folder = join(parent, "reports");
  const storage = folderStorage({ folder });
  return {
    storage,
    hasNetwork: false,
    async files() {
      const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      const paths = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
      const read = paths.map(async (path) => [relative(folder, path), new Uint8Array(await readFile(path))] as const);
      return new Map(await Promise.all(read));
    },
    async breakDown() {
      // A file stands where the fund's folder would be, and the name is taken.
      await symlink("/dev/null", join(folder, "daily-nav", "beta"));
    },
    async close() {
      await storage.close();
      await rm(parent, { recursive: true, force: true });
    },
  };
});

const keys = { accessKeyId: "AKEXAMPLE", region: "eu-central-1" };

async function s3Fixture(differs: Partial<S3StorageOptions> = {}) {
  const server: S3Server = await startS3Server({ ...keys, secretAccessKey: "wJalr+/EXAMPLE" });
  const place = { timers, endpoint: server.url, bucket: "fund-reports", prefix: "" };
  const storage = s3Storage({ ...place, ...keys, secretAccessKey: async () => "wJalr+/EXAMPLE", ...differs });
  return {
    storage,
    server,
    hasNetwork: true,
    files: async () =>
      new Map(
        [...server.objects].map(([name, { content }]) => [name.replace("fund-reports/", ""), new Uint8Array(content)]),
      ),
    breakDown: async (how: "refuse" | "silence") => {
      server.mood = how === "refuse" ? 503 : "silence";
    },
    close: async () => {
      await storage.close();
      await server.close();
    },
  };
}

reportStorageConformance("S3-compatible", () => s3Fixture());

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});
const pdf = { key: "daily-nav/alpha.pdf", contentType: "application/pdf", content: Uint8Array.from([1, 2]) };

it("a wrong secret key is refused by the service and not repeated by us; none is said so", async () => {
  for (const [secret, said] of [
    ["wrong", "status 403"],
    [undefined, "no secret key for it among the secrets"],
  ] as const) {
    const fixture = await s3Fixture({ secretAccessKey: async () => secret });
    closes.push(fixture.close);
    const thrown = await fixture.storage.put(pdf, patienceMs).catch((reason: unknown) => reason);
    expect(String(thrown)).toContain(said);
    expect(String(thrown)).not.toContain("wrong");
    expect(fixture.server.objects.size).toBe(0);
  }
});

it("an object whose answer was lost is found again and written once, below its prefix", async () => {
  const fixture = await s3Fixture({ prefix: "desk/2026" });
  closes.push(fixture.close);
  // The question is answered, what follows is lost.
  fixture.server.mood = "lost";
  await expect(fixture.storage.put(pdf, patienceMs)).rejects.toMatchObject({ code: "REPORT_STORAGE_UNAVAILABLE" });
  fixture.server.mood = "well";
  expect(await fixture.storage.put(pdf, patienceMs)).toBe("s3://fund-reports/desk/2026/daily-nav/alpha.pdf");
  expect([...fixture.server.objects].map(([name, { writes, contentType }]) => [name, writes, contentType])).toEqual([
    ["fund-reports/desk/2026/daily-nav/alpha.pdf", 1, "application/pdf"],
  ]);
});
