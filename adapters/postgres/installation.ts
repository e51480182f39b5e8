// Whose database this is. Two platforms on one database would write over each other: the database carries an id, the data folder has it in a file,
// and a folder that has another one, or none, is refused before anything is written.
//
//  1. A database that no start has claimed is claimed by the first, with the folder's id or a new one.
//  2. A folder that belongs elsewhere comes in only when somebody names the database's id on purpose; hosts that run some of the services do so once.
//  3. Of two starts that claim at once one wins, and the other is refused.
//  4. A start that is killed while it claims is let in by the next one with its folder.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { InstallationFile } from "../system/installation-file.ts";
import { type ConnectionTarget, schemaName } from "./connection.ts";
import { connectAsOwner, storeFault } from "./migrate.ts";

interface InstallationOptions {
  readonly owner: ConnectionTarget;
  readonly file: InstallationFile;
  /** The id that somebody named on purpose. */
  readonly adopt: string | undefined;
  readonly random: Random;
  readonly log: Log;
}

/** Before anything is written: whether this folder may use the database. */
export async function checkInstallation(options: InstallationOptions): Promise<void> {
  const id = await withClient(options, claimedBy);
  if (id === undefined) {
    if (options.adopt === undefined || options.adopt === options.file.read()) return;
    throw new Fault(
      "DATABASE_FOREIGN",
      `The database belongs to no installation, so ${options.adopt} cannot be adopted. Start without --adopt.`,
      { retry: "never" },
    );
  }
  refuseForeign(options, id);
  if (options.file.read() === id) return;
  options.file.write(id);
  options.log.warn("the data folder was made part of the installation that the database belongs to", { id });
}

/** After the migrations: whoever is first says whose the database is. */
export async function claimInstallation(options: InstallationOptions): Promise<void> {
  const wanted = options.file.read() ?? options.random.uuid();
  // Before the database knows: a start that is killed in between must find its own folder let in the next time.
  if (options.file.read() === undefined) options.file.write(wanted);
  const id = await withClient(options, async (client) => {
    const table = `${schemaName}.installation`;
    await client.query(`insert into ${table} (id) values ($1) on conflict do nothing`, [wanted]);
    return claimedBy(client);
  });
  if (id !== wanted) refuseForeign(options, id ?? "");
}

function refuseForeign({ file, adopt }: InstallationOptions, id: string): void {
  const own = file.read();
  if (own === id || adopt === id) return;
  const whose = own === undefined ? "is of no installation" : `is of installation ${own}`;
  const sentence =
    `The database belongs to installation ${id}, and the data folder ${file.folder} ${whose}. ` +
    "Nothing was written. Use the installation's own folder or another database; to make this folder part of that installation on purpose " +
    `(another host of it, or its folder was lost): npm start -- --adopt ${id}`;
  throw new Fault("DATABASE_FOREIGN", sentence, { retry: "never", facts: { installation: id } });
}

/** Undefined for a database that nobody has claimed, one without our tables included. */
async function claimedBy(client: pg.Client): Promise<string | undefined> {
  const table = await client.query<{ readonly found: string | null }>("select to_regclass($1)::text as found", [
    `${schemaName}.installation`,
  ]);
  if (table.rows[0]?.found == null) return undefined;
  const { rows } = await client.query<{ readonly id: string }>(`select id from ${schemaName}.installation`);
  return rows[0]?.id;
}

async function withClient<Value>(
  { owner, log }: InstallationOptions,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = await connectAsOwner(owner, log);
  try {
    return await work(client);
  } catch (error) {
    throw storeFault(error);
  } finally {
    await client.end();
  }
}
