// How a run is asked for, and what makes two reasons to work the same run. The grammar of commands in comments is: `@<app-slug> <word>`, alone on a line, one of six words. Nothing takes an argument, so that no comment configures anything.
import { type BotCommand, type BotRunner, botCommands } from "../../contracts/src/records/githubbot.ts";
import { withoutHidden } from "./hidden.ts";

/** GitHub allows 65,536 characters in a comment; a command stands in what a person reads first. */
const linesMax = 500;

/** The first command of a comment. Quoted lines and blocks of code say what somebody else said. */
export function readCommand(body: string, slug: string): BotCommand | undefined {
  let isCode = false;
  for (const line of withoutHidden(body).split("\n", linesMax)) {
    if (/^ {0,3}(```|~~~)/.test(line)) isCode = !isCode;
    if (isCode) continue;
    const found = commandOf(line, slug);
    if (found !== undefined) return found;
  }
  return undefined;
}

function commandOf(line: string, slug: string): BotCommand | undefined {
  const [name, word, ...rest] = line.trimEnd().split(" ");
  if (rest.length > 0 || name?.toLowerCase() !== `@${slug.toLowerCase()}`) return undefined;
  return botCommands.find((each) => each === word);
}

/** GitHub delivers an event again, and a person reopens or pushes: the key holds what must not repeat the work. */
export type RunCause =
  /** An issue. */
  | { readonly kind: "opened" }
  /** A pull request that was opened or made ready. */
  | { readonly kind: "head"; readonly headSha: string }
  | { readonly kind: "command"; readonly commentId: number }
  | { readonly kind: "label"; readonly deliveryId: string };

export function runKey(repository: string, number: number, persona: BotRunner, cause: RunCause): string {
  return [repository.toLowerCase(), number, persona, causeKey(cause)].join(" ");
}

function causeKey(cause: RunCause): string {
  switch (cause.kind) {
    case "opened":
      return "opened";
    case "head":
      return `head:${cause.headSha}`;
    case "command":
      return `comment:${cause.commentId}`;
    default:
      return `label:${cause.deliveryId}`;
  }
}
