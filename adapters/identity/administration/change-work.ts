// What a change of a person or a machine's token is given by whoever judged it.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { People } from "../../../core/identity/identity-rules.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";

/** The transaction, and who stands behind the change. */
export interface ChangeWork {
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly at: Instant;
  /** Whoever asked for it: as records name them, and the person itself. */
  readonly actor: string;
  readonly subject: string;
  readonly reason: string;
  readonly cosignedBy?: string;
  readonly requestId?: string;
}

/** Everybody, locked until the transaction ends. */
export type ReadPeople = (sql: Sql) => Promise<People>;
