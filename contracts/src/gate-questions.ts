// What each gate asks of an order, in the words that people read: on the command line, on the desks and in the documents. One sentence each, in
// the order in which the gates are asked.
import type { GateName } from "./records/values.ts";

export const gateQuestions: Readonly<Record<GateName, string>> = {
  idempotency: "Is this the first order under its key within 5 minutes?",
  schema: "Is it an order, complete and in terms that its instrument has?",
  static: "Do the fund's limits allow an order like this, at this size, price and pace?",
  position_risk: "Would the fund stay within its exposure limits, whatever of its open orders fills?",
  drawdown_halt: "Is nothing that this order belongs to halted?",
  short_side:
    "Does the side fit the position, and if a short could result, is it allowed, and can it be borrowed at an acceptable fee?",
  cro_veto: "Does the risk officer let it pass?",
};
