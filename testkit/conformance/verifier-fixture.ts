// What the verifier suite asks of a verifier that is put under it, and the shape of one check.
import type { JWTHeaderParameters } from "jose";
import type { Operation } from "../../contracts/src/authority.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Verifier } from "../../ports/identity.ts";

export interface Signing {
  /** Instead of the header that the issuer writes. */
  readonly header?: Partial<JWTHeaderParameters>;
  /** "foreign" is a key of somebody else under the key id of the current one; default "current". */
  readonly key?: "current" | "previous" | "foreign";
}

/** A verifier, its issuer and its store. One fixture serves all checks, so each uses names of its own and leaves it as it was. */
export interface VerifierFixture {
  readonly verifier: Verifier;
  /** The verifier's clock. */
  readonly clock: Clock;
  readonly issuer: string;
  readonly audience: string;
  /** The algorithm that the issuer signs with. */
  readonly algorithm: string;
  /** A token of a person, good unless a claim makes it otherwise; null removes a claim. */
  sign(claims?: Readonly<Record<string, unknown>>, signing?: Signing): Promise<string>;
  /** The public key that verifies tokens now, as anybody can read it. */
  publicKeyText(): Promise<string>;
  /** A new key signs from now on, and the old one stays published. */
  rotateKeys(): Promise<void>;
  /** The old key is not to be believed any more. */
  withdrawPrevious(): Promise<void>;
  /** Written as another process would. */
  revoke(kind: "token" | "session" | "subject", id: string): Promise<void>;
  serviceToken(request: {
    readonly operations: readonly Operation[];
    /** Absent means every fund. */
    readonly funds?: readonly string[];
    readonly expiresInMs: number;
  }): Promise<{ readonly id: string; readonly name: string; readonly token: string }>;
  revokeServiceToken(id: string): Promise<void>;
  platformToken(service: "gateway"): string;
  /** Lets time pass for the verifier, which then hears from its store again if that answers. */
  passTime(ms: number): Promise<void>;
  /** The store is gone until the returned function is called. */
  outage(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface VerifierCheck {
  /** The number in ports/identity.ts; 0 for what the interface's own comments say. */
  readonly promise: number;
  readonly sentence: string;
  run(fixture: VerifierFixture): Promise<void>;
}
