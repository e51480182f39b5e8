// What must be true of halts and of those who lift them, whoever was killed in between and whatever got lost.

import * as instant from "../../contracts/src/instant.ts";
import type {
  ActiveHalt,
  HaltLifted,
  HaltStep,
  ResumeEnded,
  ResumeRequested,
} from "../../contracts/src/records/halt.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { covers } from "../../testkit/halt-judge.ts";
import type { Evidence } from "../evidence.ts";
import { codesOf, haltOf, type ReportedHalt } from "../halt-history.ts";
import type { History } from "../history.ts";
import { haltUnknownMs } from "../sim-settings.ts";
import { isLowered, mayPassHalts } from "./decisions.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

/** A drill halts a scope of its own and lifts that itself. */
const isDrill = ({ severity, fund_id: fundId }: Pick<ActiveHalt, "severity" | "fund_id">): boolean =>
  severity !== "FIRM_HALT" && fundId === "drill";

const levels = { STRATEGY_HALT: 1, FUND_HALT: 2, FIRM_HALT: 3 } as const;
type Scope = Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">;
const scopeOf = ({ severity, fund_id: fundId, strategy_id: strategyId = "" }: Scope): string =>
  severity === "FIRM_HALT" ? severity : `${severity} ${fundId} ${strategyId}`;

/** Reported, not lifted, and not in the store's list. */
function* lostHalts({ past, platform: { tables } }: Evidence): Generator<ReportedHalt> {
  const stored = new Set(tables.risk.halts.map(({ halt_id: id }) => id));
  for (const halt of past.halts) if (halt.lift === undefined && !stored.has(halt.halt_id)) yield halt;
}

export const haltsAreSticky: Invariant = {
  name: "halts_are_sticky",
  sentence:
    "A halt that was latched or acknowledged is in force until a lift names it, and after that it is not, because a halt that goes by itself is one that nobody decided to end.",
  violated(evidence) {
    const { reported, past, promises, platform } = evidence;
    if (reported !== undefined) return undefined;
    return (
      first(lostHalts(evidence), ({ halt_id: id }) => `the halt ${id} is gone and nobody lifted it`) ??
      first(promises.halts.keys(), (id) =>
        haltOf(past, id) === undefined ? `the halt ${id} was acknowledged and never reported` : undefined,
      ) ??
      first(platform.tables.risk.halts, ({ halt_id: id }) =>
        haltOf(past, id)?.lift === undefined ? undefined : `the halt ${id} was lifted and is still in force`,
      )
    );
  },
};

export const liftLeavesHigher: Invariant = {
  name: "lift_leaves_higher",
  sentence:
    "Who lifts a level alone lifts that level of that scope and nothing else, because the strictest halt wins and a fund is not free because one of its strategies is.",
  violated(evidence) {
    const { reported, past } = evidence;
    if (reported === undefined) {
      return first(lostHalts(evidence), (lost) => {
        const lower = past.halts.find(({ lift, ...one }) => lift !== undefined && isAbove(lost, one));
        return lower === undefined ? undefined : `${lower.halt_id} was lifted, and ${lost.halt_id} above it is gone`;
      });
    }
    return onMessage<HaltLifted>(evidence, subjects.haltLifted, (lift) => {
      if (lift.requested_by !== lift.cosigned_by) return undefined;
      const other = past.halts.find((one) => one.lift?.epoch === lift.epoch && scopeOf(one) !== scopeOf(lift));
      return other === undefined
        ? undefined
        : `${lift.cosigned_by} lifted ${scopeOf(lift)}, and ${other.halt_id} of ${scopeOf(other)} with it`;
    });
  },
};

function isAbove(higher: Scope, lower: Scope): boolean {
  const isWithin = higher.severity === "FIRM_HALT" || higher.fund_id === lower.fund_id;
  return levels[higher.severity] > levels[lower.severity] && isWithin;
}

export const liftedByPeople: Invariant = {
  name: "lifted_by_people",
  sentence:
    "Every lift is of a halt in force and follows an operator's own allowed resume in the same commit, because a machine that may lift what it raised is no brake.",
  violated: (evidence) =>
    onMessage<HaltLifted>(evidence, subjects.haltLifted, (lift) => {
      const { halt_id: id, cosigned_by: by, epoch } = lift;
      const halt = haltOf(evidence.past, id);
      if (halt === undefined || halt.lift !== undefined) return `${id} was lifted and was not in force`;
      if (halt.epoch >= epoch) return `${id} of epoch ${halt.epoch} was lifted at epoch ${epoch}`;
      if (isDrill(halt)) return undefined;
      if (!lift.requested_by.startsWith("operator:")) return `${lift.requested_by} had ${id} lifted`;
      return evidence.past.resumer === by ? undefined : `${id} was lifted by ${by} without an allowed resume of theirs`;
    }),
};

export const firmNeedsTwo: Invariant = {
  name: "firm_needs_two",
  sentence:
    "A firm halt is lifted only by a request for exactly the halts in force and another person's signature, each with a code of its own, because one pair of hands must not restart everything.",
  violated(evidence) {
    const { past } = evidence;
    return (
      onMessage<ResumeRequested>(evidence, subjects.resumeRequested, ({ requested_by: by }) => withoutCode(past, by)) ??
      onMessage<ResumeEnded>(evidence, subjects.resumeEnded, (over) => endedWrongly(past, over)) ??
      onMessage<HaltLifted>(evidence, subjects.haltLifted, (lift) => {
        const { severity, requested_by: asker, cosigned_by: signer, halt_id: id } = lift;
        if (isDrill(lift)) return undefined;
        if (asker === signer) return severity === "FIRM_HALT" ? `${signer} lifted ${id} of the firm alone` : undefined;
        const signed = [...past.resumes.values()].some(
          ({ request, ended }) =>
            request.requested_by === asker &&
            ended?.outcome === "lifted" &&
            ended.ended_by === signer &&
            request.halt_ids.includes(id),
        );
        return signed ? undefined : `${id} was lifted by ${asker} and ${signer}, and no request of theirs names it`;
      })
    );
  },
};

function withoutCode(past: History, operator: string): string | undefined {
  const { accepted, used } = codesOf(past, operator);
  return used < accepted ? undefined : `${operator} asked or signed with ${accepted} codes for the ${used + 1}th time`;
}

function endedWrongly(past: History, { request_id: id, outcome, ended_by: by }: ResumeEnded): string | undefined {
  const known = past.resumes.get(id);
  if (known === undefined) return `the request ${id} ended and was never made`;
  if (known.ended !== undefined) return `the request ${id} ended twice`;
  if (outcome !== "lifted") return undefined;
  const { request } = known;
  if (request.requested_by === by) return `${by} signed their own request ${id}`;
  const inForce = past.halts.filter((halt) => halt.lift === undefined && !isDrill(halt));
  const named = new Set(request.halt_ids);
  if (named.size !== inForce.length || !inForce.every(({ halt_id: one }) => named.has(one))) {
    return `the request ${id} named ${named.size} halts, and others were in force when ${by} signed it`;
  }
  return withoutCode(past, by);
}

const publishers: ReadonlySet<string> = new Set([subjects.riskHaltRequested.name, subjects.haltRequested.name]);
const stepsMin = 3;

export const latchReportedOnce: Invariant = {
  name: "latch_told_once",
  sentence:
    "Every service that reports a latch reports it once, and in the end the manager has reported every halt in force and proven what follows it, because a halt that no service hears of cancels nothing.",
  violated(evidence) {
    const { reported, past, settled, platform } = evidence;
    if (reported !== undefined && publishers.has(reported.subject)) {
      const { halt_id: id } = reported.payload as ActiveHalt;
      return haltOf(past, id)?.publishers.has(reported.subject)
        ? `${reported.subject} reported ${id} twice`
        : undefined;
    }
    if (reported !== undefined) {
      return onMessage<HaltStep>(evidence, subjects.haltStep, ({ halt_id: id, step }) =>
        haltOf(past, id)?.steps.has(step) ? `${step} of ${id} was proven twice` : undefined,
      );
    }
    const unreported = platform.tables.risk.halts.find(({ halt_id: id }) => haltOf(past, id) === undefined);
    if (unreported !== undefined) return `the halt ${unreported.halt_id} is latched and was never reported`;
    return settled ? first(past.halts, whatIsOwed) : undefined;
  },
};

/** What the manager has not done about a halt; undefined when everything is, or when it was lifted. */
export function whatIsOwed({ halt_id: id, lift, publishers: reported, steps }: ReportedHalt): string | undefined {
  if (lift !== undefined) return undefined;
  if (!reported.has(subjects.haltRequested.name)) return `the manager has not reported ${id}`;
  return steps.size >= stepsMin ? undefined : `${stepsMin - steps.size} steps after ${id} are not proven`;
}

const unknownUs = haltUnknownMs * 1_000;
/** What a commit may take on top of it. */
const commitUs = 300_000;

export const unknownIsHalted: Invariant = {
  name: "unknown_is_halted",
  sentence:
    "Nobody approves new risk who has not heard of a halt for longer than halts may be unheard of, because an engine that cannot know must act as if it were halted.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }) => {
      const order = asked as unknown as Order;
      const { past } = evidence;
      if (!decision.approved || mayPassHalts(past, order, decision) || isLowered(past, order)) return undefined;
      const heardAt = instant.parse(decision.decided_at) - unknownUs - commitUs;
      const unheard = past.halts.find(
        (halt) => halt.epoch > decision.halt_epoch && halt.reportedAt < heardAt && covers(halt, order),
      );
      if (unheard === undefined) return undefined;
      return `${order.order_id} was approved at epoch ${decision.halt_epoch}, long after ${unheard.halt_id} of epoch ${unheard.epoch}`;
    }),
};
