// Flattens with their lines, and drills, in a transaction.
import { parse } from "../../../contracts/src/instant.ts";
import type { DrillMeasured } from "../../../contracts/src/records/halt.ts";
import type { DrillRecords } from "../../../ports/drill-records.ts";
import type { FlattenRecords, StoredFlatten, StoredFlattenLine } from "../../../ports/flatten-records.ts";
import { fromStored, toStored } from "../../records/stored-decimals.ts";
import type { Sql } from "../store-transaction.ts";

const decimals = new Set(["quantity", "exitedBefore", "exitedQuantity"] satisfies (
  | keyof StoredFlattenLine
  | "exitedQuantity"
)[]);

interface Row<Content> {
  readonly content: Content;
}

const lineOf = ({ content }: Row<unknown>): StoredFlattenLine => fromStored<StoredFlattenLine>(content, decimals);

export function flattenRecords(sql: Sql): FlattenRecords {
  return {
    async insert(flatten) {
      const inserted = await sql.write({
        text: `insert into flatten (flatten_id, is_running, requested_us, content) values ($1, $2, $3, $4)
               on conflict (is_running) where is_running do nothing`,
        values: [flatten.flattenId, flatten.doneAt === undefined, flatten.at, JSON.stringify(flatten)],
      });
      return inserted.rowCount === 1;
    },
    async update(flatten) {
      await sql.write({
        text: "update flatten set is_running = $2, content = $3 where flatten_id = $1",
        values: [flatten.flattenId, flatten.doneAt === undefined, JSON.stringify(flatten)],
      });
    },
    async lockRunning() {
      const found = await sql.write({ text: "select content from flatten where is_running for update" });
      return (found.rows as readonly Row<StoredFlatten>[])[0]?.content;
    },
    async find(flattenId) {
      const found = await sql.read({
        text: `select content from flatten where $1::text is null or flatten_id = $1
               order by requested_us desc, flatten_id desc limit 1`,
        values: [flattenId ?? null],
      });
      return (found.rows as readonly Row<StoredFlatten>[])[0]?.content;
    },
    async insertLine(line) {
      await sql.write({
        text: `insert into flatten_line (line_id, flatten_id, fund_id, strategy_id, symbol, content)
               values ($1, $2, $3, $4, $5, $6)`,
        values: [line.lineId, line.flattenId, line.fundId, line.strategyId, line.symbol, toStored(line)],
      });
    },
    async lockLine(lineId) {
      const found = await sql.write({
        text: "select content from flatten_line where line_id = $1 for update",
        values: [lineId],
      });
      const [row] = found.rows as readonly Row<unknown>[];
      return row === undefined ? undefined : lineOf(row);
    },
    async updateLine(line) {
      await sql.write({
        text: "update flatten_line set content = $2 where line_id = $1",
        values: [line.lineId, toStored(line)],
      });
    },
    async lines(flattenId) {
      const found = await sql.read({
        text: `select content from flatten_line where flatten_id = $1
               order by fund_id, strategy_id, symbol, line_id`,
        values: [flattenId],
      });
      return (found.rows as readonly Row<unknown>[]).map(lineOf);
    },
  };
}

export function drillRecords(sql: Sql): DrillRecords {
  return {
    async insert(drill) {
      const inserted = await sql.write({
        text: "insert into drill (drill_id, measured_us, content) values ($1, $2, $3) on conflict do nothing",
        values: [drill.drill_id, parse(drill.at), JSON.stringify(drill)],
      });
      return inserted.rowCount === 1;
    },
    async newest(countMax, afterDrillId) {
      const found = await sql.read({
        text: `select content from drill
               where $2::text is null
                 or (measured_us, drill_id) < (select measured_us, drill_id from drill where drill_id = $2)
               order by measured_us desc, drill_id desc limit $1`,
        values: [countMax, afterDrillId ?? null],
      });
      return (found.rows as readonly Row<DrillMeasured>[]).map(({ content }) => content);
    },
  };
}
