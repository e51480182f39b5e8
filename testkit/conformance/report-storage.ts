// The suite that every storage for reports passes: one list of checks, each named after the promise of ports/report-storage.ts that it holds it to.
import { afterEach, describe, expect, it } from "vitest";
import type { ReportStorage, StoredFile } from "../../ports/report-storage.ts";

export interface ReportStorageFixture {
  readonly storage: ReportStorage;
  /** Every file by its key, and nothing else that lies there. */
  files(): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Makes it refuse or be silent from now on. */
  breakDown(how: "refuse" | "silence"): Promise<void>;
  readonly hasNetwork: boolean;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const file = (key: string, text: string): StoredFile => ({
  key,
  contentType: "application/pdf",
  content: new TextEncoder().encode(text),
});

export function reportStorageConformance(name: string, open: () => Promise<ReportStorageFixture>): void {
  describe(`report storage conformance: ${name}`, () => {
    const fixtures: ReportStorageFixture[] = [];
    const start = async (): Promise<ReportStorageFixture> => {
      const fixture = await open();
      fixtures.push(fixture);
      return fixture;
    };
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.close();
    });

    it("promises 1 and 2: what was put is there whole, and what was not rejects", async () => {
      const fixture = await start();
      const where = await fixture.storage.put(file("daily-nav/alpha/2026.pdf", "%PDF one"), patienceMs);
      expect(where).toContain("daily-nav/alpha/2026.pdf");
      expect([...(await fixture.files())]).toEqual([
        ["daily-nav/alpha/2026.pdf", new TextEncoder().encode("%PDF one")],
      ]);
      await fixture.breakDown("refuse");
      const refused = fixture.storage.put(file("daily-nav/beta/2026.pdf", "two"), patienceMs);
      await expect(refused).rejects.toMatchObject({ code: "REPORT_STORAGE_UNAVAILABLE" });
      expect((await fixture.files()).size).toBe(1);
    });

    it("promise 3: the same again is one file, also at once; another one under its name is refused", async () => {
      const fixture = await start();
      await fixture.storage.put(file("a/b.pdf", "one"), patienceMs);
      await Promise.all([1, 2, 3].map(() => fixture.storage.put(file("a/b.pdf", "one"), patienceMs)));
      await expect(fixture.storage.put(file("a/b.pdf", "two"), patienceMs)).rejects.toMatchObject({
        code: "REPORT_STORAGE_CONFLICT",
      });
      expect([...(await fixture.files())]).toEqual([["a/b.pdf", new TextEncoder().encode("one")]]);
    });

    it("promise 4: a key leads nowhere else", async () => {
      const fixture = await start();
      for (const key of [
        "../x.pdf",
        "/x.pdf",
        "a/../../x.pdf",
        "a//b.pdf",
        "",
        "a/.hidden",
        "a?b",
        "a%2f..",
        "a b",
        "a\n",
      ]) {
        await expect(fixture.storage.put(file(key, "x"), patienceMs), key).rejects.toMatchObject({
          code: "INVALID_ARGUMENT",
        });
      }
      expect((await fixture.files()).size).toBe(0);
    });

    it("promise 5: a silent service is not waited for beyond the deadline", async () => {
      const fixture = await start();
      if (!fixture.hasNetwork) return;
      await fixture.breakDown("silence");
      await expect(fixture.storage.put(file("a.pdf", "x"), 300)).rejects.toThrow("in time");
    });
  });
}
