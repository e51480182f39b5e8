// An anchor as a table in another PostgreSQL, which it makes itself when it is not there. Rows are only ever put in; a trigger refuses the rest, also
// to the owner, until somebody takes the trigger away.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { Anchor } from "../../ports/anchors.ts";
import type { Log } from "../../ports/log.ts";
import { type ConnectionTarget, openPool } from "../postgres/connection.ts";
import { otherNote, unusable } from "./anchor-faults.ts";

interface PostgresAnchorOptions {
  readonly target: ConnectionTarget;
  readonly log: Log;
}

const answerMsMax = 5_000;
/** Any number; so that two processes that start at once do not both make the table. */
const tableLock = 7_202_611;

const tableText = `
select pg_advisory_xact_lock(${tableLock});
create schema if not exists portcullis_anchor;
create table if not exists portcullis_anchor.checkpoint (
  origin text not null, size bigint not null check (size >= 0), note text not null,
  kept_at timestamptz not null default now(), primary key (origin, size));
create or replace function portcullis_anchor.refuse() returns trigger language plpgsql as
$$ begin raise exception 'anchored checkpoints are never changed or removed'; end $$;
create or replace trigger checkpoint_is_append_only before update or delete on portcullis_anchor.checkpoint
  for each row execute function portcullis_anchor.refuse();
create or replace trigger checkpoint_is_not_emptied before truncate on portcullis_anchor.checkpoint
  for each statement execute function portcullis_anchor.refuse();`;

export function postgresAnchor({ target, log }: PostgresAnchorOptions): Anchor {
  const place = target.host.startsWith("/") ? target.host : `${target.host}:${target.port}`;
  const name = `database ${target.database} at ${place}`;
  const pool = openPool(
    // Nothing of the platform's own settings: it is another database.
    { ...target, options: "-c synchronous_commit=on" },
    { log, applicationName: "portcullis audit anchor", sizeMax: 1, connectMsMax: answerMsMax, answerMsMax },
  );
  let hasTable = false;

  async function ask(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      if (!hasTable) await pool.query(tableText);
      hasTable = true;
      return await pool.query(statement);
    } catch (thrown) {
      throw thrown instanceof Fault ? thrown : unusable(name, thrown);
    }
  }

  return {
    name,
    async keep({ origin, size, note }) {
      const text =
        "insert into portcullis_anchor.checkpoint (origin, size, note) values ($1, $2, $3) on conflict do nothing";
      const { rowCount } = await ask({ text, values: [origin, size, note] });
      if (rowCount === 1) return;
      const there = "select 1 from portcullis_anchor.checkpoint where origin = $1 and size = $2 and note = $3";
      if ((await ask({ text: there, values: [origin, size, note] })).rowCount !== 1) throw otherNote(name, size);
    },
    async newest(origin) {
      const text = "select size, note from portcullis_anchor.checkpoint where origin = $1 order by size desc limit 1";
      const [row] = (await ask({ text, values: [origin] })).rows as { size: string; note: string }[];
      return row === undefined ? undefined : { origin, size: Number(row.size), note: row.note };
    },
    close: () => pool.end(),
  };
}
