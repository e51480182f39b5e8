// What the first start on a database decides for good about its paper platform, and how fast its market has run since. Kept in the database, because
// positions, the broker's books and the market's past must be of one mind, whatever later starts are configured to.
//
//  1. Whether it began with the paper funds is decided once; the seeds of every service and the broker's books follow that and nothing else.
//  2. Asking for paper funds by name (`always`) where it began without them is refused: half of them could no longer be put in.
//  3. Another seed of the market is refused: it would rewrite the past that bars, values and backtests tell of.
//  4. Another speed counts from the start that brought it.
// The rows stand beside the configuration of the last start, under a name that no service has.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { SpeedChange } from "../../core/paper/market-time.ts";
import type { Configuration } from "../configuration/schema.ts";
import { storeFault } from "../postgres/store-fault.ts";

export interface PaperBeginnings {
  /** Whether it began with the paper funds, their limits, positions and reference data. */
  readonly seeded: boolean;
  readonly speeds: readonly SpeedChange[];
}

export interface PaperRequests {
  readonly configuration: Pick<Configuration, "market" | "paper" | "services"> & {
    readonly database: Pick<Configuration["database"], "url">;
  };
  readonly now: Instant;
}

const service = "paper";
/** "ptcl" and "papr" in ASCII: of processes that start together, one writes and the others read. */
const lockKeys = [0x7074_636c, 0x7061_7072];
const speedForm = /^speed\.(\d+)$/;
const speedChangesMax = 1_000;

/**
 * Only in a database of its own does the platform put paper funds in without being asked for, and only with the service that puts them in: a
 * platform without treasury is somebody's own, and limits of funds that are not there would be waiting for theirs.
 */
export function wantsPaperFunds({ database, paper, services }: PaperRequests["configuration"]): boolean {
  if (paper.seed !== "auto") return paper.seed === "always";
  return database.url === undefined && services.includes("treasury");
}

export async function paperBeginnings(pool: pg.Pool, requests: PaperRequests): Promise<PaperBeginnings> {
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query("begin");
    const beginnings = await settled(client, requests);
    await client.query("commit");
    client.release();
    return beginnings;
  } catch (thrown) {
    // Closing the connection undoes what was begun.
    client?.release(true);
    throw thrown instanceof Fault ? thrown : storeFault(thrown, "reading how the paper platform began");
  }
}

async function settled(client: pg.PoolClient, { configuration, now }: PaperRequests): Promise<PaperBeginnings> {
  await client.query("select pg_advisory_xact_lock($1::int, $2::int)", lockKeys);
  const { rows } = await client.query("select path, shown from configuration_value where service = $1", [service]);
  const kept = new Map<string, string>(rows.map(({ path, shown }) => [path, shown]));
  const keep = async (path: string, shown: string): Promise<void> => {
    const text = "insert into configuration_value (service, path, shown, digest) values ($1, $2, $3, 'kept')";
    await client.query(text, [service, path, shown]);
    kept.set(path, shown);
  };
  const { market, paper } = configuration;
  if (!kept.has("began")) await keep("began", (await beginsSeeded(client, configuration)) ? "seeded" : "empty");
  const seeded = kept.get("began") === "seeded";
  if (paper.seed === "always" && !seeded) throw beganEmpty();
  if (!kept.has("seed")) await keep("seed", String(market.seed));
  if (kept.get("seed") !== String(market.seed)) throw anotherSeed(kept.get("seed") ?? "", market.seed);
  if (speedsOf(kept).at(-1)?.speed !== market.speed) {
    const changes = speedsOf(kept).length;
    if (changes >= speedChangesMax) throw tooManySpeeds();
    await keep(`speed.${changes === 0 ? 0 : now}`, String(market.speed));
  }
  return { seeded, speeds: speedsOf(kept) };
}

/** A database from before this was written down has the answer in its books. */
async function beginsSeeded(client: pg.PoolClient, configuration: PaperRequests["configuration"]): Promise<boolean> {
  const { rows } = await client.query(
    `select begun, exists (select from paper_position) or exists (select from oms_fill where fill_id like 'seed-%') as seeded
     from paper_head`,
  );
  return rows[0]?.begun === true ? rows[0].seeded : wantsPaperFunds(configuration);
}

function speedsOf(kept: ReadonlyMap<string, string>): readonly SpeedChange[] {
  return [...kept]
    .flatMap(([path, shown]): readonly SpeedChange[] => {
      const us = speedForm.exec(path)?.[1];
      return us === undefined ? [] : [{ from: fromMicroseconds(Number(us)), speed: Number(shown) }];
    })
    .sort((left, right) => left.from - right.from);
}

function refused(sentence: string): Fault {
  return new Fault("CONFIGURATION_INVALID", sentence, { retry: "never" });
}

const beganEmpty = (): Fault =>
  refused(
    "paper.seed is `always`, but this database began without the paper funds, and its broker's books as well: " +
      "take another data folder or database for them, or leave paper.seed out.",
  );

const anotherSeed = (before: string, now: number): Fault =>
  refused(
    `market.seed is ${now}, but this database's market began with ${before}, and another seed would rewrite its past: ` +
      `take another data folder or database, or set market.seed to ${before}.`,
  );

const tooManySpeeds = (): Fault =>
  refused(
    `market.speed was changed ${speedChangesMax} times on this database; leave it as it is, or take another one.`,
  );
