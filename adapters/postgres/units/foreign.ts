// The numbering of foreign publishers, in a transaction.
import { z } from "zod";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import { bookedFill, fillBusted } from "../../../contracts/src/records/order.ts";
import type { ForeignRecords, ForeignStream, KeptPosition } from "../../../ports/foreign-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

const keptRanges = z.array(z.object({ from: z.int(), to: z.int(), since: z.int(), gap_id: z.string() }));
const keptNumbers = z.array(z.object({ number: z.int(), code: z.string() }));
const columns = "source, fund_id, kind, last::text as last, missing, refused";

export function foreignRecords(sql: Sql): ForeignRecords {
  return { ...positionRecords(sql), ...bustRecords(sql), ...ownerRecords(sql), ...turnRecords(sql) };
}

type BustPart = Pick<ForeignRecords, "keepBust" | "bust" | "bustsOf" | "keepFill" | "fill">;

function bustRecords(sql: Sql): BustPart {
  return {
    async keepBust(source, bust, at) {
      const kept = await sql.write({
        name: "foreign_bust_keep",
        text: `insert into foreign_bust (source, bust_id, fill_id, content, at_us) values ($1, $2, $3, $4, $5)
               on conflict (source, bust_id) do nothing`,
        values: [columnOfText(source), bust.bust_id, bust.fill_id, JSON.stringify(bust), at],
      });
      return kept.rowCount === 1;
    },
    async bust(source, bustId) {
      const found = await sql.read({
        name: "foreign_bust",
        text: "select content from foreign_bust where source = $1 and bust_id = $2",
        values: [columnOfText(source), bustId],
      });
      return found.rows[0] === undefined ? undefined : fillBusted.parse(found.rows[0].content);
    },
    async bustsOf(source, fillId) {
      const found = await sql.read({
        name: "foreign_busts_of_fill",
        text: "select content from foreign_bust where fill_id = $2 and source = $1 order by bust_id",
        values: [columnOfText(source), fillId],
      });
      return found.rows.map(({ content }) => fillBusted.parse(content));
    },
    async keepFill(fill, at) {
      await sql.write({
        name: "foreign_fill_keep",
        text: "insert into foreign_fill (fill_id, content, at_us) values ($1, $2, $3) on conflict (fill_id) do nothing",
        values: [fill.fill_id, JSON.stringify(fill), at],
      });
    },
    async fill(fillId) {
      const found = await sql.read({
        name: "foreign_fill",
        text: "select content from foreign_fill where fill_id = $1",
        values: [fillId],
      });
      return found.rows[0] === undefined ? undefined : bookedFill.parse(found.rows[0].content);
    },
  };
}

type OwnerPart = Pick<ForeignRecords, "handOvers" | "handOver">;

function ownerRecords(sql: Sql): OwnerPart {
  return {
    async handOvers(orderIds) {
      const found = await sql.read({
        name: "order_hand_overs",
        text: `select from_source, to_source, order_id, at_us::text as at_us from order_hand_over
               where $1::text[] is null or order_id is null or order_id = any ($1::text[]) order by number`,
        values: [orderIds === undefined ? null : orderIds.map(columnOfText)],
      });
      return found.rows.map(({ from_source, to_source, order_id, at_us }) => ({
        from: textOfColumn(from_source),
        to: textOfColumn(to_source),
        ...(order_id !== null && { orderId: textOfColumn(order_id) }),
        at: fromMicroseconds(Number(at_us)),
      }));
    },
    async handOver({ from, to, orderId, at }, { actor, reason }) {
      const kept = await sql.write({
        name: "order_hand_over",
        text: `insert into order_hand_over (from_source, to_source, order_id, given_by, reason, at_us)
               values ($1, $2, $3, $4, $5, $6) on conflict (order_id) where from_source = '' do nothing`,
        values: [
          columnOfText(from),
          columnOfText(to),
          orderId === undefined ? null : columnOfText(orderId),
          columnOfText(actor),
          columnOfText(reason),
          at,
        ],
      });
      return kept.rowCount === 1;
    },
  };
}

type TurnPart = Pick<ForeignRecords, "priceTurns" | "putPriceTurns">;

function turnRecords(sql: Sql): TurnPart {
  return {
    async priceTurns(after) {
      const found = await sql.read({
        name: "price_turns",
        text: "select symbol, first_source, second_source, changed::text as changed from price_turn where changed > $1 order by changed, symbol",
        values: [after],
      });
      const turns = found.rows.map(({ symbol, first_source, second_source }) => ({
        symbol: textOfColumn(symbol),
        first: textOfColumn(first_source),
        ...(second_source !== null && { second: textOfColumn(second_source) }),
      }));
      return { turns, place: Number(found.rows.at(-1)?.changed ?? after) };
    },
    async putPriceTurns(turns) {
      await sql.write({
        name: "price_turns_put",
        text: `insert into price_turn (symbol, first_source, second_source, changed)
               select t.symbol, t.first_source, t.second_source, (select coalesce(max(changed), 0) + 1 from price_turn)
               from unnest($1::text[], $2::text[], $3::text[]) as t (symbol, first_source, second_source)
               on conflict (symbol) do update
               set first_source = excluded.first_source, second_source = excluded.second_source, changed = excluded.changed`,
        values: [
          turns.map(({ symbol }) => columnOfText(symbol)),
          turns.map(({ first }) => columnOfText(first)),
          turns.map(({ second }) => (second === undefined ? null : columnOfText(second))),
        ],
      });
    },
  };
}

function positionRecords(sql: Sql): Omit<ForeignRecords, keyof BustPart | keyof OwnerPart | keyof TurnPart> {
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
        text: `select ${columns}, at_us::text as at_us from foreign_position where source = $1 and fund_id = $2 and kind = $3 for update`,
        values,
      });
      const [row] = found.rows;
      if (row === undefined || (row.last === null && row.at_us === "0")) return undefined;
      return { ...positionOf(row), at: fromMicroseconds(Number(row.at_us)) };
    },
    async put({ source, fundId, kind }, { last, missing, refused = [] }, at) {
      const kept = missing.map(({ from, to, since, gapId }) => ({ from, to, since, gap_id: gapId }));
      await sql.write({
        name: "foreign_put",
        text: `insert into foreign_position (source, fund_id, kind, last, missing, refused, at_us) values ($1, $2, $3, $4, $5, $6, $7)
               on conflict (source, fund_id, kind) do update
               set last = excluded.last, missing = excluded.missing, refused = excluded.refused, at_us = excluded.at_us`,
        values: [columnOfText(source), fundId, kind, last ?? null, JSON.stringify(kept), JSON.stringify(refused), at],
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
    async valueSources() {
      const found = await sql.read({
        name: "foreign_value_sources",
        text: `select ${columns} from foreign_position where kind = 'values' and last is not null order by fund_id, source collate "C" limit 1000`,
        values: [],
      });
      return found.rows.map((row) => {
        const { source, fundId } = streamOf(row);
        return { source, fundId };
      });
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
  readonly refused: unknown;
}

function streamOf(row: Row): ForeignStream {
  return { source: textOfColumn(row.source), fundId: row.fund_id, kind: row.kind };
}

function positionOf(row: Row): KeptPosition {
  const missing = keptRanges.parse(row.missing);
  const refused = keptNumbers.parse(row.refused);
  return {
    last: row.last === null ? undefined : Number(row.last),
    ...(refused.length > 0 && { refused }),
    missing: missing.map(({ from, to, since, gap_id }) => ({
      from,
      to,
      since: fromMicroseconds(since),
      gapId: gap_id,
    })),
  };
}
