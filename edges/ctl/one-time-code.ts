// One-time codes from a person: as an option, or asked for on a terminal. The proof that a code buys is for one action with its
// parameters, so it is asked for by whoever performs that action.
import type { Client } from "../client/src/types.ts";
import type { Context } from "./context.ts";
import { usageRefusal } from "./failure.ts";
import type { VerbOption } from "./verbs/verb.ts";

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

/** A fresh proof for one action; it is good for this action with these parameters, once, for two minutes. */
export async function stepUpProof(
  context: Context,
  client: Client,
  named: Pick<StepUpArguments, "action" | "parameters">,
): Promise<string> {
  const shown = await shownCode(context, "Code of your authenticator: ");
  return (await client.stepUp({ ...named, ...shown })).proof;
}
