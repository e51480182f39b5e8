// What the charting webhook is handed: whether an address, a secret and a rate let an alert in, and how a fund's secret is replaced. A secret is shown
// once, to whoever made it, and is nowhere in rows, logs, events or answers.
import type { Instant } from "../contracts/src/instant.ts";
import type { Identity, Outcome } from "./identity.ts";

export interface WebhookChecks {
  /** Whether alerts are taken from this address. */
  isSource(address: string): boolean;
  /** Rejects when it cannot be checked. */
  isRightSecret(fundId: string, given: string): Promise<boolean>;
  /** Counts one that passes; of one that does not, in how many milliseconds the next may. */
  pass(fundId: string): Passed;
  /** The same without counting. */
  peek(fundId: string): Passed;
}

type Passed = { readonly passed: true } | { readonly passed: false; readonly waitMs: number };

export interface WebhookSecretState {
  readonly fundId: string;
  /** 0 when there is none. */
  readonly version: number;
  /** Undefined for one that was written elsewhere. */
  readonly rotatedAt: Instant | undefined;
  /** Until when one before it is good as well. */
  readonly previousValidUntil: Instant | undefined;
}

export interface RotatedSecret {
  readonly fundId: string;
  readonly secret: string;
  readonly version: number;
  readonly previousValidUntil: Instant | undefined;
}

export interface SecretRotation {
  readonly fundId: string;
  readonly overlapS: number;
  readonly reason: string;
}

export interface WebhookSecrets {
  /** The proof names RotateWebhookSecret with `fund_id` and `overlap_s`. The fund is known to be one. */
  rotate(caller: Identity, asked: SecretRotation, proof: string | undefined): Promise<Outcome<RotatedSecret>>;
  stateOf(fundId: string): Promise<WebhookSecretState>;
}
