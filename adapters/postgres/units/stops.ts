// Synthetic stops that fired, in a transaction.
import type { StopRecords, StoredStop } from "../../../ports/stop-records.ts";
import { fromStored, toStored } from "../../records/stored-decimals.ts";
import type { Sql } from "../store-transaction.ts";

const decimals = new Set(["quantity", "basisPrice", "triggerPrice", "observedPrice", "exitedQuantity"] satisfies (
  | keyof StoredStop
  | "exitedQuantity"
)[]);

interface StopRow {
  readonly content: unknown;
}

const stopOf = ({ content }: StopRow): StoredStop => fromStored<StoredStop>(content, decimals);

export function stopRecords(sql: Sql): StopRecords {
  return {
    async insert(stop) {
      const inserted = await sql.write({
        name: "stop_insert",
        text: `insert into stop (stop_id, is_owed, fired_us, content) values ($1, $2, $3, $4)
               on conflict (stop_id) do nothing`,
        values: [stop.stopId, stop.ended === undefined, stop.firedAt, toStored(stop)],
      });
      return inserted.rowCount === 1;
    },
    async lock(stopId) {
      const found = await sql.write({
        name: "stop_lock",
        text: "select content from stop where stop_id = $1 for update",
        values: [stopId],
      });
      const [row] = found.rows as readonly StopRow[];
      return row === undefined ? undefined : stopOf(row);
    },
    async update(stop) {
      await sql.write({
        name: "stop_update",
        text: "update stop set is_owed = $2, content = $3 where stop_id = $1",
        values: [stop.stopId, stop.ended === undefined, toStored(stop)],
      });
    },
    async owed() {
      const found = await sql.read({
        name: "stop_owed",
        text: "select content from stop where is_owed order by fired_us, stop_id",
      });
      return (found.rows as readonly StopRow[]).map(stopOf);
    },
    async ended(since, countMax, { fundId, afterStopId } = {}) {
      const endedUs = "(content->'ended'->>'at')::bigint";
      const found = await sql.read({
        name: "stop_ended",
        text: `select content from stop where not is_owed and ${endedUs} >= $1
               and ($3::text is null or content->>'fundId' = $3)
               and ($4::text is null or (-${endedUs}, stop_id) >
                 (select -${endedUs}, stop_id from stop where not is_owed and stop_id = $4))
               order by -${endedUs}, stop_id limit $2`,
        values: [since, countMax, fundId ?? null, afterStopId ?? null],
      });
      return (found.rows as readonly StopRow[]).map(stopOf);
    },
    async find(stopIds) {
      const found = await sql.read({
        name: "stop_find",
        text: "select content from stop where stop_id = any($1::text[]) order by fired_us, stop_id",
        values: [[...stopIds]],
      });
      return (found.rows as readonly StopRow[]).map(stopOf);
    },
  };
}
