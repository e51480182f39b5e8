// What somebody tried and may not, or tried and was refused: reported by whoever turned them away, so that it becomes an entry of the audit log. Telling
// never holds up the refusal and never fails.
import type { Operation } from "../contracts/src/authority.ts";
import type { Identity } from "./identity.ts";

export interface RefusedAttempt {
  readonly identity: Pick<Identity, "actor">;
  readonly operation: Operation;
  /** Where it was tried: the path of the request. */
  readonly target: string;
  /** The order, strategy or fund that the request names; absent when it names none, or was turned away before it was read. */
  readonly about?: string | undefined;
  /** Of the registry. */
  readonly code: string;
  readonly reason: string;
}

export type TellRefusal = (refused: RefusedAttempt) => void;
