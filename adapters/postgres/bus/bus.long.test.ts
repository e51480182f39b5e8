// A planted reader on PostgreSQL that the suite of the bus must catch. The suite waits its whole patience for what never comes.
import type pg from "pg";
import { describe, expect, it } from "vitest";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Bus } from "../../../ports/bus.ts";
import { runBusCheck } from "../../../testkit/conformance/bus.ts";
import type { BusFixture } from "../../../testkit/conformance/bus-fixture.ts";
import { lateCommit } from "../../../testkit/conformance/bus-order.ts";
import { postgresBusFixture } from "../../../testkit/postgres-fixture.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { openPool } from "../connection.ts";

/** The obvious reader: everything above the highest id seen so far. */
function byHighestId(bus: Bus, pool: pg.Pool, ended: AbortSignal): Bus {
  return {
    ...bus,
    async subscribe(_options, handler) {
      let highest = 0n;
      const reading = read();
      async function read(): Promise<void> {
        while (!ended.aborted) {
          const { rows } = await pool.query("select * from outbox where id > $1 order by id", [String(highest)]);
          for (const row of rows) {
            const payload: unknown = JSON.parse(row.payload.toString("utf8"));
            const { event_id: id, subject, key, source } = row;
            await handler({ id, subject, key, source, at: Number(row.at_us) as Instant, payload });
            highest = BigInt(row.id);
          }
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
      return { handledCount: () => 0, droppedCount: () => 0, caughtUpAt: () => undefined, close: () => reading };
    },
  };
}

async function plantedFixture(): Promise<BusFixture> {
  const fixture = await postgresBusFixture();
  const pool = openPool(fixture.owner, { log: quietLog, applicationName: "planted reader" });
  const ending = new AbortController();
  const close = async (): Promise<void> => {
    ending.abort();
    // tidy: sleeps because the planted reader does not say when it has ended.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await pool.end();
    await fixture.close();
  };
  return { ...fixture, bus: byHighestId(fixture.bus, pool, ending.signal), close };
}

describe("the suite catches, on PostgreSQL", () => {
  it("a reader that goes by the highest id (bus promise 1)", async () => {
    await expect(runBusCheck(lateCommit, plantedFixture)).rejects.toThrow(/the late event/);
  });
});
