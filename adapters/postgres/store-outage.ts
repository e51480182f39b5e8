// One line when the store goes out of reach and one when it is back: an outage must not fill the disk with what every
// caller that tries meanwhile is told.
import type { Fault } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";

interface OutageNotes {
  /** A transaction failed for good. */
  failed(transaction: string, fault: Fault): void;
  /** A transaction reached the database and committed. */
  committed(): void;
}

export function createOutageNotes(log: Log): OutageNotes {
  let out = false;
  return {
    failed(transaction, fault) {
      const fields = { transaction, code: fault.code, ...fault.facts };
      // Those who wait for a store that is out of reach are turned away for the same reason.
      if (fault.code !== "STORE_UNAVAILABLE" && fault.code !== "RESOURCE_EXHAUSTED") {
        log.warn("transaction failed", fields);
      } else if (out) {
        log.debug("transaction failed", fields);
      } else {
        out = true;
        log.warn("the store is out of reach", { ...fields, reason: fault.message });
      }
    },
    committed() {
      if (out) log.info("the store is in reach again");
      out = false;
    },
  };
}
