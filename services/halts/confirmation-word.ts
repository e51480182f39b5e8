// The typed word that a person's halt needs, asked for by the server on every surface, and what a halt without a reason is called.
import type { Denial } from "../../contracts/src/codes.ts";
import type { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { Identity } from "../../ports/identity.ts";

/** Machines need no word: nobody types for them. */
export function whyNotConfirmed({ confirmation }: HaltRequest, identity: Identity): Denial | undefined {
  if (identity.kind !== "operator" || confirmation === "HALT") return undefined;
  return { code: "CONFIRMATION_WRONG", reason: "Type HALT to confirm. Nothing was halted." };
}

/** A halt is easier than a resume: it never waits for somebody to think of a reason. */
export function haltReason(reason: string): string {
  return reason.trim() === "" ? "manual" : reason;
}
