// When machines' tokens were last shown, for the list of them. A use costs a look into a set; what was used is written once a minute by each
// process, in one statement, so that no caller can make the store work.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { PostgresStore } from "../../postgres/store.ts";

export interface TokenUses {
  /** Of a token that was proved; as many as there are tokens, so that this cannot grow. */
  note(id: string): void;
  close(): Promise<void>;
}

interface TokenUsesOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Default one minute. */
  readonly everyMs?: number;
}

export function createTokenUses({ store, clock, timers, log, everyMs = 60_000 }: TokenUsesOptions): TokenUses {
  const closing = new AbortController();
  let used = new Set<string>();

  async function write(): Promise<void> {
    if (used.size === 0) return;
    const ids = [...used].sort();
    used = new Set();
    try {
      await store.transactSql("identity.token_used", async (_unit, sql) => {
        // Of those that are still there: a token that was purged meanwhile is nobody's any more.
        await sql.write({
          name: "service_token_used",
          text: `insert into service_token_use (token_id, used_us)
                 select id, $2::bigint from service_token where id = any($1::text[])
                 on conflict (token_id) do update set used_us = greatest(service_token_use.used_us, excluded.used_us)`,
          values: [ids, clock.now()],
        });
      });
    } catch (thrown) {
      // The next use of each is written a minute later; nobody is refused for this.
      log.warn("the last use of machines' tokens was not written", { reason: messageOf(thrown) });
    }
  }

  const living = (async () => {
    while (!closing.signal.aborted) {
      await timers.sleep(everyMs, closing.signal);
      if (!closing.signal.aborted) await write();
    }
  })();

  return {
    note: (id) => void used.add(id),
    async close() {
      closing.abort();
      await living;
      await write();
    },
  };
}
