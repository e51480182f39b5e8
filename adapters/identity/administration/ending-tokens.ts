// What ends by itself is noticed: a machine's token 14 days before it runs out, by an alarm, once, whatever restarts in between; a request that nobody
// signed in time, by its event.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { format, fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import { developmentActor } from "../development-operators.ts";
import { endRequest, listOverdue } from "./identity-requests.ts";

interface EndingTokensOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Default one minute. */
  readonly everyMs?: number;
}

interface EndingTokens {
  /** One round now: how many alarms were raised. */
  round(): Promise<number>;
  close(): Promise<void>;
}

/** One that lives for less than twice as long is reported when half of its life is over. */
const noticeMs = 14 * 86_400_000;
const portionMax = 100;
const by = "service:gateway";

interface EndingRow {
  readonly id: string;
  readonly name: string;
  readonly expires_us: string;
}

export function startEndingTokens(options: EndingTokensOptions): EndingTokens {
  const { store, clock, timers, log, everyMs = 60_000 } = options;
  const closing = new AbortController();

  /** Alarm and note are one transaction: it is raised once, also when the process dies in between. */
  function warn(row: EndingRow, at: Instant): Promise<void> {
    return store.transactSql("identity.token_ending", async ({ events }, sql) => {
      const noted = await sql.write({
        text: `insert into service_token_use (token_id, warned_us) values ($1, $2)
               on conflict (token_id) do update set warned_us = $2 where service_token_use.warned_us is null`,
        values: [row.id, at],
      });
      if (noted.rowCount === 0) return;
      const end = format(fromMicroseconds(Number(row.expires_us)));
      await events.publish(subjects.alarmRaised, {
        code: "SERVICE_TOKEN_ENDING",
        level: alarms.SERVICE_TOKEN_ENDING.level,
        service: "gateway",
        sentence: `The token ${row.id} of service:${row.name} runs out at ${end}: give it a successor with \`ctl auth tokens rotate ${row.id}\`, or revoke it.`,
        facts: { about: row.id },
        at: format(at),
      });
    });
  }

  async function warnAll(at: Instant): Promise<number> {
    const rows = await store.transactSql("identity.token_endings_look", async (_unit, sql) => {
      const found = await sql.read({
        text: `select id, name, expires_us::text from service_token
               where revoked_us is null and rotated_to is null and expires_us > $1 and created_by <> $3
                 and expires_us - least($2::bigint, (expires_us - created_us) / 2) <= $1
                 and not exists (select from service_token_use where token_id = id and warned_us is not null)
               order by expires_us limit ${portionMax}`,
        values: [at, noticeMs * 1_000, developmentActor],
      });
      return found.rows as readonly EndingRow[];
    });
    for (const row of rows) await warn(row, at);
    return rows.length;
  }

  async function endOverdue(at: Instant): Promise<void> {
    const overdue = await store.transactSql("identity.request_overdue_look", (_unit, sql) =>
      listOverdue(sql, at, "look"),
    );
    if (overdue.length === 0) return;
    await store.transactSql("identity.request_overdue", async ({ events }, sql) => {
      for (const request of await listOverdue(sql, at, "lock")) {
        await endRequest(sql, events, request, { outcome: "expired", by, at });
      }
    });
  }

  async function round(): Promise<number> {
    const at = clock.now();
    await endOverdue(at);
    return warnAll(at);
  }

  const living = (async () => {
    while (!closing.signal.aborted) {
      await timers.sleep(everyMs, closing.signal);
      if (closing.signal.aborted) return;
      await round().catch((thrown: unknown) =>
        log.warn("tokens that run out were not reported", { reason: messageOf(thrown) }),
      );
    }
  })();

  return {
    round,
    async close() {
      closing.abort();
      await living;
    },
  };
}
