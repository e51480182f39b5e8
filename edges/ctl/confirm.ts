// The typed word before something dangerous: given with --confirm, or asked for where a person sits. Without it, or with another one, nothing is sent.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Context } from "./context.ts";
import { Refusal } from "./failure.ts";
import type { VerbOption } from "./verbs/verb.ts";

export function confirmOption(word: string): VerbOption {
  return { name: "confirm", value: "WORD", sentence: `The word ${word}, instead of typing it when asked.` };
}

/** What will happen is said first, so that whoever types the word has read it. */
export async function confirmed(context: Context, word: string, consequences: readonly string[]): Promise<string> {
  const given = context.option("confirm");
  if (given === undefined && context.terminal.interactive) {
    for (const line of consequences) context.terminal.say(line);
  }
  const typed = given ?? (await typedWord(context, word));
  if (typed === word) return word;
  const hint = `Add --confirm ${word}, or type it when you are asked.`;
  const what = given === undefined ? "That was not the word" : `--confirm is not ${word}`;
  throw new Refusal(exitCodes.declined, "CONFIRMATION_WRONG", `${what}: nothing was sent.`, hint);
}

async function typedWord(context: Context, word: string): Promise<string> {
  if (!context.terminal.interactive) {
    throw new Refusal(
      exitCodes.declined,
      "CONFIRMATION_WRONG",
      "This is not done without its word: nothing was sent.",
      `Add --confirm ${word}.`,
    );
  }
  return context.terminal.ask(`Type ${word} to continue: `, `--confirm ${word}`, context.signal);
}
