// What the risk engine reads back from PostgreSQL: the journal, its snapshots, keys and fills, and the newest limits, values and halts.

import type pg from "pg";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { JournalRow, RiskStore } from "../../../ports/risk-store.ts";
import { firstOfEachAsker } from "../../records/askers.ts";
import { storableId } from "../storable-text.ts";
import { kindNames } from "./append-message.ts";

/** Runs one statement; what it throws is a fault already. */
export type Ask = (doing: string, statement: pg.QueryConfig) => Promise<pg.QueryResult>;

type RiskReads = Omit<RiskStore, "append" | "outcomeOf" | "takeWriterEpoch" | "onChange">;

/** Under these it is reported that a halt or an envelope changed. */
export const tellingOfChanges: readonly string[] = [
  subjects.riskHaltRequested,
  subjects.haltRequested,
  subjects.haltLifted,
  subjects.haltStep,
  subjects.envelopeUpdated,
].map(({ name }) => name);

const snapshotsKept = 3;
/** The span of time that the index of keys sorts by first. */
const bucketUs = 300_000_000;
/** More buckets than this are looked through from the first on instead of one by one. */
const bucketsMax = 100;
/** Decisions of two engines may be dated against their order by no more than this. */
export const clockSlackUs = 60_000_000;
/** The condition of the index: an order that repeats a key is not the key's first. In the index's own words, or it is not used. */
const firstOfKey =
  "key_hash is not null and code is distinct from 'DUPLICATE_KEY' and code is distinct from 'KEY_REUSED'";

/** Halts are asked for by a way of their own: whether one is in force must be known however many others wait for the store. */
export function createRiskReads(ask: Ask, askHalts: Ask, clock: Clock): RiskReads {
  return {
    ...journalReads(ask, clock),
    async snapshot() {
      const text = "select through, taken_us, content from risk_snapshot order by through desc limit 1";
      const [row] = (await ask("reading the snapshot", { text })).rows;
      if (row === undefined) return undefined;
      return { through: BigInt(row.through), takenAt: instantOf(row.taken_us), content: row.content };
    },
    async saveSnapshot(snapshot) {
      await ask("saving a snapshot", {
        text: `insert into risk_snapshot (through, taken_us, content) values ($1, $2, $3)
               on conflict (through) do update set taken_us = excluded.taken_us, content = excluded.content`,
        values: [String(snapshot.through), snapshot.takenAt, bufferOf(snapshot.content)],
      });
      await ask("removing old snapshots", {
        text: `delete from risk_snapshot where through < (
                 select min(through) from (select through from risk_snapshot order by through desc limit $1) kept)`,
        values: [snapshotsKept],
      });
    },
    async envelopes() {
      const text =
        "select content from risk_envelope_head join risk_envelope using (fund_id, version) order by fund_id";
      return (await ask("reading the envelopes", { text })).rows.map((row) => row.content);
    },
    async navs() {
      const text = "select content from risk_nav order by fund_id";
      return (await ask("reading the valuations", { text })).rows.map((row) => row.content);
    },
    async haltEpoch() {
      const found = await askHalts("reading the halt epoch", {
        name: "halt_epoch",
        text: "select epoch from halt_epoch",
      });
      return Number(found.rows[0]?.epoch);
    },
    async halts() {
      // One statement, so that the epoch and the halts are of one moment.
      const text = `
        select epoch, array(select content::text from halt where lifted_us is null order by halt.epoch) as active
        from halt_epoch`;
      const [row] = (await askHalts("reading the halts", { name: "halts", text })).rows;
      return { epoch: Number(row.epoch), active: row.active.map((content: string) => parseJson(content)) };
    },
  };
}

/** Of a whole row of the journal, as `rowOf` reads it. */
export const entryColumns =
  "id, kind, at_us, fund_id, order_id, key_hash, body_hash, event_id, approved, code, fill_id, payload";

type JournalReads = Pick<
  RiskReads,
  "entries" | "entriesOfOrder" | "askers" | "keysSince" | "decisionByKey" | "fillEntry" | "knownFills"
>;

function journalReads(ask: Ask, clock: Clock): JournalReads {
  return {
    async entries(after, countMax) {
      const found = await ask("reading the journal", {
        name: "risk_entries",
        text: `select ${entryColumns} from risk_journal where id > $1 order by id limit $2`,
        values: [String(after), countMax],
      });
      return found.rows.map(rowOf);
    },
    async entriesOfOrder(orderId, countMax) {
      // Two conditions, each in the words of its own index.
      const found = await ask("reading an order's entries", {
        name: "risk_entries_of_order",
        text: `select * from (
                 select ${entryColumns} from risk_journal where order_id = $1 and kind = 1
                 union all
                 select ${entryColumns} from risk_journal where order_id = $1 and kind = 2) both_kinds
               order by id limit $2`,
        values: [storableId(orderId), countMax],
      });
      return found.rows.map(rowOf);
    },
    async askers(orderIds) {
      const ids = new Map(orderIds.map((orderId) => [storableId(orderId), orderId]));
      const of = "from risk_journal where order_id = asked.order_id and kind = 1 and approved order by id";
      const found = await ask("looking who asked for orders", {
        name: "risk_askers",
        text: `select asked.order_id, decided.at_us, decided.payload from unnest($1::text[]) as asked (order_id), lateral (
                 (select id, at_us, payload ${of} limit 1) union all (select id, at_us, payload ${of} desc limit 1)) decided
               order by decided.id`,
        values: [[...ids.keys()]],
      });
      const all = found.rows.map((row) => ({
        orderId: ids.get(row.order_id) ?? row.order_id,
        askedBy: DecisionRecord.decode(row.payload).asked_by ?? "",
        at: instantOf(row.at_us),
      }));
      return firstOfEachAsker(all);
    },
    async keysSince(since, after, countMax) {
      const found = await ask("reading keys", {
        text: `select id, key_hash, body_hash, at_us from risk_journal
               where id > greatest($1, (select risk_journal_before($2))) and at_us >= $3 and ${firstOfKey} order by id limit $4`,
        values: [String(after), since - clockSlackUs, since, countMax],
      });
      const last = found.rows.length < countMax ? undefined : found.rows[found.rows.length - 1];
      return {
        keys: found.rows.map((row) => ({ keyHash: row.key_hash, bodyHash: row.body_hash, at: instantOf(row.at_us) })),
        next: last === undefined ? undefined : BigInt(last.id),
      };
    },
    async decisionByKey(keyHash, since) {
      const first = Math.floor(since / bucketUs);
      // One more than now, because whoever decided may have had a faster clock.
      const count = Math.floor(clock.now() / bucketUs) + 2 - first;
      const few = count <= bucketsMax;
      const buckets = few ? Array.from({ length: Math.max(count, 1) }, (_unused, n) => first + n) : first;
      const found = await ask("looking for a key", {
        name: few ? "risk_key" : "risk_key_long_ago",
        text: `select payload from risk_journal
               where at_us / ${bucketUs} ${few ? "= any ($1::bigint[])" : ">= $1::bigint"} and key_hash = $2 and at_us >= $3
                 and ${firstOfKey} order by at_us, id limit 1`,
        values: [buckets, bufferOf(keyHash), since],
      });
      return found.rows[0]?.payload;
    },
    async fillEntry(fillId) {
      const found = await ask("looking for a fill", {
        name: "risk_fill",
        text: "select payload from risk_journal where fill_id = $1",
        values: [storableId(fillId)],
      });
      return found.rows[0]?.payload;
    },
    async knownFills(fillIds) {
      const asked = new Map(fillIds.map((fillId) => [storableId(fillId), fillId]));
      const found = await ask("looking for fills", {
        name: "risk_fills",
        text: "select fill_id from risk_journal where fill_id = any ($1::text[])",
        values: [[...asked.keys()]],
      });
      return new Set(found.rows.map((row) => asked.get(row.fill_id)).filter((fillId) => fillId !== undefined));
    },
  };
}

export interface RawEntry {
  readonly id: string;
  readonly kind: number;
  readonly at_us: string;
  readonly fund_id: string;
  readonly order_id: string;
  readonly key_hash: Buffer | null;
  readonly body_hash: Buffer | null;
  readonly event_id: string | null;
  readonly approved: boolean | null;
  readonly code: string | null;
  readonly fill_id: string | null;
  readonly payload: Buffer;
}

export function rowOf(raw: RawEntry): JournalRow {
  return {
    id: BigInt(raw.id),
    kind: kindNames[raw.kind] ?? "release",
    at: instantOf(raw.at_us),
    fundId: raw.fund_id,
    orderId: raw.order_id,
    ...(raw.key_hash === null ? {} : { keyHash: raw.key_hash }),
    ...(raw.body_hash === null ? {} : { bodyHash: raw.body_hash }),
    ...(raw.event_id === null ? {} : { decisionId: raw.event_id }),
    ...(raw.approved === null ? {} : { approved: raw.approved }),
    ...(raw.code === null ? {} : { code: raw.code }),
    ...(raw.fill_id === null ? {} : { fillId: raw.fill_id }),
    payload: raw.payload,
  };
}

function instantOf(microseconds: string): Instant {
  return fromMicroseconds(Number(microseconds));
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
