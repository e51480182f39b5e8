// Reference data read from PostgreSQL: the newest version of every kind, in one statement and so of one moment. It is read again when its number of changes moved:
// whoever asks a question for which a fund's name is looked up waits for no megabyte of documents.

import type pg from "pg";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ReferenceKind } from "../../../contracts/src/records/reference.ts";
import type { Reference, ReferenceData } from "../../../ports/reference-data.ts";
import { referenceOf } from "../../records/reference-contents.ts";
import { storeFault } from "../store-fault.ts";

/** `reserved` answers whether anything changed: naming what is to be halted depends on that, and waits for no place in the pool. */
export function createPostgresReferenceData(pool: pg.Pool, reserved: pg.Pool = pool): ReferenceData {
  async function ask(connections: pg.Pool, statement: pg.QueryConfig): Promise<readonly Record<string, string>[]> {
    try {
      return (await connections.query(statement)).rows;
    } catch (thrown) {
      throw storeFault(thrown, "reading reference data");
    }
  }
  let kept: Reference | undefined;
  async function changed(): Promise<number> {
    const [row] = await ask(reserved, { name: "reference_change", text: "select change from reference_change" });
    return Number(row?.["change"]);
  }
  return {
    changed,
    async read(): Promise<Reference> {
      if (kept !== undefined && kept.change === (await changed())) return kept;
      const rows = await ask(pool, {
        text: `select change, v.kind, v.version, v.content::text as content from reference_change
               left join (reference_head join reference_version v using (kind, version)) on true`,
      });
      const newest = new Map(rows.map((row) => [row["kind"], row]));
      const change = Number(rows[0]?.["change"]);
      kept = referenceOf(change, (kind: ReferenceKind) => {
        const row = newest.get(kind);
        if (row === undefined) return undefined;
        return { version: Number(row["version"]), content: parseJson(row["content"] ?? "[]") };
      });
      return kept;
    },
  };
}
