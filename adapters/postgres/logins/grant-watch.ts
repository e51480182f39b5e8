// Whether a process still has what its service's list says, asked every few seconds as its own login. A right that is missing would show only where it is needed,
// perhaps in the one moment that counts: so health is red from the start, and the log says which.
import type pg from "pg";
import { messageOf } from "../../../contracts/src/fault.ts";
import type { StoreProcess } from "../../../contracts/src/platform-services.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import { schemaName } from "../connection.ts";
import { functionGrants, tableGrants, type WriteRight } from "./table-grants.ts";

interface GrantWatchOptions {
  readonly pool: pg.Pool;
  readonly service: StoreProcess;
  readonly timers: Timers;
  readonly log: Log;
  /** Default 5,000. */
  readonly everyMs?: number;
}

export interface GrantWatch {
  /** What is missing; undefined when nothing is, or when the database did not answer, which others report. */
  complaint(): string | undefined;
  /** Asks now. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface Right {
  readonly object: string;
  readonly column: string | undefined;
  readonly right: string;
}

const question = `
select object, "column", "right" from unnest($1::text[], $2::text[], $3::text[]) as wanted (object, "column", "right")
where not case
  when "right" = 'execute' then has_function_privilege(object, "right")
  when "column" is not null then has_column_privilege(object, "column", "right")
  else has_table_privilege(object, "right") end`;

export function watchGrants(options: GrantWatchOptions): GrantWatch {
  const { pool, service, timers, log } = options;
  const rights = rightsOf(service);
  const values = [
    rights.map(({ object }) => object),
    rights.map(({ column }) => column ?? null),
    rights.map(({ right }) => right),
  ];
  const ending = new AbortController();
  let complaint: string | undefined;

  async function look(): Promise<void> {
    const { rows } = await pool.query({ name: "own_grants", text: question, values });
    const missing = rows.map(
      ({ object, column, right }) => `${right} on ${object}${column === null ? "" : ` (${column})`}`,
    );
    const now =
      missing.length === 0
        ? undefined
        : `the database login lacks ${missing.length} of its rights, such as ${missing[0]}: start the platform again, which grants them`;
    if (now !== complaint) {
      if (now === undefined) log.info("the database login has its rights again");
      else log.error("the database login lacks rights", { missing: missing.slice(0, 20) });
    }
    complaint = now;
  }

  const living = (async () => {
    while (!ending.signal.aborted) {
      await look().catch((error: unknown) => log.debug("own rights were not read", { reason: messageOf(error) }));
      await timers.sleep(options.everyMs ?? 5_000, ending.signal);
    }
  })();

  return {
    complaint: () => complaint,
    look,
    close: async () => {
      ending.abort();
      await living;
    },
  };
}

function rightsOf(service: StoreProcess): readonly Right[] {
  const tables = Object.entries(tableGrants).flatMap(([table, { read, write }]) => {
    const object = `${schemaName}.${table}`;
    const reading: readonly Right[] = read.includes(service) ? [{ object, column: undefined, right: "select" }] : [];
    return [...reading, ...(write[service] ?? []).flatMap((right) => rightOf(object, right))];
  });
  const functions = Object.entries(functionGrants).flatMap(([name, services]): readonly Right[] =>
    services.includes(service) ? [{ object: `${schemaName}.${name}`, column: undefined, right: "execute" }] : [],
  );
  return [...tables, ...functions];
}

function rightOf(object: string, text: WriteRight): readonly Right[] {
  const [right = "", columns] = text.replace(")", "").split(" (");
  if (columns === undefined) return [{ object, column: undefined, right }];
  return columns.split(", ").map((column) => ({ object, column, right }));
}
