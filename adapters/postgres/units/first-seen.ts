// Since when things stand, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { FirstSeenRecords } from "../../../ports/first-seen.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

export function firstSeenRecords(sql: Sql): FirstSeenRecords {
  return {
    async all(kind) {
      const found = await sql.read({
        name: "first_seen_all",
        text: "select about, at_us from first_seen where kind = $1 order by about",
        values: [kind],
      });
      return new Map(found.rows.map((row) => [textOfColumn(row.about), fromMicroseconds(Number(row.at_us))]));
    },
    async put(kind, seen) {
      await sql.write({
        text: `insert into first_seen (kind, about, at_us) select $1, * from unnest($2::text[], $3::bigint[])
               on conflict (kind, about) do nothing`,
        values: [kind, [...seen.keys()].map(columnOfText), [...seen.values()]],
      });
    },
    async remove(kind, abouts) {
      await sql.write({
        text: "delete from first_seen where kind = $1 and about = any ($2::text[])",
        values: [kind, abouts.map(columnOfText)],
      });
    },
  };
}
