// The typed word before something dangerous: given with --confirm, or asked for where a person sits. Whether it is the right one is the server's to say, on every
// surface: a request without its word is refused there, and leaves an entry.
import type { Context, VerbOption } from "./verbs/verb.ts";

export function confirmOption(word: string): VerbOption {
  return { name: "confirm", value: "WORD", sentence: `The word ${word}, instead of typing it when asked.` };
}

/** Asked for only where somebody reads them. */
type Consequences = () => readonly string[] | Promise<readonly string[]>;

/** What was given or typed, right or not. What will happen is said first, so that whoever types the word has read it. */
export async function confirmed(context: Context, word: string, consequences: Consequences): Promise<string> {
  const typed = context.option("confirm") ?? (await typedWord(context, word, consequences));
  if (typed !== word && !context.json) context.terminal.say(`Add --confirm ${word}, or type it when you are asked.`);
  return typed.slice(0, wordLengthMax);
}

/** More is no word that anybody would take. */
const wordLengthMax = 100;

async function typedWord(context: Context, word: string, consequences: Consequences): Promise<string> {
  if (!context.terminal.interactive) return "";
  for (const line of await consequences()) context.terminal.say(line);
  return context.terminal.ask(`Type ${word} to continue: `, `--confirm ${word}`, context.signal);
}
