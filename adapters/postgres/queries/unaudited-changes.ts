// Changes that nobody audited. The database compares (migrations/0048-guarded-rows.ts); what compares is itself held against the
// program's text each time, so that whoever replaces or switches off a piece of it is found as well.
import type pg from "pg";
import type { UnauditedChange, UnauditedChanges } from "../../../ports/unaudited-changes.ts";
import { schemaName } from "../connection.ts";
import { guardedTables } from "../migrations/0048-guarded-rows.ts";
import { guardBodies } from "../migrations/0062-token-logins.ts";
import { storeFault } from "../store-fault.ts";

interface Row {
  readonly of_table: string;
  readonly row_id: string;
  readonly found: UnauditedChange["found"];
  readonly change_id: string;
}

/** What is there under its name with another text, and triggers that are gone or switched off. Its four parameters begin with that number. */
const question = (first: number): string => `
select of_table, row_id, found, guard_change_id(of_table, row_id, found, digest) as change_id from guard_differences()
union all
select 'pg_proc', w.name, case when p.oid is null then 'removed' else 'changed' end, ''
  from unnest($${first}::text[], $${first + 1}::text[]) as w (name, body)
  left join pg_proc p on p.proname = w.name and p.pronamespace = '${schemaName}'::regnamespace
  where p.prosrc is distinct from w.body
union all
select 'pg_trigger', w.name, case when t.oid is null then 'removed' else 'changed' end, ''
  from unnest($${first + 2}::text[]) as w (name)
  left join pg_trigger t on t.tgname = 'guard' and t.tgrelid = to_regclass('${schemaName}.' || w.name)
  where t.tgenabled is null or t.tgenabled not in ('O', 'A')
order by 1, 2 limit $${first + 3}`;

const names = Object.keys(guardBodies);
const bodies = Object.values(guardBodies);
const tables = guardedTables.map(({ table }) => table);

/** For whoever asks other things with it. */
export const unauditedQuestion = {
  text: question,
  values: (countMax: number): readonly unknown[] => [names, bodies, tables, countMax],
  read: (row: Row): UnauditedChange => ({
    changeId: row.change_id,
    table: row.of_table,
    row: row.row_id,
    found: row.found,
  }),
};

export function createUnauditedChanges(pool: pg.Pool): UnauditedChanges {
  return {
    async list(countMax) {
      const statement = {
        name: "unaudited_changes",
        text: question(1),
        values: [...unauditedQuestion.values(countMax)],
      };
      const found = await pool.query<Row>(statement).catch((thrown) => {
        throw storeFault(thrown, "reading changes that nobody audited");
      });
      return found.rows.map(unauditedQuestion.read);
    },
    async hasSigned() {
      const text = "select exists (select from guard_signed()) as signed";
      const found = await pool
        .query<{ readonly signed: boolean }>({ name: "unaudited_signed", text })
        .catch((thrown) => {
          throw storeFault(thrown, "reading which changes were accepted");
        });
      return found.rows[0]?.signed === true;
    },
  };
}
