// Reference data and the paper treasury's holdings in a transaction. The head of a kind is the row that a change locks.
import { format, parse } from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { ReferenceRecords, ReferenceRequest, ReferenceVersion, TreasuryRecords } from "../../../ports/store.ts";
import type { Sql } from "../store-transaction.ts";

export function referenceRecords(sql: Sql): ReferenceRecords {
  return {
    async lock(kind) {
      await sql.write({
        text: "insert into reference_head (kind, version) values ($1, 0) on conflict (kind) do nothing",
        values: [kind],
      });
      const found = await sql.write({
        text: `select v.version, v.content, v.set_by, v.set_us, v.reason, v.hash
               from reference_head h left join reference_version v using (kind, version)
               where h.kind = $1 for update of h`,
        values: [kind],
      });
      const [row] = found.rows;
      return row === undefined || row.version === null ? undefined : versionOf(kind, row);
    },
    async asOf(kind, at) {
      const found = await sql.read({
        text: `select version, content, set_by, set_us, reason, hash from reference_version where kind = $1
               order by set_us > $2, case when set_us > $2 then version else -version end limit 1`,
        values: [kind, at],
      });
      const [row] = found.rows;
      return row === undefined ? undefined : versionOf(kind, row);
    },
    async atSending() {
      const locked = await sql.write({
        name: "reference_at_sending",
        text: "select kind, version from reference_head where kind in ('funds', 'instruments') order by kind desc for share",
      });
      const versionOf = (kind: string): number => Number(locked.rows.find((row) => row.kind === kind)?.version ?? 0);
      return { instruments: versionOf("instruments"), funds: versionOf("funds") };
    },
    async ask(request) {
      await sql.write({
        text: "insert into reference_request (request_id, asked_us, content) values ($1, $2, $3)",
        values: [request.requestId, request.at, JSON.stringify(request)],
      });
    },
    async asked(requestId) {
      const found = await sql.read({
        text: "select content from reference_request where request_id = $1",
        values: [requestId],
      });
      return (found.rows as readonly { readonly content: ReferenceRequest }[])[0]?.content;
    },
    async put({ kind, version, content, setBy, setAt, reason, hash }) {
      const inserted = await sql.write({
        text: `insert into reference_version (kind, version, content, set_by, set_us, reason, hash)
               values ($1, $2, $3, $4, $5, $6, $7) on conflict (kind, version) do nothing`,
        values: [kind, version, JSON.stringify(content), setBy, setAt, reason, hash],
      });
      if (inserted.rowCount !== 1) {
        const sentence = `version ${version} of the reference data ${kind} exists already`;
        throw new Fault("STORE_CONFLICT", sentence, { retry: "now", facts: { kind, version } });
      }
      await sql.write({
        text: `insert into reference_head as head (kind, version) values ($1, $2)
               on conflict (kind) do update set version = greatest(head.version, excluded.version)`,
        values: [kind, version],
      });
    },
  };
}

interface VersionRow {
  readonly version: number | string;
  readonly content: ReferenceVersion["content"];
  readonly set_by: string;
  readonly set_us: number | string;
  readonly reason: string;
  readonly hash: string;
}

function versionOf(kind: ReferenceVersion["kind"], row: VersionRow): ReferenceVersion {
  return {
    kind,
    version: Number(row.version),
    content: row.content,
    setBy: row.set_by,
    setAt: fromMicroseconds(Number(row.set_us)),
    reason: row.reason,
    hash: row.hash,
  };
}

export function treasuryRecords(sql: Sql): TreasuryRecords {
  return {
    async add(fundId, symbol, quantity) {
      await sql.write({
        name: "treasury_add",
        text: `insert into treasury_holding as held (fund_id, symbol, quantity) values ($1, $2, $3)
               on conflict (fund_id, symbol) do update set quantity = held.quantity + excluded.quantity`,
        values: [fundId, symbol, format(quantity)],
      });
    },
    async holdings() {
      const text = "select fund_id, symbol, quantity from treasury_holding order by fund_id, symbol";
      const found = await sql.read({ text });
      return found.rows.map((row) => ({ fundId: row.fund_id, symbol: row.symbol, quantity: parse(row.quantity) }));
    },
  };
}
