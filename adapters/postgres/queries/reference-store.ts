// Reference data read from PostgreSQL: the newest version of every kind, in one statement and so of one moment.

import type pg from "pg";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ReferenceKind } from "../../../contracts/src/records/reference.ts";
import type { Reference, ReferenceData } from "../../../ports/reference-data.ts";
import { referenceOf } from "../../records/reference-contents.ts";
import { storeFault } from "../store-fault.ts";

export function createPostgresReferenceData(pool: pg.Pool): ReferenceData {
  async function ask(statement: pg.QueryConfig): Promise<readonly Record<string, string>[]> {
    try {
      return (await pool.query(statement)).rows;
    } catch (thrown) {
      throw storeFault(thrown, "reading reference data");
    }
  }
  return {
    async read(): Promise<Reference> {
      const rows = await ask({
        text: `select change, v.kind, v.version, v.content::text as content from reference_change
               left join (reference_head join reference_version v using (kind, version)) on true`,
      });
      const newest = new Map(rows.map((row) => [row["kind"], row]));
      const change = Number(rows[0]?.["change"]);
      return referenceOf(change, (kind: ReferenceKind) => {
        const row = newest.get(kind);
        if (row === undefined) return undefined;
        return { version: Number(row["version"]), content: parseJson(row["content"] ?? "[]") };
      });
    },
    async changed() {
      const [row] = await ask({ name: "reference_change", text: "select change from reference_change" });
      return Number(row?.["change"]);
    },
  };
}
