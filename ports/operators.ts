// The people of the embedded provider, and the requests of one admin that a second one signs. Every change leaves an event with the actor and,
// where it took two, the co-signer; every refusal is a sentence that says what to do.
import type { Instant } from "../contracts/src/instant.ts";
import type { Identity, IdentityRequest, IssuedToken, Outcome, Requested } from "./identity.ts";

export interface Operator {
  readonly name: string;
  readonly roles: readonly string[];
  /** Made by a start outside production, for trying things out. */
  readonly isDevelopment: boolean;
  readonly createdAt: Instant;
  readonly disabledAt?: Instant;
  readonly disabledBy?: string;
  /** Since when they have a second factor; absent without one. */
  readonly factorSince?: Instant;
}

export interface ChangedOperator {
  readonly operator: Operator;
  /** Of a new person, where one admin was enough; given here, once. */
  readonly password?: string;
  /** Of a disabled person: the machines' tokens that ended with them, and those that a second admin vouches for. */
  readonly revokedTokens?: readonly string[];
  readonly keptTokens?: readonly string[];
}

export interface Cosigned {
  readonly request: IdentityRequest;
  readonly cosignedBy: string;
  readonly operator?: Operator;
  /** The second half of a new person's password; the admin who asked got the first one. */
  readonly passwordHalf?: string;
  /** A machine's token, given here, once. */
  readonly token?: IssuedToken;
}

/** Who asks, why, and the proof of their second factor. */
export interface AskedBy {
  readonly identity: Identity;
  readonly reason: string;
  readonly proof: string | undefined;
}

export interface OperatorsAdmin {
  /** By name; at most so many, from after that one on. */
  list(page: { readonly countMax: number; readonly after?: string | undefined }): Promise<readonly Operator[]>;
  /** The proof names AddOperator with `name` and `roles`. A name that was disabled comes back with a new password. */
  add(
    asked: AskedBy,
    person: { readonly name: string; readonly roles: readonly string[] },
  ): Promise<Outcome<ChangedOperator | Requested>>;
  /** The proof names ChangeOperatorRoles with `name` and `roles`. Their logins end, so that nothing keeps the old ones. */
  changeRoles(
    asked: AskedBy,
    person: { readonly name: string; readonly roles: readonly string[] },
  ): Promise<Outcome<ChangedOperator | Requested>>;
  /**
   * At once and by one admin: logins, requests and the machines' tokens that they gave alone end with it, these unless they are kept. The
   * proof names DisableOperator with `name` and `keep_tokens`.
   */
  disable(
    asked: AskedBy,
    person: { readonly name: string; readonly keepTokens: boolean },
  ): Promise<Outcome<ChangedOperator>>;
  /** The proof names ResetOperatorFactor with `name`. */
  resetFactor(asked: AskedBy, name: string): Promise<Outcome<ChangedOperator | Requested>>;
}

export interface IdentityRequests {
  /** Those that wait, oldest first. */
  list(): Promise<readonly IdentityRequest[]>;
  /** The proof names CosignIdentityRequest with `request_id`. */
  cosign(asked: Omit<AskedBy, "reason">, requestId: string): Promise<Outcome<Cosigned>>;
  /** Asks for a change that nobody audited to be accepted. The proof names AcceptUnauditedChange with `change_id`. */
  requestAcceptance(asked: AskedBy, changeId: string): Promise<Outcome<Requested>>;
  /** Of AcceptUnauditedChange alone, by somebody who need not be an admin. The proof names CosignUnauditedChange with `request_id`. */
  cosignAcceptance(asked: Omit<AskedBy, "reason">, requestId: string): Promise<Outcome<Cosigned>>;
}
