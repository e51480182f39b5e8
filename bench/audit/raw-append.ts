// The limit of an append: the same rows, chained with SHA-256 and written with one multi-row insert per batch, into a table with the same columns and a
// primary key, by one connection that waits for the disk as ours does. No JSON is made, nothing is looked up, there is no tree and no
// checkpoint, no index by event or subject, no event for the bus, and nobody waits for a single entry.
import { hash } from "node:crypto";
import { type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { systemSha256OfBytes } from "../../adapters/system/signing.ts";
import { makeEntry, withoutHashes } from "../../core/audit/entry.ts";
import type { AppendRequest } from "../../services/operations/audit/log/append-request.ts";
import { quietLog } from "../bus/ticket.ts";
import { requestOf } from "./append-requests.ts";

const tableText = `
create table bench_audit_raw (
  sequence bigint primary key, event_id text not null, subject_id text not null, action text not null, text bytea not null
) with (toast_tuple_target = 8160);
alter table bench_audit_raw alter column text set storage external`;

export interface RawAppend {
  /** Appends batches for so long; answers entries per second. */
  run(windowMs: number): Promise<number>;
  close(): Promise<void>;
}

/** Texts that are used again and again: making them is not part of the limit. */
const textCount = 2_048;

export async function openRawAppend(address: DatabaseAddress, batchEntries: number): Promise<RawAppend> {
  const client = await openClient(address.owner, { log: quietLog, applicationName: "bench audit raw" });
  await client.query(tableText);
  await client.query("set synchronous_commit = on");
  const requests = Array.from({ length: textCount }, (_unused, n) => requestOf(n));
  const sixes = requests.map(sixOf);
  const places = Array.from(
    { length: batchEntries },
    (_unused, n) => `(${[1, 2, 3, 4, 5].map((column) => `$${5 * n + column}`).join()})`,
  );
  const text = `insert into bench_audit_raw values ${places.join()}`;
  let sequence = 0;
  let previous = "0".repeat(64);

  async function append(): Promise<void> {
    const values: unknown[] = [];
    for (let n = 0; n < batchEntries; n += 1) {
      const [six, request] = [sixes[sequence % textCount], requests[sequence % textCount]];
      if (six === undefined || request === undefined) throw new RangeError("there are no texts");
      six.write(previous, 0, "latin1");
      previous = hash("sha256", six, "hex");
      // As long as the text of an entry: its six fields and the two hashes with their names.
      const whole = Buffer.allocUnsafe(six.length - 64 + hashRunBytes);
      six.copy(whole, 0, 64);
      whole.write(previous, six.length - 64, "latin1");
      six.copy(whole, six.length, 0, 64);
      whole.fill(0x20, six.length + 64);
      values.push(sequence, request.eventId, request.subjectId, request.action, whole);
      sequence += 1;
    }
    await client.query({ name: "bench_audit_raw", text, values });
  }

  return {
    async run(windowMs) {
      const [first, began] = [sequence, performance.now()];
      while (performance.now() - began < windowMs) await append();
      return ((sequence - first) * 1_000) / (performance.now() - began);
    },
    close: () => client.end(),
  };
}

/** `,"hash":"","prev_hash":""` and two times 64 digits. */
const hashRunBytes = 153;

/** The bytes that are hashed: room for the hash before, and the text of the six fields. */
function sixOf({ actor, action, subjectId, data }: AppendRequest, n: number): Buffer {
  const fields = { sequence: 1_000_000 + n, timestamp: "2026-11-15T09:30:00.123456Z", actor, action, data };
  const entry = makeEntry({ ...fields, subject_id: subjectId, prev_hash: "0".repeat(64) }, systemSha256OfBytes);
  return Buffer.concat([Buffer.alloc(64), withoutHashes(entry.text) ?? Buffer.alloc(0)]);
}
