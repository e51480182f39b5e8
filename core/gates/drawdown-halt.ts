// Gate 5: no new risk under a halt of the firm, the fund or the strategy, none while a loss of the fund waits for its confirmation or one of its
// loss limits is not judged, none that the audit log could not tell of, none that the disk has no room for, and none while a change
// that nobody audited stands. Not knowing counts as halted. The way out stays open: what the
// engine itself proves to shrink the position passes, if it is marked so and the envelope lets it; under a strategy's halt it must shrink that
// strategy's own position as well, or it would trade against what another one holds. So does what only takes away from an
// order that is with a broker already: like cancelling it, which nobody is asked about.

import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Severity } from "../../contracts/src/records/values.ts";
import { isNothing, nothing } from "../money/amount.ts";
import type { Gate } from "../state/gate.ts";
import { reduces } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import { amount } from "../state/wording.ts";

const levels: Readonly<Record<Severity, { readonly code: DenialCode; readonly scope: string }>> = {
  FIRM_HALT: { code: "FIRM_HALTED", scope: "The firm is halted" },
  FUND_HALT: { code: "FUND_HALTED", scope: "The fund is halted" },
  STRATEGY_HALT: { code: "STRATEGY_HALTED", scope: "The strategy is halted" },
};

export const drawdownHalt: Gate = {
  name: "drawdown_halt",
  question: "Is nothing that this order belongs to halted?",
  phase: "risk",
  inputs: [],
  decide(order, view, _at, notes) {
    notes.count("halt_epoch", view.haltEpoch);
    notes.word("halt", view.halt ?? (view.haltsKnown ? "none" : "unknown"));
    const isHalted = view.halt !== undefined || !view.haltsKnown || view.lossBlock !== undefined;
    if (!isHalted && view.auditBlock === undefined && view.diskBlock === undefined && view.changeBlock === undefined)
      return undefined;

    if (view.halt !== undefined) notes.word("halt_id", view.haltId);
    if (view.lossBlock !== undefined) notes.word("losses", view.lossBlock);
    if (view.auditBlock !== undefined) notes.word("audit", view.auditBlock);
    if (view.diskBlock !== undefined) notes.word("disk", view.diskBlock);
    if (view.changeBlock !== undefined) notes.word("unaudited", view.changeBlock);
    if (view.lowers === true) {
      notes.word("exit", "lowers an open order");
      return undefined;
    }
    const exit = reduces(view) && order.reduce_only === true;
    if (exit && view.strategyHalted && view.strategyPosition !== undefined) {
      notes.decimal("strategy_position", view.strategyPosition);
      if (!view.reducesStrategy) return ownDenial(view);
    }
    // The envelope's switch is about halts; that nothing can be audited, that something was not, or that the disk fills keeps nobody from getting out.
    if (exit && (!isHalted || view.envelope?.haltAllowReduceOnly === true)) {
      notes.word("exit", "proven reduction");
      return undefined;
    }
    const hint = exit
      ? "the envelope lets no reduction through"
      : reduces(view)
        ? "the order reduces, but is not marked reduce_only"
        : "the order adds risk";
    return haltDenial(view, hint);
  },
};

/** A reduction of the fund that is none of the strategy's would open a position of a strategy that is halted. */
function ownDenial(view: FundView): Denial {
  const { strategyPosition, strategyPending, terms } = view;
  const buys = terms.direction === 1;
  const others = isNothing(strategyPending)
    ? ""
    : `, of which its other open orders may ${buys ? "buy back" : "sell"} ${amount(strategyPending)}`;
  const held = `the strategy itself holds ${amount(strategyPosition ?? nothing)}${others}`;
  const scope = view.haltsKnown ? "The strategy is halted" : "Whether the strategy is halted is not known";
  const reason = `${scope}, so its exits must reduce its own position as well as the fund's: ${held}.`;
  return { code: "STRATEGY_REDUCTION_UNPROVEN", reason };
}

function haltDenial(view: FundView, hint: string): Denial {
  if (view.halt !== undefined) {
    const { code, scope } = levels[view.halt];
    const why = view.haltReason === "" ? "" : ` (${view.haltReason})`;
    return { code, reason: `${scope} by ${view.haltId}${why}, and ${hint}.` };
  }
  if (!view.haltsKnown) {
    return { code: "HALT_STATE_UNKNOWN", reason: `Whether a halt is in force is not known, and ${hint}.` };
  }
  if (view.lossBlock !== undefined) return lossDenial(view, hint);
  if (view.auditBlock !== undefined) return { code: "AUDIT_UNAVAILABLE", reason: `${view.auditBlock}, and ${hint}.` };
  if (view.changeBlock !== undefined) return { code: "UNAUDITED_CHANGE", reason: `${view.changeBlock}, and ${hint}.` };
  return { code: "DISK_LOW", reason: `${view.diskBlock}, and ${hint}.` };
}

function lossDenial({ lossBlock, lossReason = "" }: FundView, hint: string): Denial {
  switch (lossBlock) {
    case "pending":
      return {
        code: "LOSS_CONFIRMATION_PENDING",
        reason: `A loss of the fund is above its limit and waits for its confirmation, and ${hint}.`,
      };
    case "missing":
      return {
        code: "LOSS_BASELINE_MISSING",
        reason: `It is not known yet from where on the fund's losses of this period are counted, and ${hint}.`,
      };
    default:
      return {
        code: "LOSS_NOT_JUDGED",
        reason: `A loss limit of the fund is not judged (${lossReason}), and ${hint}.`,
      };
  }
}
