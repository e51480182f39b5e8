// Gate 5: no new risk under a halt of the firm, the fund or the strategy, and none while a condition stands that this gate asks for: losses, the audit log, the
// disk, changes that nobody audited (core/blocks/index.ts). Not knowing counts as halted. The way out stays open: what the
// engine itself proves to shrink the position passes, if it is marked so and the envelope lets it; under a strategy's halt it must shrink that
// strategy's own position as well, or it would trade against what another one holds. So does what only takes away from an
// order that is with a broker already: like cancelling it, which nobody is asked about.

import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Severity } from "../../contracts/src/records/values.ts";
import { letsThrough } from "../blocks/condition.ts";
import { conditionOf, conditionsOf } from "../blocks/index.ts";
import { isNothing } from "../money/amount.ts";
import type { Gate, Notes } from "../state/gate.ts";
import { reduces } from "../state/new-risk.ts";
import { noneStands, type StandingCondition } from "../state/standing-condition.ts";
import type { FundView } from "../state/view.ts";
import { amount } from "../state/wording.ts";
import { noteStanding } from "./standing-denial.ts";

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
    const isHalted = view.halt !== undefined || !view.haltsKnown;
    const standing = view.conditions.length === 0 ? noneStands : ofThisGate(view);
    if (!isHalted && standing.length === 0) return undefined;

    if (view.halt !== undefined) notes.word("halt_id", view.haltId);
    noteAll(standing, notes);
    const denying = standing.find(({ code }) => !letsThrough(conditionOf(code), order, view));
    if (view.lowers === true) {
      if (denying !== undefined) return conditionDenial(denying, order, "");
      notes.word("exit", "lowers an open order");
      return undefined;
    }
    if (!reduces(view) || order.reduce_only !== true) {
      const hint = reduces(view) ? "the order reduces, but is not marked reduce_only" : "the order adds risk";
      return haltDenial(view, hint) ?? (denying && conditionDenial(denying, order, hint));
    }
    if (view.strategyHalted) {
      notes.decimal("strategy_position", view.strategyPosition);
      if (!view.reducesStrategy) return ownDenial(view);
    }
    // The envelope's switch is about halts and losses; what cannot be audited, or written, keeps nobody from getting out.
    const hint = "the envelope lets no reduction through";
    const halt = view.envelope?.haltAllowReduceOnly === true ? undefined : haltDenial(view, hint);
    const denial = halt ?? (denying && conditionDenial(denying, order, hint));
    if (denial === undefined) notes.word("exit", "proven reduction");
    return denial;
  },
};

const noted = conditionsOf("drawdown_halt");

function ofThisGate({ conditions }: FundView): readonly StandingCondition[] {
  return conditions.filter(({ code }) => conditionOf(code).gate === "drawdown_halt");
}

function noteAll(standing: readonly StandingCondition[], notes: Notes): void {
  if (standing.length === 0) return;
  for (const condition of noted) {
    const one = standing.find(({ code }) => code === condition.code);
    if (one !== undefined) noteStanding(condition, one, notes);
  }
}

function conditionDenial(standing: StandingCondition, order: Order, hint: string): Denial {
  const condition = conditionOf(standing.code);
  const said = condition.exits === "NEVER" ? "nothing passes meanwhile" : hint;
  return { code: standing.code, reason: condition.sentence(standing, { order, hint: said }) };
}

/** A reduction of the fund that is none of the strategy's would open a position of a strategy that is halted. */
function ownDenial(view: FundView): Denial {
  const { strategyPosition, strategyPending, terms } = view;
  const buys = terms.direction === 1;
  const others = isNothing(strategyPending)
    ? ""
    : `, of which its other open orders may ${buys ? "buy back" : "sell"} ${amount(strategyPending)}`;
  const held = `the strategy itself holds ${amount(strategyPosition)}${others}`;
  const scope = view.haltsKnown ? "The strategy is halted" : "Whether the strategy is halted is not known";
  const reason = `${scope}, so its exits must reduce its own position as well as the fund's: ${held}.`;
  return { code: "STRATEGY_REDUCTION_UNPROVEN", reason };
}

/** Undefined where nothing is halted for certain, and nothing may be. */
function haltDenial(view: FundView, hint: string): Denial | undefined {
  if (view.halt !== undefined) {
    const { code, scope } = levels[view.halt];
    const why = view.haltReason === "" ? "" : ` (${view.haltReason})`;
    return { code, reason: `${scope} by ${view.haltId}${why}, and ${hint}.` };
  }
  if (view.haltsKnown) return undefined;
  return { code: "HALT_STATE_UNKNOWN", reason: `Whether a halt is in force is not known, and ${hint}.` };
}
