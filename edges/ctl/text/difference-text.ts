// Differences between our positions and the broker's, as a list.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Column } from "./listing.ts";

type Difference = AnswerOf<"listDifferences">[number];

export const differenceColumns: readonly Column<Difference>[] = [
  { name: "at", of: (one) => one.at, time: true },
  { name: "status", always: true, of: (one) => one.status },
  { name: "fund_id", of: (one) => one.fund_id },
  { name: "broker", of: (one) => one.broker },
  { name: "account", of: (one) => one.account, onlyCsv: true },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "our_quantity", of: (one) => one.our_quantity, number: true },
  { name: "broker_quantity", of: (one) => one.broker_quantity, number: true },
  { name: "class", of: (one) => one.class },
  { name: "evidence", text: true, of: (one) => one.evidence },
  { name: "first_seen_at", of: (one) => one.first_seen_at, onlyCsv: true },
  { name: "difference_id", of: (one) => one.difference_id, onlyCsv: true },
];
