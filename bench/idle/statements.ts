// How many statements a platform's database has run, by the login that sent them: pg_stat_statements, which counts each statement that a client sends,
// BEGIN and COMMIT as well, and not those that functions run. Every service has a login of its own, so that this is by service.
import type pg from "pg";

export interface StatementCounts {
  /** By login. */
  readonly byLogin: Readonly<Record<string, number>>;
  /** By login and text, with constants taken out. */
  readonly byText: Readonly<Record<string, number>>;
  /** Transactions that ended, by the server's own count. */
  readonly transactions: number;
}

const text = `
select r.rolname as login, s.query, sum(s.calls)::float8 as calls
from public.pg_stat_statements s join pg_roles r on r.oid = s.userid
where s.toplevel and s.userid <> (select oid from pg_roles where rolname = current_user)
group by 1, 2`;
const transactionsText = "select sum(xact_commit + xact_rollback)::float8 as ended from pg_stat_database";

export async function countStatements(client: pg.Client): Promise<StatementCounts> {
  const { rows } = await client.query<{ login: string; query: string; calls: number }>(text);
  const ended = await client.query<{ ended: number }>(transactionsText);
  const byLogin: Record<string, number> = {};
  const byText: Record<string, number> = {};
  for (const { login, query, calls } of rows) {
    byLogin[serviceOf(login)] = (byLogin[serviceOf(login)] ?? 0) + calls;
    const named = `${serviceOf(login)}: ${query}`;
    byText[named] = (byText[named] ?? 0) + calls;
  }
  return { byLogin, byText, transactions: ended.rows[0]?.ended ?? 0 };
}

/** Logins are named after the database and the service. */
const serviceOf = (login: string): string => login.replace(/^.*_/, "");

export function difference(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const counted = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}
