// Who holds the readers back: the oldest running transaction of the server, named so that a person can end it.
import type { RunStatement } from "./outbox-reader.ts";

/** A hole that lasts longer than this is not a busy moment but a stuck transaction. */
export const horizonMsMax = 5_000;

// Every running transaction holds a lock on its own number, and that view is open to all roles; details of another
// role's session may be hidden, its process id never is.
const text = `
select l.pid::text, coalesce(a.application_name, ''), coalesce(a.state, 'unknown'), coalesce(a.xact_start::text, 'unknown')
from pg_locks l left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and l.pid <> pg_backend_pid()
order by age(l.transactionid) desc limit 1`;

interface OldestTransaction {
  readonly pid: string;
  readonly application: string;
  readonly state: string;
  readonly since: string;
}

export async function oldestTransaction(run: RunStatement): Promise<OldestTransaction | undefined> {
  const [row] = (await run({ text, rowMode: "array" })).rows as unknown as readonly (readonly string[])[];
  if (row === undefined) return undefined;
  const [pid = "", application = "", state = "", since = ""] = row;
  return { pid, application, state, since };
}

export function horizonComplaint(subscription: string, heldMs: number, oldest: OldestTransaction | undefined): string {
  const seconds = Math.round(heldMs / 1_000);
  const who =
    oldest === undefined
      ? "no running transaction of this server explains it (a prepared one may)"
      : `the oldest transaction is that of process ${oldest.pid} (${oldest.application || "no name"}, ${oldest.state}, since ${oldest.since})`;
  return `${subscription} has been held back for ${seconds} s by an unfinished transaction; ${who}`;
}
