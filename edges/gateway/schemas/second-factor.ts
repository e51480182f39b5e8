// What a person shows to prove a second factor, and what the routes around it take and answer. A code has the form of a
// code before anybody counts it as a wrong one: a slip of the keyboard must not lock its owner out.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import { lineText } from "../../../contracts/src/records/fields.ts";
import { typed } from "../../../contracts/src/text/typed.ts";
import type { ShownFactor } from "../../../ports/identity.ts";
import { operationName, timeText } from "./fields.ts";
import { isSmallJson } from "./small-json.ts";

const totpText = z
  .string()
  .regex(/^[0-9]{6}$/, "expected six digits")
  .meta({ description: "The six digits that the authenticator shows now." });

const recoveryCodeText = z
  .string()
  .regex(/^[A-Za-z0-9 -]{4,64}$/, "expected a recovery code")
  .meta({ description: "One of the codes that were shown when the factor was set up; it is used up by this." });

const shown = { totp: totpText.optional(), recovery_code: recoveryCodeText.optional() };

interface Shown {
  readonly totp?: string | undefined;
  readonly recovery_code?: string | undefined;
}

const countOf = (body: Shown): number => Number(body.totp !== undefined) + Number(body.recovery_code !== undefined);

export const beginSecondFactorBody = z.strictObject(shown).refine((body) => countOf(body) <= 1, {
  message: "expected at most one of totp and recovery_code",
});

export const beginSecondFactorAnswer = z.object({
  secret: z.string().meta({ description: "The new secret in base32; it counts once it is confirmed." }),
  uri: z.string().meta({ description: "The same as an otpauth:// address, for a QR code." }),
});

export const confirmSecondFactorBody = z.strictObject({ code: totpText });

export const confirmSecondFactorAnswer = z.object({
  recovery_codes: z.array(z.string()).meta({ description: "Shown now and never again; each works once." }),
});

/** Names and values of one action: small, because they are hashed for every attempt. */
const parameters = atMost(
  typed(
    z
      .record(lineText(64), z.unknown())
      .refine((value) => isSmallJson(value), { message: "expected at most 256 values, 8 levels and 16384 characters" }),
  ),
  { any: { values: 256, characters: 16_384 } },
).meta({ description: "The action's own parameters, exactly as they will be sent; the proof opens only these." });

export const stepUpBody = z
  .strictObject({ action: operationName, parameters, ...shown })
  .refine((body) => countOf(body) === 1, { message: "expected exactly one of totp and recovery_code" });

export const stepUpAnswer = z.object({
  proof: z.string().meta({ description: "Sent as `step_up_proof` with the action; it works once." }),
  expires_at: timeText,
});

/** As text for the routes that need one: bounded, and of no form that a caller should rely on. */
export const proofText = z
  .string()
  .regex(/^[\x21-\x7e]{1,512}$/, "expected the proof that a step-up gave")
  .meta({ description: "The proof that a step-up for this action and these parameters gave." });

export function shownFactor(body: Shown): ShownFactor | undefined {
  if (body.totp !== undefined) return { kind: "totp", code: body.totp };
  if (body.recovery_code !== undefined) return { kind: "recovery_code", code: body.recovery_code };
  return undefined;
}
