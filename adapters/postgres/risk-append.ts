// How a batch of the journal travels: one call of `risk_append` with all entries in one binary parameter, so that a batch costs one
// round trip and one commit, and what a failed one means.
import type pg from "pg";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { JournalBatch, JournalEntry, JournalKind } from "../../ports/risk-store.ts";
import { type BinaryColumn, binaryRows } from "./binary-rows.ts";
import { storableId } from "./storable-text.ts";
import { isDefiniteCommit, storeFault } from "./store-fault.ts";

/** As the column has them; the place in this list is the number. */
export const kindNames: readonly (JournalKind | undefined)[] = [undefined, "decision", "fill", "transition", "release"];
const kindNumbers: Readonly<Record<JournalKind, number>> = { decision: 1, fill: 2, transition: 3, release: 4 };
const hashBytes = 16;
/** A parameter has less than a gigabyte; this much is already far more than a batch ever has. */
const batchBytesMax = 256_000_000;
/** Raised by `risk_append`. */
const stalePen = "PR001";

/** In the order of the type `risk_entry`. */
const columns: readonly BinaryColumn<JournalEntry>[] = [
  { type: "smallint", of: (entry) => kindNumbers[entry.kind] },
  { type: "boolean", of: (entry) => entry.approved },
  { type: "bigint", of: (entry) => entry.at },
  { type: "uuid", of: (entry) => entry.decisionId },
  { type: "bytea", of: (entry) => entry.keyHash },
  { type: "bytea", of: (entry) => entry.bodyHash },
  { type: "text", of: (entry) => storableId(entry.fundId) },
  { type: "text", of: (entry) => storableId(entry.orderId) },
  { type: "text", of: (entry) => (entry.code === undefined ? undefined : storableId(entry.code)) },
  { type: "text", of: (entry) => (entry.fillId === undefined ? undefined : storableId(entry.fillId)) },
  { type: "bytea", of: (entry) => entry.payload },
];

/** The composite type's number in this database, which the binary form must name. */
export const entryTypeText = "select 'risk_entry'::regtype::oid as number";

export function appendStatement(batch: JournalBatch, entryType: number): pg.QueryArrayConfig {
  let bytes = 0;
  for (const { keyHash, bodyHash, payload } of batch.entries) {
    bytes += payload.length;
    if (keyHash === undefined && bodyHash === undefined) continue;
    if (keyHash?.length !== hashBytes || bodyHash?.length !== hashBytes) {
      throw new Defect(`the hashes of a journal entry have ${hashBytes} bytes each`);
    }
  }
  if (bytes > batchBytesMax) throw new Defect(`a batch has ${bytes} bytes, more than ${batchBytesMax}`);
  return {
    name: "risk_append",
    text: "select risk_append($1, $2, $3)",
    values: [batch.pen, batch.id, binaryRows(entryType, columns, batch.entries)],
    rowMode: "array",
  };
}

/** What a failed append means. Only what the server itself refused, and said so in a session that lives on, is certain. */
export function appendFault(thrown: unknown, batch: JournalBatch): Fault {
  const condition = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (condition === stalePen) {
    return new Fault("STORE_CONFLICT", "another engine has taken the pen, or an outcome was asked for since", {
      retry: "never",
      facts: { pen: batch.pen },
    });
  }
  if (!isDefiniteCommit(thrown)) {
    return new Fault("STORE_COMMIT_UNKNOWN", "the answer to the commit of a journal batch was lost", {
      retry: "never",
      facts: { transaction: batch.id },
    });
  }
  if (condition === "23505") {
    return new Fault("INVALID_ARGUMENT", "a fill of this batch is in the journal already", { retry: "never" });
  }
  const fault = storeFault(thrown, "appending to the journal");
  // A conflict says here that the pen is gone for good, and a collision does not.
  if (fault.code !== "STORE_CONFLICT") return fault;
  return new Fault("STORE_UNAVAILABLE", fault.message, { retry: "later", facts: fault.facts });
}
