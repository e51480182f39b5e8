// `ctl operations parked retry`: has an event that was put aside tried again, and says what came of it.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const consumerOption = {
  name: "consumer",
  value: "SUBSCRIPTION",
  required: true,
  sentence: "The subscription that put it aside, as `ctl operations parked list` names it.",
} as const;

export const operationsParkedRetry: Verb = {
  name: "operations parked retry",
  heading: "Events put aside",
  sentence: "Have an event that was put aside tried again, and wait for what comes of it.",
  about:
    "Its own subscription tries it once, between two other events. Exit 0 when it was handled, 1 when it failed again, 9 when nobody took it (and nobody will), 8 when it is still being tried. Of several with one key the oldest comes first (exit 6).",
  arguments: [{ name: "event_id", sentence: "The event." }],
  options: [consumerOption, reasonOption],
  examples: [
    {
      command:
        "ctl operations parked retry 3f6e0a52-91c1-4a5e-9b13-0c6f6f1d2a77 --consumer riskengine.orders --reason mended",
      sentence: "What was in its way is mended.",
    },
  ],
  operation: "RetryParked",
  changesState: true,
  run,
};

type Outcome = AnswerOf<"retryParked">["outcome"];
const ends: Readonly<Record<Outcome, Answer["exit"] & number>> = {
  DONE: exitCodes.ok,
  FAILED: exitCodes.failed,
  NOT_TAKEN: exitCodes.unavailable,
  RUNNING: exitCodes.pending,
};

async function run(context: Context): Promise<Answer> {
  const eventId = context.argument("event_id");
  const subscription = context.option("consumer") ?? "";
  const retry = await (await context.client()).retryParked({ eventId, subscription, ...reasonOf(context) });
  const words: Readonly<Record<Outcome, string>> = {
    DONE: `${subscription} has handled the event ${eventId}. It is not put aside any more.`,
    FAILED: `${subscription} tried the event ${eventId} and failed again: ${retry.error}`,
    NOT_TAKEN: `The event ${eventId} was not tried: ${retry.error}`,
    RUNNING: `The event ${eventId} is still being tried; \`ctl operations parked list\` shows it until it is handled.`,
  };
  return { data: retry, text: clean(words[retry.outcome]), exit: ends[retry.outcome] };
}
