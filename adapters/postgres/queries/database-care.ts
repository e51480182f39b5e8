// What db_watchdog asks of PostgreSQL. Counts are read in one transaction that sees one state; statistics of statements come from pg_stat_statements
// where the server has it, and VACUUM runs where the app role may.
import type pg from "pg";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { DatabaseCare, RowCounts } from "../../../ports/database-care.ts";
import { storeFault } from "../store-fault.ts";

const begin =
  "begin isolation level repeatable read read only; set local statement_timeout = '30s'; set local jit = off";
const history = "seed-history-%";
const paperFunds = `select fund->>'fund_id' from reference_head h join reference_version v using (kind, version),
  json_array_elements(v.content) fund where h.kind = 'funds' and fund->>'mode' = 'PAPER'`;
const statementsMax = 500;

/** Each counts one ledger, and of it what another one has too; the first key that is missing says where to look. */
const pairs = [
  {
    name: "fills in the ledger",
    source: "oms fills",
    target: "treasury ledger",
    text: `select count(*) as source, count(e.entry_id) as target,
        min(f.fill_id) filter (where e.entry_id is null) as missing
      from oms_fill f left join treasury_entry e on e.entry_id = 'fill:' || f.fill_id
      where f.fill_id not like '${history}' and f.fund_id in (${paperFunds})`,
    values: [],
  },
  {
    name: "fills in the journal",
    source: "oms fills",
    target: "engine journal",
    text: `select count(*) as source, count(j.fill_id) as target,
        min(f.fill_id) filter (where j.fill_id is null) as missing
      from oms_fill f left join risk_journal j on j.fill_id = f.fill_id where f.fill_id not like '${history}'`,
    values: [],
  },
  {
    name: "events in the log",
    source: "audited events",
    target: "audit entries",
    text: `select count(*) as source, count(a.event_id) as target,
        min(o.event_id::text) filter (where a.event_id is null) as missing
      from outbox o left join audit_entry a on a.event_id = o.event_id::text where o.subject = any($1::text[])`,
    values: [auditedSubjects()],
  },
] as const;

export function createDatabaseCare(pool: pg.Pool, clock: Clock): DatabaseCare {
  async function ask(what: string, text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    try {
      return await pool.query({ text, values: [...values] });
    } catch (thrown) {
      throw storeFault(thrown, what);
    }
  }

  async function rows(): ReturnType<DatabaseCare["rows"]> {
    const client = await pool.connect().catch((thrown: unknown) => {
      throw storeFault(thrown, "the count of the ledgers");
    });
    try {
      await client.query(begin);
      const counted: RowCounts[] = [];
      for (const { name, source, target, text, values } of pairs) {
        const { rows: found } = await client.query({ text, values: [...values] });
        counted.push({
          name,
          source: { name: source, count: Number(found[0]?.source) },
          target: { name: target, count: Number(found[0]?.target) },
          ...(found[0]?.missing == null ? {} : { firstMissing: String(found[0].missing) }),
        });
      }
      await client.query("commit");
      client.release();
      return { at: clock.now(), pairs: counted };
    } catch (thrown) {
      // A session in an unknown state is not given back.
      client.release(thrown instanceof Error ? thrown : new Error(String(thrown)));
      throw storeFault(thrown, "the count of the ledgers");
    }
  }

  return {
    rows,
    async statements() {
      const known = await ask("the statistics", "select to_regclass('public.pg_stat_statements') is not null as known");
      if (known.rows[0]?.known !== true) {
        return "Slow queries are not watched: pg_stat_statements is missing. As a superuser: CREATE EXTENSION pg_stat_statements SCHEMA public; GRANT pg_read_all_stats TO portcullis_app;";
      }
      const found = await pool
        .query({
          text: `select queryid::text as id, left(query, 200) as text, calls, total_exec_time as total
                 from public.pg_stat_statements s join pg_database d on d.oid = s.dbid and d.datname = current_database()
                 where toplevel and query !~* '^(begin|commit|rollback|vacuum|listen|set|copy)'
                 order by total_exec_time desc limit ${statementsMax}`,
        })
        .catch((thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))));
      if (found instanceof Error) {
        return `Slow queries are not watched: ${found.message}. Put pg_stat_statements into shared_preload_libraries and restart the server.`;
      }
      return found.rows.flatMap((row) =>
        row.id === null
          ? []
          : [{ queryId: row.id, text: row.text, calls: Number(row.calls), totalMs: Number(row.total) }],
      );
    },
    async tables() {
      const found = await ask(
        "dead rows",
        `select s.relname as table, n_live_tup as live, n_dead_tup as dead,
           (extract(epoch from last_vacuum) * 1000000)::bigint as vacuumed_us,
           current_setting('autovacuum')::boolean
             and not coalesce('autovacuum_enabled=false' = any (c.reloptions), false) as autovacuumed
         from pg_stat_user_tables s join pg_class c on c.oid = s.relid
         where schemaname = 'portcullis' order by s.relname`,
      );
      return found.rows.map((row) => ({
        table: row.table,
        live: Number(row.live),
        dead: Number(row.dead),
        isAutovacuumed: row.autovacuumed === true,
        ...(row.vacuumed_us === null ? {} : { vacuumedAt: fromMicroseconds(Number(row.vacuumed_us)) }),
      }));
    },
    async vacuum(table) {
      const known = await ask(
        "a vacuum",
        `select format('%I.%I', n.nspname, c.relname) as name, current_setting('server_version_num')::int >= 170000 as has_right,
           pg_has_role(c.relowner, 'USAGE') as owns from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'portcullis' and c.relname = $1 and c.relkind = 'r'`,
        [table],
      );
      const [row] = known.rows;
      if (row === undefined) return `There is no table ${table}.`;
      const may =
        row.owns === true ||
        (row.has_right === true &&
          (await ask("a vacuum", "select has_table_privilege($1, 'MAINTAIN') as may", [row.name])).rows[0]?.may ===
            true);
      if (!may) return `portcullis_app may not vacuum ${table}. Run as its owner: VACUUM ANALYZE ${row.name};`;
      await ask("a vacuum", `vacuum analyze ${row.name}`);
      return undefined;
    },
    async makeDeadRows(count) {
      await ask(
        "dead rows",
        "insert into paper_drill_row (number, content) select n, repeat('x', 100) from generate_series(1, $1::bigint) n on conflict (number) do update set content = excluded.content",
        [count],
      );
      await ask("dead rows", "delete from paper_drill_row");
    },
  };
}

/** The subjects whose every event becomes an entry. */
function auditedSubjects(): readonly string[] {
  return Object.values(subjects).flatMap(({ name, audit }) => ("notAudited" in audit ? [] : [name]));
}
