// What subscriptions put aside, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { AsideEvent, ParkedRecords } from "../../../ports/parked-events.ts";
import type { Sql } from "../store-transaction.ts";

const columns = `subscription, event_id, subject, key, source, at_us, convert_from(payload, 'UTF8') as payload, state, lane, error, attempts,
  first_us, tried_us, parked_us, retry_us, retry_by, retry_reason, taken_us`;
const one = "where subscription = $1 and event_id = $2";
const noRetry = "retry_us = null, retry_by = null, retry_reason = null, taken_us = null";

export function parkedRecords(sql: Sql): ParkedRecords {
  const changed = async (text: string, values: unknown[]): Promise<boolean> =>
    (await sql.write({ text, values })).rowCount === 1;
  const found = async (text: string, values: unknown[]): Promise<AsideEvent[]> =>
    (await sql.read({ text, values })).rows.map(asideOf);
  return {
    put: (event) =>
      changed(
        `insert into parked_event (subscription, event_id, outbox_id, subject, key, source, at_us, payload, error, attempts, parked_us,
           state, lane, first_us, tried_us)
         values ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $10) on conflict do nothing`,
        [
          ...[event.subscription, event.eventId, event.subject, event.key, event.source, event.at],
          ...[Buffer.from(event.payload, "utf8"), event.error, event.attempts, event.now, event.state],
          ...[event.lane ?? null, event.firstTriedAt],
        ],
      ),
    list: (countMax, after) =>
      found(
        `select ${columns} from parked_event where state <> 'DISCARDED'
         and ($2::text is null or place > (select place from parked_event own where own.subscription = $2 and own.event_id = $3))
         order by place limit $1`,
        [countMax, after?.subscription ?? null, after?.eventId ?? null],
      ),
    async counts() {
      const text = `select subscription, count(*) as count, min(parked_us) as since_us from parked_event
                    where state <> 'DISCARDED' group by subscription order by subscription`;
      const { rows } = await sql.read({ name: "parked_counts", text });
      return rows.map(({ subscription, count, since_us: since }) => ({
        subscription,
        count: Number(count),
        since: fromMicroseconds(Number(since)),
      }));
    },
    async lock(subscription, eventId) {
      const text = `select ${columns} from parked_event ${one} for update`;
      const [row] = (await sql.write({ text, values: [subscription, eventId] })).rows;
      return row === undefined ? undefined : asideOf(row);
    },
    async before({ subscription, eventId }) {
      const [first] = await found(
        `select ${columns} from parked_event where subscription = $1 and state <> 'DISCARDED'
         and exists (select from parked_event own where own.subscription = $1 and own.event_id = $2
           and own.place > parked_event.place and own.state = parked_event.state
           and (case when own.state = 'HELD' then own.lane = parked_event.lane else own.key = parked_event.key end))
         order by place limit 1`,
        [subscription, eventId],
      );
      return first;
    },
    async askRetry(subscription, eventId, { at, by, reason }) {
      const set = "retry_us = $3, retry_by = $4, retry_reason = $5, taken_us = null";
      await changed(`update parked_event set ${set} ${one} and state <> 'DISCARDED'`, [
        ...[subscription, eventId, at, by, reason],
      ]);
    },
    withdrawRetry: (subscription, eventId) =>
      changed(`update parked_event set ${noRetry} ${one} and retry_us is not null and taken_us is null`, [
        ...[subscription, eventId],
      ]),
    async discard(subscription, eventId, { at, by, reason }) {
      const set = `state = 'DISCARDED', discarded_us = $3, discarded_by = $4, discard_reason = $5, ${noRetry}`;
      await changed(`update parked_event set ${set} ${one}`, [subscription, eventId, at, by, reason]);
    },
    due: (subscription, perLaneMax) =>
      found(
        `select ${columns} from (
           select *, row_number() over (partition by state, lane order by place) as number from parked_event
           where subscription = $1 and state <> 'DISCARDED') aside
         where (state = 'HELD' and number <= $2) or (state = 'PARKED' and retry_us is not null) order by place`,
        [subscription, perLaneMax],
      ),
    take: (subscription, eventId, at) =>
      changed(`update parked_event set taken_us = $3 ${one} and retry_us is not null and state <> 'DISCARDED'`, [
        ...[subscription, eventId, at],
      ]),
    async failed(subscription, eventId, error, at) {
      const set = `error = $3, tried_us = $4, attempts = attempts + 1, ${noRetry}`;
      await changed(`update parked_event set ${set} ${one} and state <> 'DISCARDED'`, [
        ...[subscription, eventId, error, at],
      ]);
    },
    async remove(subscription, eventId) {
      await changed(`delete from parked_event ${one} and state <> 'DISCARDED'`, [subscription, eventId]);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a row as the driver gives it.
function asideOf(row: any): AsideEvent {
  const moment = (text: string) => fromMicroseconds(Number(text));
  return {
    subscription: row.subscription,
    eventId: row.event_id,
    subject: row.subject,
    key: row.key,
    source: row.source,
    at: moment(row.at_us),
    payload: row.payload,
    state: row.state,
    lane: row.lane ?? undefined,
    error: row.error,
    attempts: row.attempts,
    firstTriedAt: moment(row.first_us),
    triedAt: moment(row.tried_us),
    since: moment(row.parked_us),
    retry:
      row.retry_us === null
        ? undefined
        : {
            at: moment(row.retry_us),
            by: row.retry_by,
            reason: row.retry_reason,
            takenAt: row.taken_us === null ? undefined : moment(row.taken_us),
          },
  };
}
