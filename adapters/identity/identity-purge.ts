// Forgetting: what ran out is removed every minute, in bounded portions. Nothing that could still be used, or whose absence would
// make something else usable, is touched; a token that a start made from the development operators' file stays as long as they do,
// because that file could bring it back.
import { messageOf } from "../../contracts/src/fault.ts";
import { type Instant, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { pendingMsMax } from "./second-factors.ts";

interface IdentityPurgeOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Default one minute. */
  readonly everyMs?: number;
  /** Rows of one transaction at most; default 500. */
  readonly portionRows?: number;
}

interface IdentityPurge {
  /** One round now: how many rows went. */
  round(): Promise<number>;
  close(): Promise<void>;
}

interface Kind {
  readonly table: string;
  readonly which: string;
  readonly remove: "delete" | "clear pending";
  /** How long a row stays after its end: clocks disagree, and people ask what a dead token was. */
  readonly afterMs: number;
}

const clockSlackMs = 60_000;
/** A device whose code expired is told so for a while, and not that there never was one. */
const expiredDeviceCodeMs = 3_600_000;
/** They end by the server's clock, which may be an hour behind ours. */
const oldAnswerMs = 2 * 3_600_000;
const deadTokenMs = 30 * 86_400_000;
const portionsMax = 100;

const kinds: readonly Kind[] = [
  {
    table: "oidc_state",
    which: "expires_us <= $1 and model = 'DeviceCode'",
    remove: "delete",
    afterMs: expiredDeviceCodeMs,
  },
  { table: "oidc_state", which: "expires_us <= $1 and model <> 'DeviceCode'", remove: "delete", afterMs: clockSlackMs },
  { table: "step_up_proof", which: "expires_us <= $1", remove: "delete", afterMs: clockSlackMs },
  { table: "identity_revocation", which: "until_us <= $1", remove: "delete", afterMs: clockSlackMs },
  {
    table: "service_token",
    which:
      "not (development and created_by = 'service:gateway') and least(expires_us, coalesce(revoked_us, expires_us)) <= $1" +
      // Which token a login of NATS spoke for last stays known.
      " and (nats_logins is null or exists (select from service_token newer where newer.created_us > service_token.created_us and newer.nats_logins @> service_token.nats_logins))",
    remove: "delete",
    afterMs: deadTokenMs,
  },
  {
    table: "identity_request",
    which: "outcome is not null and expires_us <= $1",
    remove: "delete",
    afterMs: deadTokenMs,
  },
  { table: "code_answer", which: "expires_us <= $1", remove: "delete", afterMs: oldAnswerMs },
  { table: "second_factor", which: "pending_us <= $1", remove: "clear pending", afterMs: pendingMsMax + clockSlackMs },
];

export function startIdentityPurge(options: IdentityPurgeOptions): IdentityPurge {
  const { store, clock, timers, log, everyMs = 60_000, portionRows = 500 } = options;
  const closing = new AbortController();

  /** Looks before it removes: an empty delete would still tell every process that something changed. */
  function portion(kind: Kind, before: Instant): Promise<number> {
    const some = `select ctid from ${kind.table} where ${kind.which} limit $2`;
    const change =
      kind.remove === "delete"
        ? `delete from ${kind.table} where ctid in (${some}) and ${kind.which}`
        : `update ${kind.table} set pending_sealed = null, pending_us = null, pending_session = null where ctid in (${some}) and ${kind.which}`;
    return store.transactSql(`identity.purge_${kind.table}`, async (_unit, sql) => {
      const values = [before, portionRows];
      if ((await sql.read({ text: some, values })).rowCount === 0) return 0;
      return (await sql.write({ text: change, values })).rowCount ?? 0;
    });
  }

  async function round(): Promise<number> {
    let removed = 0;
    for (const kind of kinds) {
      const before = minusMilliseconds(clock.now(), kind.afterMs);
      for (let count = 0; count < portionsMax && !closing.signal.aborted; count += 1) {
        const gone = await portion(kind, before);
        removed += gone;
        if (gone < portionRows) break;
      }
    }
    return removed;
  }

  const living = (async () => {
    while (!closing.signal.aborted) {
      await timers.sleep(everyMs, closing.signal);
      if (closing.signal.aborted) return;
      await round().catch((thrown: unknown) => log.warn("what ran out was not removed", { reason: messageOf(thrown) }));
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
