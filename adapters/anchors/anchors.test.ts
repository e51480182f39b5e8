// The anchors under their suite, and what is special about a file and a database: lines that a crash cut off, a file that was cut, a table that nobody
// may change.
import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Anchor } from "../../ports/anchors.ts";
import { anchorSuite } from "../../testkit/conformance/anchors.ts";
import { memoryAnchor } from "../../testkit/memory/memory-anchor.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { configurationSchema } from "../configuration/schema.ts";
import { anchorsOf } from "./configured-anchors.ts";
import { fileAnchor } from "./file-anchor.ts";
import { postgresAnchor } from "./postgres-anchor.ts";

let folder = "";
let database: TestDatabase;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "anchors-"));
  database = await testDatabase([]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

const newPath = (): string => {
  files += 1;
  return join(folder, `${files}.jsonl`);
};

anchorSuite("in memory", async () => {
  const kept = new Map();
  return { open: () => memoryAnchor(kept), close: async () => undefined };
});

anchorSuite("as a file", async () => {
  const path = newPath();
  return { open: () => fileAnchor(path), close: async () => undefined };
});

async function sql(text: string): Promise<void> {
  const client = new pg.Client({ ...database.address.owner });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

anchorSuite("as a table", async () => {
  await sql("drop schema if exists portcullis_anchor cascade");
  const open: Anchor[] = [];
  return {
    open() {
      const anchor = postgresAnchor({ target: database.address.owner, log: quietLog });
      open.push(anchor);
      return anchor;
    },
    close: async () => void (await Promise.all(open.map((anchor) => anchor.close()))),
  };
});

const configuration = (given: object) => configurationSchema.parse(given).audit;
const of = (size: number) => ({ origin: "log/a", size, note: `log/a\n${size}\n\n` });

describe("a file", () => {
  it("whose last line a crash cut off is gone on with on a new line, and gives what was whole", async () => {
    const path = newPath();
    await fileAnchor(path).keep(of(3));
    await appendFile(path, JSON.stringify(of(4)).slice(0, 20));
    const anchor = fileAnchor(path);
    expect(await anchor.newest("log/a")).toEqual(of(3));
    await anchor.keep(of(5));
    expect(await fileAnchor(path).newest("log/a")).toEqual(of(5));
    expect((await readFile(path, "utf8")).split("\n")).toHaveLength(4);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("passes over what is no line of ours, also when it is long", async () => {
    const path = newPath();
    const strange = ["{}", "not json", '{"origin":"log/a","size":-1,"note":""}', "null", "x".repeat(3_000_000)];
    await writeFile(path, `${strange.join("\n")}\n`);
    await fileAnchor(path).keep(of(2));
    expect(await fileAnchor(path).newest("log/a")).toEqual(of(2));
  });

  it("that was cut while it was watched does not make us forget", async () => {
    const path = newPath();
    const anchor = fileAnchor(path);
    await anchor.keep(of(3));
    await anchor.keep(of(8));
    await truncate(path, 10);
    expect(await anchor.newest("log/a")).toEqual(of(8));
  });

  it("that cannot be written is a fault that may pass", async () => {
    const anchor = fileAnchor(join(folder, "no-such-folder", "x.jsonl"));
    await expect(anchor.keep(of(1))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
  });
});

describe("the configuration", () => {
  it("names a file, a database, both or none, and only for the process that writes the log", async () => {
    const { user, host, database: name } = database.address.owner;
    const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
    const audit = configuration({ audit: { anchor_file: newPath(), anchor_database_url: url } });
    const { all, close } = anchorsOf(audit, true, quietLog);
    expect(all.map((anchor) => anchor.name.split(" ")[0])).toEqual(["file", "database"]);
    for (const anchor of all) await anchor.keep({ ...of(5), origin: "log/configured" });
    for (const anchor of all) expect((await anchor.newest("log/configured"))?.size).toBe(5);
    await close();
    expect(anchorsOf(audit, false, quietLog).all).toEqual([]);
    expect(anchorsOf(configuration({}), true, quietLog).all).toEqual([]);
  });
});

describe("a table", () => {
  it("is neither changed nor emptied by its owner", async () => {
    const anchor = postgresAnchor({ target: database.address.owner, log: quietLog });
    await anchor.keep(of(1_000));
    await anchor.close();
    for (const text of [
      "update portcullis_anchor.checkpoint set note = 'x'",
      "delete from portcullis_anchor.checkpoint",
      "truncate portcullis_anchor.checkpoint",
    ]) {
      await expect(sql(text)).rejects.toThrow("never changed or removed");
    }
  });

  it("in a database that is not there is a fault that may pass, and names no password", async () => {
    const target = { ...database.address.owner, database: "no_such_database", password: "hunter2" };
    const anchor = postgresAnchor({ target, log: quietLog });
    const thrown: unknown = await anchor.newest("log/a").catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    expect(`${anchor.name} ${String(thrown)}`).not.toContain("hunter2");
    await anchor.close();
  });
});
