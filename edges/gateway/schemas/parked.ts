// Events that were put aside, over HTTP.
import { z } from "zod";
import { countNumber, lineText } from "../../../contracts/src/records/fields.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { timeText } from "./fields.ts";
import { reasonBody } from "./orders.ts";

const subscription = lineText(200).min(1).meta({ description: "The subscription that could not handle it." });
const eventId = lineText(200).min(1);

export const parkedQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000).optional().meta({ description: "At most this many; 100 when absent." }),
});

export const parkedEventAnswer = z.object({
  subscription: z.string(),
  event_id: z.string(),
  subject: z.string(),
  state: z.enum(["PARKED", "HELD", "DISCARDED"]).meta({
    description: "PARKED: its subscription went on. HELD: it carries money, and what follows in its lane waits.",
  }),
  lane: z.string().optional().meta({ description: "Of what is held: what waits together." }),
  error: z.string().meta({ description: "The last failure." }),
  attempts: countNumber,
  first_tried_at: timeText,
  last_tried_at: timeText,
  since: timeText,
  published_by: z.string(),
  published_at: timeText,
});

export const parkedEventsAnswer = z.object({
  total: countNumber.meta({ description: "How many there are altogether." }),
  events: z.array(parkedEventAnswer).meta({ description: "Oldest first." }),
});

export const retryParkedBody = z.strictObject({ subscription, event_id: eventId, reason: reasonBody });

export const parkedRetryAnswer = z.object({
  subscription: z.string(),
  event_id: z.string(),
  outcome: z.enum(["DONE", "FAILED", "NOT_TAKEN", "RUNNING"]).meta({
    description:
      "DONE: it was handled, and is gone. FAILED: it was tried, and stays. NOT_TAKEN: nobody tried it, and nobody will. RUNNING: no answer yet.",
  }),
  error: z.string().optional().meta({ description: "Why, unless it is DONE." }),
  at: timeText,
});

export const discardParkedBody = z.strictObject({
  ...{ subscription, event_id: eventId, reason: reasonBody },
  step_up_proof: z
    .string()
    .max(500)
    .optional()
    .meta({ description: "For what is HELD: a proof for DiscardParked with subscription, event_id and reason." }),
});

/** On the wire what is not there is an empty text. */
export function toldParked<Event extends { readonly lane: string }>({ lane, ...rest }: Event): object {
  return { ...rest, ...(lane === "" ? {} : { lane }) };
}
