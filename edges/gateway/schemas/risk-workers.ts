// Synthetic stops, differences with the broker, proofs of being flat and the comparison of the books, over HTTP.
import { z } from "zod";
import type { BookCheck, FlatProof, Stop } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { countNumber, decimalText, idText, symbolText } from "../../../contracts/src/records/fields.ts";
import { reconcileDifference } from "../../../contracts/src/records/operations.ts";
import { booleanAsked } from "./asked-boolean.ts";
import { decimalAsked, wholeAsked } from "./asked-numbers.ts";
import { fundIdText } from "./envelope.ts";
import { timeText } from "./fields.ts";
import { anyFund, reasonBody } from "./orders.ts";

export const stopsQuery = z.strictObject({
  fund_id: anyFund,
  owed: booleanAsked().optional().meta({
    description: "True for stops that fired and wait for their exit; every position's stop as well when absent.",
  }),
  ended_hours: decimalAsked(24 * 366)
    .optional()
    .meta({ description: "Only stops that ended in the last so many hours, newest first." }),
});

export const stopAnswer = z.object({
  stop_id: z.string().optional().meta({ description: "Absent while it has not fired." }),
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  quantity: decimalText.meta({ description: "The position; negative when short." }),
  basis_price: decimalText.meta({ description: "What the position was opened at, on average." }),
  trigger_price: decimalText.meta({ description: "A long position is closed at or below, a short one at or above." }),
  state: z.enum(["RESTING", "REACHED", "UNPRICED", "OWED", "EXITING", "ENDED"]).meta({
    description: "UNPRICED has no price that it could fire on; OWED fired and is not closed yet.",
  }),
  observed_price: decimalText.optional().meta({ description: "The bid for a long position, the ask for a short one." }),
  observed_at: timeText.optional(),
  fired_at: timeText.optional(),
  attempts: countNumber.meta({ description: "How many exits were handed in." }),
  order_id: z.string().optional().meta({ description: "The newest exit." }),
  complaint: z.string().optional(),
  outcome: z.string().optional().meta({ description: "How it ended; absent while it has not." }),
  ended_at: timeText.optional(),
  exited_quantity: decimalText.optional(),
});

export const stopsAnswer = z
  .array(stopAnswer)
  .meta({ description: "The header Portcullis-Stops-Enabled is false when nobody watches them; health says so too." });

export const stopParams = z.strictObject({ stop_id: idText.meta({ description: "The stop that fired." }) });

export const endStopBody = z.strictObject({ reason: reasonBody });

export const reconcileBody = z.strictObject({
  fund_id: fundIdText.optional().meta({ description: "Only this fund; every fund when absent." }),
});

const { fund_id, account, broker, symbol, our_quantity, broker_quantity, status } = reconcileDifference.shape;

export const differenceAnswer = z.object({
  difference_id: idText,
  ...{ fund_id, account, broker, symbol, our_quantity, broker_quantity },
  class: reconcileDifference.shape.class,
  status: status.meta({ description: "SUSPECTED at the first look; a second one confirms or clears it." }),
  evidence: z.string(),
  first_seen_at: timeText,
  at: timeText,
});

export const reconciliationAnswer = z.object({
  compared: z.array(z.string()).meta({ description: "Accounts that gave a complete answer." }),
  unanswered: z.array(z.string()).meta({ description: "Accounts that did not, with why. They were not compared." }),
  symbols: countNumber.meta({ description: "How many symbols were compared." }),
  differences: z.array(differenceAnswer),
  at: timeText,
});

export const differencesQuery = z.strictObject({
  fund_id: anyFund,
  open: booleanAsked().optional().meta({ description: "True for open ones; all when absent." }),
  count_max: wholeAsked(1, 1_000).optional().meta({ description: "At most this many; 100 when absent." }),
});

export const differencesAnswer = z.array(differenceAnswer).meta({ description: "Newest first." });

export const proveFlatBody = z.strictObject({ fund_id: fundIdText, reason: reasonBody });

export const flatProofAnswer = z.object({
  proof_id: idText,
  fund_id: idText,
  account: z.string(),
  broker: z.string(),
  flat: z.boolean().meta({ description: "True only when a complete answer of the broker shows nothing." }),
  left: z.array(z.object({ symbol: symbolText, quantity: decimalText })),
  asked_at: timeText,
  broker_as_of: timeText.optional().meta({ description: "Absent when the broker gave no complete answer." }),
  open_orders: countNumber.meta({ description: "Orders that may still trade; flat needs that there are none." }),
  asked_by: z.string(),
  reason: z.string(),
  asked: z.array(z.string()).meta({ description: "What the broker was asked for, in this order." }),
});

export const booksAnswer = z
  .array(
    z.object({
      name: z.string(),
      sentence: z.string().meta({ description: "What is held against what." }),
      agrees: z.boolean(),
      difference: z.string().optional().meta({ description: "What differs; absent when nothing does." }),
      checked_at: timeText.optional().meta({ description: "Absent before the first comparison." }),
      compared: countNumber,
      since: timeText
        .optional()
        .meta({ description: "Since when the oldest difference stands, over restarts; absent when it agrees." }),
      not_compared: z
        .string()
        .optional()
        .meta({ description: "What could not be compared and why, such as an old value; absent when everything was." }),
    }),
  )
  .meta({ description: "One comparison each." });

// On the wire what is not there is an empty text; in JSON it is not there.

export function toldStop({ stop_id, ...rest }: Stop): object {
  return { ...rest, stop_id: orNothing(stop_id) };
}

export function toldProof({ broker_as_of, ...rest }: FlatProof): object {
  return { ...rest, broker_as_of: orNothing(broker_as_of) };
}

export function toldCheck({ difference, checked_at, not_compared, since, ...rest }: BookCheck): object {
  const told = { difference: orNothing(difference), not_compared: orNothing(not_compared), since: orNothing(since) };
  return { ...rest, ...told, checked_at: orNothing(checked_at) };
}

function orNothing(text: string): string | undefined {
  return text === "" ? undefined : text;
}
