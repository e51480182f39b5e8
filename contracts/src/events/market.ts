// Prices: the only subject that may lose messages. One entry an event: subject, payload, order, publishers and what the audit log says of it.

import { mark } from "../records/market.ts";
import { event } from "./event.ts";

export const marketEvents = {
  marketMarks: event({
    subject: "svc.v1.market.marks",
    schema: mark,
    // A price never takes the place of another source's.
    key: (price) => `${price.symbol} ${price.source}`,
    delivery: "conflated",
    sentence: "A price moved; only the newest per symbol matters.",
    publishers: ["operations"],
    whose: ["pricer"],
    audit: { notAudited: "A price changes no state of ours; what a decision used of it is in the decision." },
  }),
};
