// What a failed append means, and what must be known before the first one.
import { Fault } from "../../../contracts/src/fault.ts";
import type { JournalBatch } from "../../../ports/risk-store.ts";
import type { Call } from "../../library-internals/prepared-call.ts";
import { isDefiniteCommit, storeFault } from "../store-fault.ts";

export const riskAppend: Call = { name: "risk_append", text: "select risk_append($1, $2, $3)" };

/** Raised by `risk_append`. */
const staleWriterEpoch = "PR001";

/** The composite type's number in this database, which the binary form must name. */
export const entryTypeText = "select 'risk_entry'::regtype::oid as number";

/** What a failed append means. Only what the server itself refused, and said so in a session that lives on, is certain. */
export function appendFault(thrown: unknown, batch: JournalBatch): Fault {
  const condition = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (condition === staleWriterEpoch) {
    return new Fault("STORE_CONFLICT", "another engine has taken the writer epoch, or an outcome was asked for since", {
      retry: "never",
      facts: { writerEpoch: batch.writerEpoch },
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
  // A conflict says here that the writer epoch is gone for good, and a collision does not.
  if (fault.code !== "STORE_CONFLICT") return fault;
  return new Fault("STORE_UNAVAILABLE", fault.message, { retry: "later", facts: fault.facts });
}
