// A reduction that is not marked answers for its size, its price and its pace like any other order. Where the mark alone would let it pass, its
// denial says so, and only there: advice that leads to the next denial is worse than none.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { assured } from "../state/new-risk.ts";
import { noNotes } from "../state/notes.ts";
import type { FundView } from "../state/view.ts";
import { exitCollarDenial } from "./collar.ts";
import { drawdownHalt } from "./drawdown-halt.ts";
import { shortSide } from "./short-side.ts";

/** Position_risk and cro_veto ask nothing of a reduction. */
const gatesAhead = [drawdownHalt, shortSide] as const;

/** The order is a proven reduction that passed what is asked of every order. */
export function withMarkHint(denial: Denial, order: Order, view: FundView, at: Instant): Denial {
  const marked: Order = { ...order, reduce_only: true };
  const envelope = assured(view.envelope, "an envelope");
  const isStopped =
    order.side === "SELL_SHORT" ||
    exitCollarDenial(marked, view, envelope, noNotes) !== undefined ||
    gatesAhead.some((gate) => gate.decide(marked, view, at, noNotes) !== undefined);
  return isStopped ? denial : { ...denial, reason: `${denial.reason} It only reduces: mark it reduce_only.` };
}
