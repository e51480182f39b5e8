// What one commit of the size of a decision costs on this disk at this moment: a row at a time, each in a transaction of its own.
import { type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { quietLog } from "../bus/ticket.ts";

const bytes = Buffer.alloc(2_000, 7);

/** Milliseconds of each. */
export async function measureCommits(database: DatabaseAddress, count: number): Promise<readonly number[]> {
  const client = await openClient(database.owner, { log: quietLog, applicationName: "bench commits" });
  const took: number[] = [];
  try {
    await client.query(
      "create table if not exists bench_commit (id bigint generated always as identity primary key, payload bytea)",
    );
    for (let index = 0; index < count; index += 1) {
      const startedMs = performance.now();
      await client.query({ name: "commit", text: "insert into bench_commit (payload) values ($1)", values: [bytes] });
      took.push(performance.now() - startedMs);
    }
    return took;
  } finally {
    await client.end();
  }
}
