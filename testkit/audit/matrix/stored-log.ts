// The log in PostgreSQL, in the hands of the database's superuser: triggers and constraints are out of the way, rows can be whatever somebody wants
// them to be. Verified as the running platform does it, through the app's role.
import type pg from "pg";
import { openClient } from "../../../adapters/postgres/connection.ts";
import { fromMicroseconds, tryParse } from "../../../contracts/src/instant.ts";
import type { AuditFault } from "../../../core/audit/fault.ts";
import { readPolicy } from "../../../core/audit/policy.ts";
import { readVerifierKey, type VerifierKey } from "../../../core/audit/signed-note.ts";
import type { AuditLog } from "../../../ports/audit-log.ts";
import { type VerifyPorts, verifyLog } from "../../../services/operations/audit/checking/verify.ts";
import { auditFixture, type PostgresAuditFixture } from "../../audit-fixtures.ts";
import { quietLog } from "../../quiet-log.ts";
import { sha256, verifySignature } from "../keys.ts";
import { nowS, origin as originDefault, type Trust, type Verdict } from "../test-log.ts";

/** What is stored: the texts in order, and notes under the sizes that their rows claim. */
export interface StoredContent {
  readonly texts: readonly Uint8Array[];
  readonly checkpoints: readonly { readonly size: number; readonly note: string }[];
}

export interface StoredLog {
  readonly audit: AuditLog;
  readonly fixture: PostgresAuditFixture;
  /** Anything, as the superuser. */
  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  /** Replaces everything, and moves the head to the last row. */
  store(content: StoredContent): Promise<void>;
  verify(trust: Trust, from?: number): Promise<Verdict>;
  ports(trust: Trust): VerifyPorts;
  close(): Promise<void>;
}

// What stands in a superuser's way, and how far.
const takeAway = `
alter table audit_entry disable trigger all;
alter table audit_checkpoint disable trigger all;
alter table audit_entry drop constraint audit_entry_text_check;
alter table audit_checkpoint drop constraint audit_checkpoint_note_check;`;

export async function openStoredLog(): Promise<StoredLog> {
  const store = auditFixture();
  const fixture = await store.open();
  const owner = await openClient(fixture.database.address.owner, { log: quietLog, applicationName: "superuser" });
  await owner.query(takeAway);
  const query = (text: string, values: readonly unknown[] = []) => owner.query(text, [...values]);
  const ports = (trust: Trust): VerifyPorts => ({ auditLog: fixture.audit, ...trustOf(trust) });
  return {
    audit: fixture.audit,
    fixture,
    query,
    ports,
    async store(content) {
      await owner.query("begin; truncate audit_entry, audit_checkpoint, audit_tile");
      await insert(query, content);
      await owner.query("commit");
    },
    async verify(trust, from = 0) {
      const result = await verifyLog(ports(trust), { from });
      return "fault" in result ? refusal(result.fault) : { ...result, verdict: "yes", level: result.level };
    },
    async close() {
      await owner.end();
      await fixture.close();
      await store.close();
    },
  };
}

function refusal(fault: AuditFault): Verdict {
  return { verdict: "no", ...fault };
}

async function insert(query: StoredLog["query"], { texts, checkpoints }: StoredContent): Promise<void> {
  const rows = texts.map((text, sequence) => ({ sequence, text: Buffer.from(text), ...indexOf(text) }));
  await query(
    `insert into audit_entry (sequence, event_id, subject_id, action, text, at_us)
     select n, case when action = 'chain.genesis' then action else 'event-' || n end, subject_id, action, text, at_us
     from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bigint[]) as e (n, subject_id, action, text, at_us)`,
    [
      ...[rows.map((row) => row.sequence), rows.map((row) => row.subject), rows.map((row) => row.action)],
      ...[texts.map(bytes), texts.map(timeOf)],
    ],
  );
  await query(
    `insert into audit_checkpoint (size, note, at_us)
     select size, note, 0 from unnest($1::bigint[], $2::text[]) as c (size, note)`,
    [checkpoints.map(({ size }) => size), checkpoints.map(({ note }) => note)],
  );
  const last = texts.at(-1);
  await query(`update audit_head set size = $1, hash = $2, "timestamp" = $3`, [texts.length, ...endOf(last)]);
}

const bytes = (text: Uint8Array): Buffer => Buffer.from(text);

/** What stands beside the text; of what is no JSON, nothing that anybody would look for. */
function indexOf(text: Uint8Array): { readonly subject: string; readonly action: string } {
  const [, action = ""] = /^\{"action":"([a-z._]*)"/.exec(bytes(text).toString("latin1")) ?? [];
  const [, subject = ""] = /"subject_id":"([a-z0-9/_-]*)","timestamp"/.exec(bytes(text).toString("latin1")) ?? [];
  return { subject, action };
}

function timeOf(text: Uint8Array): number {
  return tryParse(endOf(text)[1]) ?? 0;
}

/** Hash and time that the last row claims. */
function endOf(text: Uint8Array | undefined): readonly [string, string] {
  const [, hash = "0".repeat(64), time = ""] =
    /"hash":"([0-9a-f]{64})","prev_hash":.*"timestamp":"([^"]*)"\}$/.exec(
      bytes(text ?? new Uint8Array()).toString("latin1"),
    ) ?? [];
  return [hash, time];
}

function trustOf({ vkeys = [], policy, origin }: Trust): Omit<VerifyPorts, "auditLog"> {
  const keys = vkeys
    .map((vkey) => readVerifierKey(vkey, sha256))
    .filter((key): key is VerifierKey => key !== undefined);
  const read = policy === undefined ? undefined : readPolicy(policy, sha256);
  if (read !== undefined && "malformed" in read) throw new Error(read.malformed);
  return {
    clock: { now: () => fromMicroseconds(nowS * 1_000_000) },
    sha256,
    verifySignature,
    origin: origin ?? keys.at(-1)?.name ?? originDefault,
    trustedKeys: keys,
    policy: read,
  };
}
