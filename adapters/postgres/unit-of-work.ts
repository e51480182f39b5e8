// What a transaction's work holds in its hands: the outbox as a buffer that the commit writes, the two small repositories that
// every service needs, and those of single services, which have files of their own.
import { Defect } from "../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { HandledEvents, HashedEvent, Instance, Instances, KnownContent, UnitOfWork } from "../../ports/store.ts";
import { hasEndedSince, redeemOrTell } from "../identity/step-up-proofs.ts";
import { type MayPublish, mustBeForeign, mustBePublisher } from "../transport/publish-authority.ts";
import { encodeEvent, type OutboxEntry } from "./bus/outbox-insert.ts";
import type { Sql } from "./store-transaction.ts";
import { auditAnewRecords } from "./units/audit-anew.ts";
import { auditStandingRecords } from "./units/audit-standing.ts";
import { botRecords } from "./units/bots.ts";
import { configurationRecords } from "./units/configuration.ts";
import { corporateActionRecords } from "./units/corporate-actions.ts";
import { filingStepRecords } from "./units/filing-steps.ts";
import { filingSubmissions } from "./units/filing-submissions.ts";
import { filingRecords } from "./units/filings.ts";
import { firstSeenRecords } from "./units/first-seen.ts";
import { drillRecords, flattenRecords } from "./units/flatten.ts";
import { foreignRecords } from "./units/foreign.ts";
import { haltRecords } from "./units/halts.ts";
import { ledgerRecords } from "./units/ledger.ts";
import { lossRecords } from "./units/losses.ts";
import { marketRecords } from "./units/market.ts";
import { omsRecords } from "./units/oms.ts";
import { paperFaultsRecords } from "./units/paper-faults.ts";
import { parkedRecords } from "./units/parked.ts";
import { quoteRecords } from "./units/quotes.ts";
import { reconcileRecords } from "./units/reconcile.ts";
import { referenceRecords, treasuryRecords } from "./units/reference.ts";
import { reportRunRecords } from "./units/report-runs.ts";
import { reportRecords } from "./units/reports.ts";
import { requestKeyRecords } from "./units/request-keys.ts";
import { researchRecords } from "./units/research.ts";
import { restrictionRecords } from "./units/restrictions.ts";
import { riskRecords } from "./units/risk.ts";
import { signalRecords } from "./units/signals.ts";
import { stopRecords } from "./units/stops.ts";
import { unauditedChangeRecords } from "./units/unaudited-changes.ts";
import { watchdogRecords } from "./units/watchdogs.ts";

interface BufferedUnit {
  readonly unit: UnitOfWork;
  /** Ends the unit and hands over what it published: nothing can be added afterwards. */
  seal(): readonly OutboxEntry[];
}

/** Events of one transaction at most; more than this is a batch job and wants several. */
const eventsMax = 10_000;

export function createUnitOfWork(options: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly source: string;
  readonly mayPublish?: MayPublish;
  /** Sees what is published, also by records that tell of themselves. */
  readonly watchEvents?: (events: UnitOfWork["events"]) => UnitOfWork["events"];
}): BufferedUnit {
  const { clock, random, source } = options;
  const entries: OutboxEntry[] = [];
  let sealed = false;
  const add = <Payload>(from: string, subject: Subject<Payload>, payload: Payload): string => {
    if (sealed) throw new Defect(`an event for ${subject.name} came after the end of its unit of work`);
    if (entries.length >= eventsMax) throw new Defect(`one unit of work published more than ${eventsMax} events`);
    // Encoded at once: what the caller does to the payload afterwards is no longer part of the event.
    const entry = encodeEvent(subject, payload, { eventId: random.uuid(), at: clock.now(), source: from });
    entries.push(entry);
    return entry.eventId;
  };
  const written: UnitOfWork["events"] = {
    async publish(subject, payload) {
      mustBePublisher(options.mayPublish, source, subject.name);
      return add(source, subject, payload);
    },
    async publishFor(foreign, subject, payload) {
      mustBeForeign(options.mayPublish, foreign, subject.name);
      return add(foreign, subject, payload);
    },
  };
  const events = options.watchEvents?.(written) ?? written;
  const unit: UnitOfWork = {
    events,
    handled: handledEvents(options.sql, clock),
    instances: instances(options.sql),
    risk: riskRecords(options.sql, clock),
    halts: haltRecords(options.sql),
    flattens: flattenRecords(options.sql),
    drills: drillRecords(options.sql),
    reference: referenceRecords(options.sql),
    treasury: treasuryRecords(options.sql),
    ledger: ledgerRecords(options.sql),
    losses: lossRecords(options.sql),
    configuration: configurationRecords(options.sql),
    oms: omsRecords(options.sql),
    quotes: quoteRecords(options.sql),
    market: marketRecords(options.sql),
    filings: filingRecords(options.sql),
    filingSteps: filingStepRecords(options.sql),
    filingSubmissions: filingSubmissions(options.sql),
    research: researchRecords(options.sql),
    stops: stopRecords(options.sql),
    reconcile: reconcileRecords(options.sql),
    restrictions: restrictionRecords(options.sql),
    paperFaults: paperFaultsRecords(options.sql),
    corporateActions: corporateActionRecords(options.sql),
    stepUps: {
      redeem: (shown) => redeemOrTell(options.sql, events, shown),
      hasEndedSince: (person, since) => hasEndedSince(options.sql, person, since),
    },
    auditStanding: auditStandingRecords(options.sql),
    firstSeen: firstSeenRecords(options.sql),
    parked: parkedRecords(options.sql),
    auditAnew: auditAnewRecords(options.sql),
    watchdogs: watchdogRecords(options.sql),
    requestKeys: requestKeyRecords(options.sql),
    signals: signalRecords(options.sql),
    reports: reportRecords(options.sql),
    unauditedChanges: unauditedChangeRecords(options.sql),
    reportRuns: reportRunRecords(options.sql),
    foreign: foreignRecords(options.sql),
    bots: botRecords(options.sql),
  };
  return {
    unit,
    seal() {
      sealed = true;
      return entries;
    },
  };
}

function handledEvents(sql: Sql, clock: Clock): HandledEvents {
  return {
    async firstTime(subscription, eventId) {
      const inserted = await sql.write({
        name: "handled_first_time",
        text: "insert into handled_event (subscription, event_id, handled_us) values ($1, $2, $3) on conflict do nothing",
        values: [subscription, eventId, clock.now()],
      });
      return inserted.rowCount === 1;
    },
    async firstTimes(subscription, eventIds) {
      const inserted = await sql.write({
        name: "handled_first_times",
        // In one order for everybody, so that two who name the same ones do not wait for each other.
        text: `insert into handled_event (subscription, event_id, handled_us)
               select $1, event_id, $3 from unnest($2::text[]) as event_id order by event_id
               on conflict do nothing returning event_id`,
        values: [subscription, eventIds, clock.now()],
      });
      return new Set(inserted.rows.map(({ event_id }: { event_id: string }) => event_id));
    },
    async contents(subscription, events) {
      const ids = events.map(({ eventId }) => eventId);
      const inserted = await sql.write({
        name: "handled_contents",
        text: `insert into handled_event (subscription, event_id, handled_us, content)
               select $1, event_id, $4, content from unnest($2::text[], $3::text[]) as event(event_id, content) order by event_id
               on conflict do nothing returning event_id`,
        values: [subscription, ids, events.map(({ hash }) => hash), clock.now()],
      });
      const fresh = new Set(inserted.rows.map(({ event_id }: { event_id: string }) => event_id));
      const known = ids.filter((id) => !fresh.has(id));
      const kept = known.length === 0 ? [] : await contentsOf(sql, subscription, known);
      const before = new Map(kept.map(({ event_id, content }) => [event_id, content]));
      const knownOf = ({ eventId, hash }: HashedEvent): KnownContent => {
        if (fresh.has(eventId)) return "NEW";
        return (before.get(eventId) ?? hash) === hash ? "SAME" : "OTHER";
      };
      return new Map(events.map((event) => [event.eventId, knownOf(event)]));
    },
  };
}

interface ContentRow {
  readonly event_id: string;
  readonly content: string | null;
}

async function contentsOf(sql: Sql, subscription: string, eventIds: readonly string[]): Promise<readonly ContentRow[]> {
  const found = await sql.read({
    name: "handled_contents_kept",
    text: "select event_id, content from handled_event where subscription = $1 and event_id = any($2::text[])",
    values: [subscription, eventIds],
  });
  return found.rows;
}

interface InstanceRow {
  readonly service: string;
  readonly incarnation: string;
  readonly host: string;
  readonly pid: number;
  readonly started_us: string;
  readonly lease_until_us: string;
}

function instances(sql: Sql): Instances {
  return {
    async register(instance) {
      await sql.write({
        text: `insert into service_instance (incarnation, service, host, pid, started_us, lease_until_us)
               values ($1, $2, $3, $4, $5, $6)`,
        values: [
          instance.incarnation,
          instance.service,
          instance.host,
          instance.pid,
          instance.startedAt,
          instance.leaseUntil,
        ],
      });
    },
    async renew(incarnation, leaseUntil) {
      const renewed = await sql.write({
        name: "instance_renew",
        text: "update service_instance set lease_until_us = $2 where incarnation = $1",
        values: [incarnation, leaseUntil],
      });
      return renewed.rowCount === 1;
    },
    async retire(incarnation) {
      await sql.write({ text: "delete from service_instance where incarnation = $1", values: [incarnation] });
    },
    async alive(at) {
      const found = await sql.read({
        name: "instance_alive",
        text: `select service, incarnation, host, pid, started_us, lease_until_us from service_instance
               where lease_until_us > $1 order by started_us, incarnation`,
        values: [at],
      });
      return found.rows.map(instanceOf);
    },
    async declareLost(at) {
      const lost = await sql.write({
        text: `with lost as (
                 delete from service_instance where lease_until_us <= $1
                 returning service, incarnation, host, pid, started_us, lease_until_us
               ) select * from lost order by started_us, incarnation`,
        values: [at],
      });
      return lost.rows.map(instanceOf);
    },
  };
}

function instanceOf(row: InstanceRow): Instance {
  return {
    service: row.service,
    incarnation: row.incarnation,
    host: row.host,
    pid: row.pid,
    startedAt: fromMicroseconds(Number(row.started_us)),
    leaseUntil: fromMicroseconds(Number(row.lease_until_us)),
  };
}
