// Requests under idempotency keys, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { KeyedRequest, RequestKey, RequestKeyRecords } from "../../../ports/request-keys.ts";
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface Row {
  readonly body_hash: string;
  readonly holder: string;
  readonly begun_us: string;
  readonly state: KeyedRequest["state"];
  readonly answer: Buffer;
}

const columns = ({ caller, place, key }: RequestKey): readonly string[] => [caller, place, key].map(columnOfText);

export function requestKeyRecords(sql: Sql): RequestKeyRecords {
  return {
    async lock(key) {
      const found = await sql.write({
        name: "request_key_lock",
        text: `select body_hash, holder, begun_us, state, answer from request_key
               where caller = $1 and place = $2 and key = $3 for update`,
        values: [...columns(key)],
      });
      const [row] = found.rows as readonly Row[];
      return row === undefined ? undefined : requestOf(row);
    },
    async put(key, { bodyHash, holder, begunAt, state, answer }) {
      await sql.write({
        name: "request_key_put",
        // Whoever was faster with a key that nobody had makes this a conflict, and the work is run again.
        text: `insert into request_key (caller, place, key, body_hash, holder, begun_us, state, answer)
               values ($1, $2, $3, $4, $5, $6, $7, $8)
               on conflict (caller, place, key) do update set body_hash = excluded.body_hash, holder = excluded.holder,
                 begun_us = excluded.begun_us, state = excluded.state, answer = excluded.answer`,
        values: [...columns(key), bodyHash, columnOfText(holder), begunAt, state, Buffer.from(answer)],
      });
    },
    async remove(key) {
      await sql.write({
        text: "delete from request_key where caller = $1 and place = $2 and key = $3",
        values: [...columns(key)],
      });
    },
    async hasMany(caller, count) {
      const found = await sql.read({
        name: "request_key_many",
        text: "select 1 from request_key where caller = $1 offset $2 limit 1",
        values: [columnOfText(caller), count - 1],
      });
      return found.rows.length > 0;
    },
    async trim(before, countMax) {
      await sql.write({
        name: "request_key_trim",
        text: `delete from request_key where (caller, place, key) in (
                 select caller, place, key from request_key where begun_us < $1 order by begun_us limit $2
                 for update skip locked)`,
        values: [before, countMax],
      });
    },
  };
}

function requestOf({ body_hash: bodyHash, holder, begun_us, state, answer }: Row): KeyedRequest {
  return { bodyHash, holder, begunAt: fromMicroseconds(Number(begun_us)), state, answer: new Uint8Array(answer) };
}
