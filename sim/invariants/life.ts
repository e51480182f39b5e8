// What must be true of the platform's life: nobody ends by a mistake of ours, and nothing is put aside unread.
import { first, type Invariant } from "./invariant.ts";

export const nobodyDiesOfADefect: Invariant = {
  name: "nobody_dies_of_a_defect",
  sentence: "No service ends by itself, because trouble is to be waited out and only a mistake of ours may end one.",
  violated: ({ platform: { defects } }) => defects[0],
};

export const nothingIsParked: Invariant = {
  name: "nothing_is_parked",
  sentence:
    "No message is put aside, because each of them was published by the platform itself and must be readable for all of it.",
  violated: ({ platform: { tables } }) =>
    first(tables.parked, ({ subscription, eventId, error }) => `${subscription} put ${eventId} aside: ${error}`),
};

/** Only with --canary: it must be able to fail, and a run in which it does not has not traded at all. */
export const canary: Invariant = {
  name: "canary",
  sentence: "No order ever trades, which is not so, because who never sees the alarm ring does not know that it can.",
  violated: ({ reported, past }) => {
    const fill = reported === undefined ? [...past.fills.values()].find(({ kind }) => kind === "TRADE") : undefined;
    return fill === undefined ? undefined : `${fill.order_id} traded ${fill.quantity}`;
  },
};
