// The numbering of foreign publishers, in a transaction.
import { z } from "zod";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { ForeignRecords, ForeignStream, KeptPosition } from "../../../ports/foreign-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

const keptRanges = z.array(z.object({ from: z.int(), to: z.int(), since: z.int(), gap_id: z.string() }));
const columns = "source, fund_id, kind, last::text as last, missing";

export function foreignRecords(sql: Sql): ForeignRecords {
  return {
    async lock({ source, fundId, kind }) {
      const values = [columnOfText(source), fundId, kind];
      // A row to lock has to be there first.
      await sql.write({
        name: "foreign_begin",
        text: "insert into foreign_position (source, fund_id, kind, at_us) values ($1, $2, $3, 0) on conflict do nothing",
        values,
      });
      const found = await sql.read({
        name: "foreign_lock",
        text: `select ${columns} from foreign_position where source = $1 and fund_id = $2 and kind = $3 for update`,
        values,
      });
      const [row] = found.rows;
      return row === undefined || row.last === null ? undefined : positionOf(row);
    },
    async put({ source, fundId, kind }, { last, missing }, at) {
      const kept = missing.map(({ from, to, since, gapId }) => ({ from, to, since, gap_id: gapId }));
      await sql.write({
        name: "foreign_put",
        text: `insert into foreign_position (source, fund_id, kind, last, missing, at_us) values ($1, $2, $3, $4, $5, $6)
               on conflict (source, fund_id, kind) do update set last = excluded.last, missing = excluded.missing, at_us = excluded.at_us`,
        values: [columnOfText(source), fundId, kind, last ?? null, JSON.stringify(kept), at],
      });
    },
    async noteUnnumbered(source, at) {
      const inserted = await sql.write({
        name: "foreign_unnumbered",
        text: "insert into foreign_unnumbered (source, at_us) values ($1, $2) on conflict do nothing",
        values: [columnOfText(source), at],
      });
      return inserted.rowCount === 1;
    },
    async positions(source, fundId) {
      const found = await sql.read({
        name: "foreign_positions",
        text: `select ${columns} from foreign_position where source = $1 and fund_id = $2 and last is not null order by kind collate "C"`,
        values: [columnOfText(source), fundId],
      });
      return found.rows.map((row) => ({ ...streamOf(row), ...positionOf(row) }));
    },
    async withGaps() {
      const found = await sql.read({
        name: "foreign_gaps",
        text: `select ${columns} from foreign_position where missing <> '[]' order by source, fund_id, kind collate "C"`,
        values: [],
      });
      return found.rows.map((row) => ({ ...streamOf(row), ...positionOf(row) }));
    },
  };
}

interface Row {
  readonly source: string;
  readonly fund_id: string;
  readonly kind: ForeignStream["kind"];
  readonly last: string | null;
  readonly missing: unknown;
}

function streamOf(row: Row): ForeignStream {
  return { source: textOfColumn(row.source), fundId: row.fund_id, kind: row.kind };
}

function positionOf(row: Row): KeptPosition {
  const missing = keptRanges.parse(row.missing);
  return {
    last: row.last === null ? undefined : Number(row.last),
    missing: missing.map(({ from, to, since, gap_id }) => ({
      from,
      to,
      since: fromMicroseconds(since),
      gapId: gap_id,
    })),
  };
}
