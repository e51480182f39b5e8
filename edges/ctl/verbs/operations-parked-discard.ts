// `ctl operations parked discard`: decides that an event that was put aside is never handled. Somebody must say why.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { Refusal } from "../failure.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import { consumerOption } from "./operations-parked-retry.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsParkedDiscard: Verb = {
  name: "operations parked discard",
  heading: "Events put aside",
  sentence: "Decide that an event that was put aside is never handled.",
  about:
    "It stays in the database and in the audit log, with the reason. What is HELD and nobody can read asks for your second factor, and frees its lane; what is HELD and can be read is never discarded (exit 6).",
  arguments: [{ name: "event_id", sentence: "The event." }],
  options: [consumerOption, reasonOption, ...factorOptions],
  examples: [
    {
      command:
        "ctl operations parked discard 3f6e0a52-91c1-4a5e-9b13-0c6f6f1d2a77 --consumer riskengine.nav --reason test-message",
      sentence: "Somebody's test.",
    },
  ],
  operation: "DiscardParked",
  changesState: true,
  run,
};

const countMax = 1_000;

async function run(context: Context): Promise<Answer> {
  const eventId = context.argument("event_id");
  const subscription = context.option("consumer") ?? "";
  const reason = needsReason(context);
  const client = await context.client();
  const { events } = await client.listParked({ countMax });
  const event = events.find((one) => one.event_id === eventId && one.subscription === subscription);
  if (event === undefined) {
    // Whoever may not do it is refused for that, by the server and on record, before anything is said of the event.
    await client.discardParked({ eventId, subscription, reason });
    const sentence = `Nothing with that id is put aside by ${clean(subscription)}.`;
    throw new Refusal(exitCodes.failed, "NOT_FOUND", sentence, "`ctl operations parked list` shows what is.");
  }
  const asked = { eventId, subscription, reason };
  const named = { action: "DiscardParked", parameters: { subscription, event_id: eventId, reason } } as const;
  const proof =
    event.state === "HELD"
      ? { stepUpProof: await permittedStepUpProof(context, client, named, () => client.discardParked(asked)) }
      : {};
  const discarded = await client.discardParked({ ...asked, ...proof });
  return {
    data: discarded,
    text: clean(`${subscription} never handles the event ${eventId} (${discarded.subject}). The record says why.`),
  };
}
