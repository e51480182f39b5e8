// Limits, halts and valuations in a transaction. What must not change under a caller's feet has one row that is locked: the head of a
// fund's envelopes, the halts' epoch. Whoever waited for such a row and finds it changed collides and is run again by the store; so what is read with
// the lock is what holds under it. A halt's statements have names: the server plans them once, because people and orders wait for them.
import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { RiskRecords } from "../../../ports/store.ts";
import { storableId } from "../storable-text.ts";
import type { Sql } from "../store-transaction.ts";

export function riskRecords(sql: Sql, clock: Clock): RiskRecords {
  /** As long as this transaction lasts nobody else moves it. */
  let lockedEpoch: number | undefined;

  async function lockHalts(): Promise<{ readonly epoch: number; readonly active: readonly ActiveHalt[] }> {
    const { rows } = await sql.write({
      name: "halt_lock",
      text: `select epoch, (select json_agg(content order by epoch) from halt where lifted_us is null) as active
             from halt_epoch for update`,
    });
    lockedEpoch = Number(rows[0]?.epoch);
    return { epoch: lockedEpoch, active: rows[0]?.active ?? [] };
  }

  /** Undefined when there is one with this id already, in force or lifted. */
  async function insertHalt(halt: ActiveHalt): Promise<ActiveHalt | undefined> {
    const { rowCount } = await sql.write({
      name: "halt_insert",
      text: `with fresh as (select where not exists (select from halt where halt_id = $1)),
                  moved as (update halt_epoch set epoch = $2 where exists (select from fresh))
             insert into halt (halt_id, epoch, severity, fund_id, strategy_id, reason, requested_by, since_us, content)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9 from fresh`,
      values: [
        halt.halt_id,
        halt.epoch,
        halt.severity,
        halt.fund_id,
        halt.strategy_id ?? null,
        halt.reason,
        halt.requested_by,
        parse(halt.since),
        JSON.stringify(halt),
      ],
    });
    return rowCount === 1 ? halt : undefined;
  }

  return {
    lockHalts,
    async lockEnvelope(fundId) {
      const id = storableId(fundId);
      await sql.write({
        text: "insert into risk_envelope_head (fund_id, version) values ($1, -1) on conflict (fund_id) do nothing",
        values: [id],
      });
      const found = await sql.write({
        text: `select e.content from risk_envelope_head h left join risk_envelope e using (fund_id, version)
               where h.fund_id = $1 for update of h`,
        values: [id],
      });
      return found.rows[0]?.content ?? undefined;
    },
    async putEnvelope(envelope) {
      const { fund_id: fundId, version } = envelope;
      const setAt = envelope.updated_at === undefined ? clock.now() : parse(envelope.updated_at);
      const inserted = await sql.write({
        text: `insert into risk_envelope (fund_id, version, set_us, hash, content) values ($1, $2, $3, $4, $5)
               on conflict (fund_id, version) do nothing`,
        values: [fundId, version, setAt, envelope.hash ?? "", JSON.stringify(envelope)],
      });
      if (inserted.rowCount !== 1) {
        throw new Fault("STORE_CONFLICT", `version ${version} of the envelope of ${fundId} exists already`, {
          retry: "now",
          facts: { fund_id: fundId, version },
        });
      }
      await sql.write({
        text: `insert into risk_envelope_head as head (fund_id, version) values ($1, $2)
               on conflict (fund_id) do update set version = greatest(head.version, excluded.version)`,
        values: [fundId, version],
      });
    },
    async latchHalt(halt) {
      const epoch = (lockedEpoch ?? (await lockHalts()).epoch) + 1;
      const latched = await insertHalt({ ...halt, epoch });
      if (latched === undefined) {
        const known = await sql.read({ text: "select content from halt where halt_id = $1", values: [halt.halt_id] });
        return known.rows[0]?.content;
      }
      lockedEpoch = epoch;
      return latched;
    },
    async liftHalts(haltIds, at, rule = { kind: "scope" }) {
      const { active } = await lockHalts();
      const inForce = new Set(active.map(({ halt_id: id }) => id));
      const missing = haltIds.find((id) => !inForce.has(id));
      if (missing !== undefined) {
        throw new Fault("STORE_CONFLICT", `the halt ${missing} is not in force`, { retry: "now" });
      }
      const { requestId = null, subject = null } = { ...rule } as { requestId?: string; subject?: string };
      const lifted = await sql.write({
        // What it changes stands there for whoever looks for changes without an event.
        text: "select lift_halts($1, $2, $3, $4, $5) as epoch -- update halt, update halt_epoch",
        values: [[...haltIds], at, rule.kind, requestId, subject],
      });
      lockedEpoch = Number(lifted.rows[0]?.epoch);
      return lockedEpoch;
    },
    async putNav(nav, believedUntil) {
      const put = await sql.write({
        text: `insert into risk_nav as known (fund_id, as_of_us, content) values ($1, $2, $3)
               on conflict (fund_id) do update set as_of_us = excluded.as_of_us, content = excluded.content
               where known.as_of_us < excluded.as_of_us or (known.as_of_us > $4
                 and ($5::bigint is null or $5::bigint > coalesce((known.content->>'sequence')::bigint, 0)))`,
        values: [nav.fund_id, parse(nav.as_of), JSON.stringify(nav), believedUntil, nav.sequence ?? null],
      });
      return put.rowCount === 1;
    },
  };
}
