// Differences between our positions and the broker's, as a list.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import type { Column } from "./listing.ts";
import { moment } from "./text.ts";

type Difference = AnswerOf<"listDifferences">[number];

export function differenceColumns(now: Instant): readonly Column<Difference>[] {
  return [
    { name: "at", of: (one) => one.at, shown: (one) => moment(one.at, now) },
    { name: "status", of: (one) => one.status },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "broker", of: (one) => one.broker },
    { name: "account", of: (one) => one.account, onlyCsv: true },
    { name: "symbol", of: (one) => one.symbol },
    { name: "our_quantity", of: (one) => one.our_quantity, number: true },
    { name: "broker_quantity", of: (one) => one.broker_quantity, number: true },
    { name: "class", of: (one) => one.class },
    { name: "evidence", of: (one) => one.evidence },
    { name: "first_seen_at", of: (one) => one.first_seen_at, onlyCsv: true },
    { name: "difference_id", of: (one) => one.difference_id, onlyCsv: true },
  ];
}
