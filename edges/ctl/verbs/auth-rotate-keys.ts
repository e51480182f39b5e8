// `ctl auth rotate-keys`: a new key that signs logins. With --at-once everybody is logged out, which a person has to type out.
import { confirmed } from "../confirm.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authRotateKeys: Verb = {
  name: "auth rotate-keys",
  heading: "Administration",
  sentence: "Replace the key that signs logins.",
  about:
    "What was signed before runs out by itself. With --at-once it is refused from now on: everybody is logged out, you included.",
  arguments: [],
  options: [
    { name: "at-once", sentence: "Refuse everything that the old key signed, now: for a key that leaked." },
    {
      name: "confirm",
      value: "WORD",
      sentence: "Together with --at-once: the word ROTATE, which a person would type.",
    },
    reasonOption,
  ],
  examples: [
    { command: "ctl auth rotate-keys", sentence: "A new key before its time; nobody notices." },
    { command: "ctl auth rotate-keys --at-once --confirm ROTATE", sentence: "The key leaked: everybody logs in anew." },
  ],
  operation: "RotateSigningKeys",
  changesState: true,
  run,
};

const confirmationWord = "ROTATE";
const consequences: readonly string[] = ["This logs everybody out, you included."];

async function run(context: Context): Promise<Answer> {
  const atOnce = context.switched("at-once");
  const confirmation = atOnce ? { confirmation: await confirmed(context, confirmationWord, () => consequences) } : {};
  const retire = atOnce ? "at_once" : "after_overlap";
  const answer = await (await context.client()).rotateSigningKeys({ retire, ...confirmation, ...reasonOf(context) });
  const meaning = atOnce
    ? "Everything signed before is refused: everybody logs in anew."
    : "What was signed before runs out by itself.";
  return {
    data: answer,
    text: `The new key is ${clean(answer.key_id)}. ${meaning}`,
    next: atOnce ? ["ctl auth login"] : [],
  };
}
