// One-time codes from a person: as an option, or asked for on a terminal. The proof that a code buys is for one action with its
// parameters, so it is asked for by whoever performs that action.
import type { Operation } from "../../../contracts/src/authority.ts";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { Refusal, usageRefusal } from "../failure.ts";
import type { Context, VerbOption } from "../verbs/verb.ts";

export const factorOptions: readonly VerbOption[] = [
  { name: "totp", value: "CODE", sentence: "The six digits that your authenticator shows now." },
  { name: "recovery-code", value: "CODE", sentence: "One of your recovery codes instead; it is used up by this." },
];

export interface ShownCode {
  readonly totp?: string;
  readonly recoveryCode?: string;
}

/** The code that was given, or asked for; without a terminal a usage error that names the option. */
export async function shownCode(context: Context, question: string): Promise<ShownCode> {
  const totp = context.option("totp");
  const recoveryCode = context.option("recovery-code");
  if (totp !== undefined && recoveryCode !== undefined) throw usageRefusal("Give --totp or --recovery-code, not both.");
  if (recoveryCode !== undefined) return { recoveryCode };
  return { totp: sixDigits(totp ?? (await context.terminal.ask(question, "--totp CODE", context.signal))) };
}

export function sixDigits(text: string): string {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^[0-9]{6}$/.test(digits)) throw usageRefusal("A code of an authenticator has six digits.");
  return digits;
}

type StepUpArguments = Parameters<Client["stepUp"]>[0];

/**
 * A fresh proof for one action that not everybody may take. Callers who may not are told so before they are asked for a
 * code: the server says whom it takes them for, and what the table of authority refuses is sent to it without a proof, so that the refusal is the server's own and on record.
 */
export async function permittedStepUpProof(
  context: Context,
  client: Client,
  named: Pick<StepUpArguments, "parameters"> & { readonly action: Operation },
  sendWithoutProof: () => Promise<unknown>,
): Promise<string> {
  const { mayCall, whyNot } = await import("../../../contracts/src/authority.ts");
  const { roles, operations } = await client.getIdentity();
  if (!mayCall(named.action, { roles, ...(operations === undefined ? {} : { operations }) })) {
    await sendWithoutProof();
    // Nothing is done without a proof; a server that says nothing about that is not one that we know.
    throw new Refusal(exitCodes.forbidden, "PERMISSION_DENIED", whyNot(named.action));
  }
  return stepUpProof(context, client, named);
}

/** A fresh proof for one action; it is good for this action with these parameters, once, for two minutes. */
export async function stepUpProof(
  context: Context,
  client: Client,
  named: Pick<StepUpArguments, "action" | "parameters">,
): Promise<string> {
  const shown = await shownCode(context, "Code of your authenticator: ");
  return (await client.stepUp({ ...named, ...shown })).proof;
}
