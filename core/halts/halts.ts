// The halts as a rule book: which of them cover whom, and what a request to lift some may do. Nothing here changes anything; the shell
// (services/halts/resume-workflow.ts) asks with the halts locked, and does exactly what the verdict says.
//
// Invariants (halts.test.ts and testkit/halt-model.ts name them):
//  1. Sticky: nothing is lifted but by a verdict "lift", and that names every halt which it lifts.
//  2. Only a person with the role operator gets any verdict but a refusal; a machine never does.
//  3. The strictest level in force wins, and lifting a lower one never lifts a higher one: naming a fund lifts its FUND_HALTs and nothing else,
//     naming a strategy its STRATEGY_HALTs and nothing else.
//  4. A firm halt is lifted only together with every other halt, after two people have shown a second factor each: the one who asked, and
//     another one, compared by person and by name, never by session.
//  5. A request to lift everything is bound to exactly the halts that were in force, and is over when they changed, when its time is, when it was
//     replaced and when it was signed.
//  6. A code is asked for last: who is refused anyway never spends one.
//  7. Halts of the drill scope are no business of anybody who resumes.
//  8. To count losses anew is to loosen: with the halts of one scope it takes who may loosen limits, a risk officer, and a second factor. A request
//     to lift everything has two people with a factor each, and takes nothing more.
import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Severity } from "../../contracts/src/records/values.ts";
import { haltCovers } from "../orders/may-send.ts";

/** The fund that drills halt. It is nobody's: it has the orders of drills, and it is shown in no list. */
export const drillFundId = "drill";
/** How long a request to lift everything waits for its co-signer. */
export const resumeValidMs = 900_000;
/** Who is halted so often at one level is halted; one more would only be one more to lift. */
export const haltsPerScopeMax = 100;

type Scope = Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">;

const strictness: Readonly<Record<Severity, number>> = { STRATEGY_HALT: 1, FUND_HALT: 2, FIRM_HALT: 3 };

export function isDrill(halt: Pick<ActiveHalt, "severity" | "fund_id">): boolean {
  return halt.severity !== "FIRM_HALT" && halt.fund_id === drillFundId;
}

/** The strictest level; undefined when there is none. */
export function strictest(halts: readonly Pick<ActiveHalt, "severity">[]): Severity | undefined {
  let worst: Severity | undefined;
  for (const { severity } of halts) {
    if (worst === undefined || strictness[severity] > strictness[worst]) worst = severity;
  }
  return worst;
}

export function isSameScope(one: Scope, other: Scope): boolean {
  if (one.severity !== other.severity) return false;
  if (one.severity === "FIRM_HALT") return true;
  return one.fund_id === other.fund_id && one.strategy_id === other.strategy_id;
}

export interface Strategy {
  readonly fundId: string;
  readonly strategyId: string;
}

/** Those that have a say about a fund (the firm's, its own and its strategies') or about one strategy; about everything, all but the drill's. */
export function haltsAbout(
  active: readonly ActiveHalt[],
  about: Strategy | { readonly fundId: string } | "everything",
): readonly ActiveHalt[] {
  if (about === "everything") return active.filter((halt) => !isDrill(halt));
  if ("strategyId" in about) {
    return active.filter((halt) => haltCovers(halt, { fund_id: about.fundId, strategy_id: about.strategyId }));
  }
  return active.filter((halt) => halt.severity === "FIRM_HALT" || halt.fund_id === about.fundId);
}

/** The strategies that may trade again when these halts are lifted: covered by one of them, and by none of those that stay. */
export function restartsAfter(
  lifted: readonly ActiveHalt[],
  active: readonly ActiveHalt[],
  strategies: readonly Strategy[],
): readonly string[] {
  const gone = new Set(lifted.map(({ halt_id: id }) => id));
  const staying = active.filter(({ halt_id: id }) => !gone.has(id));
  const covers = (halts: readonly ActiveHalt[], { fundId, strategyId }: Strategy): boolean =>
    halts.some((halt) => haltCovers(halt, { fund_id: fundId, strategy_id: strategyId }));
  return strategies
    .filter((strategy) => covers(lifted, strategy) && !covers(staying, strategy))
    .map(({ strategyId }) => strategyId);
}

/** Whoever asks, as far as it was proved. */
export interface Asker {
  readonly isPerson: boolean;
  readonly isOperator: boolean;
  readonly isRiskOfficer: boolean;
  /** `operator:<name>`. */
  readonly actor: string;
  /** The person itself, the same under every session. */
  readonly subject: string;
}

export interface ResumeAsked {
  readonly by: Asker;
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly requestId?: string;
  readonly reason: string;
  readonly confirmation: string;
  readonly cosignedBy?: string;
  readonly hasCode: boolean;
  /** What the caller was shown; empty when it did not say. */
  readonly haltIds: readonly string[];
  readonly rebase: boolean;
}

/** A request to lift everything, as far as it is judged. */
export interface ResumeWaiting {
  readonly requestId: string;
  readonly haltIds: readonly string[];
  readonly reason: string;
  readonly rebase: boolean;
  readonly requestedBy: string;
  readonly subject: string;
  readonly expiresAt: Instant;
  readonly ended?: { readonly outcome: string };
}

export interface HaltsInForce {
  readonly active: readonly ActiveHalt[];
  /** The request that is named, if it is known. */
  readonly named?: ResumeWaiting;
  /** Whoever made that one was disabled or had their logins ended since. */
  readonly isRequesterGone?: boolean;
  /** The request that has not ended, if there is one. */
  readonly pending?: ResumeWaiting;
}

/** Which request a verdict ends, and how. */
export interface RequestEnd {
  readonly requestId: string;
  readonly outcome: "lifted" | "void" | "expired" | "replaced";
}

export type ResumeVerdict =
  | { readonly kind: "refused"; readonly denial: Denial; readonly ends?: RequestEnd }
  | {
      readonly kind: "ask";
      readonly halts: readonly ActiveHalt[];
      readonly needsCode: true;
      readonly ends?: RequestEnd;
    }
  | {
      readonly kind: "lift";
      readonly halts: readonly ActiveHalt[];
      readonly needsCode: boolean;
      readonly reason: string;
      readonly requestedBy: string;
      readonly cosignedBy: string;
      readonly rebase: boolean;
      readonly ends?: RequestEnd;
    };

/** What a request to lift may do, with the halts as they are at this moment. */
export function judgeResume(asked: ResumeAsked, inForce: HaltsInForce, at: Instant): ResumeVerdict {
  const { by, cosignedBy, confirmation } = asked;
  if (!by.isPerson || !by.isOperator) return refused("RESUME_NOT_OPERATOR", "Only an operator may lift a halt.");
  if (cosignedBy !== undefined && cosignedBy !== by.actor) {
    return refused("RESUME_COSIGN_FORGED", `You are ${by.actor}: leave cosigned_by out, or say that.`);
  }
  if (confirmation !== "RESUME") return refused("CONFIRMATION_WRONG", "Type RESUME to confirm.");
  if (asked.requestId !== undefined) return judgeCosign(asked, asked.requestId, inForce, at);
  if (asked.reason === "") return refused("RESUME_REASON_MISSING", "Say why: a halt is not lifted without a reason.");
  const isScoped = asked.fundId !== undefined || asked.strategyId !== undefined;
  return isScoped ? judgeScope(asked, inForce) : judgeAll(asked, inForce);
}

/** What a resume of that fund or strategy lifts: its own halts, of exactly that level; of everything, all. */
export function haltsLiftedWith(
  active: readonly ActiveHalt[],
  { fundId, strategyId }: Pick<ResumeAsked, "fundId" | "strategyId">,
): readonly ActiveHalt[] {
  const isScoped = fundId !== undefined || strategyId !== undefined;
  return active.filter((halt) => !isDrill(halt) && (!isScoped || isOwn(halt, fundId, strategyId)));
}

/** One fund's or one strategy's own halts, of exactly that level. */
function judgeScope(asked: ResumeAsked, { active, pending }: HaltsInForce): ResumeVerdict {
  const { by, reason, rebase } = asked;
  const halts = haltsLiftedWith(active, asked);
  if (halts.length === 0) return nothingThere(asked, active);
  if (!isShown(asked.haltIds, halts)) return changed();
  if (rebase && !by.isRiskOfficer) {
    const role = "To count losses anew needs the role risk_officer as well; without it, resume and keep the baseline.";
    return refused("RESUME_REBASE_NOT_RISK_OFFICER", role);
  }
  if (rebase && !asked.hasCode) {
    return refused("STEP_UP_REQUIRED", "To count losses anew needs a one-time code of your second factor.");
  }
  return {
    kind: "lift",
    halts,
    needsCode: rebase,
    reason,
    requestedBy: by.actor,
    cosignedBy: by.actor,
    rebase,
    // What the other one would sign is no longer what was shown.
    ...(pending === undefined ? {} : { ends: { requestId: pending.requestId, outcome: "void" } }),
  };
}

function isOwn(halt: ActiveHalt, fundId: string | undefined, strategyId: string | undefined): boolean {
  if (strategyId === undefined) return halt.severity === "FUND_HALT" && halt.fund_id === fundId;
  const isOfFund = fundId === undefined || halt.fund_id === fundId;
  return halt.severity === "STRATEGY_HALT" && halt.strategy_id === strategyId && isOfFund;
}

function nothingThere({ fundId, strategyId }: ResumeAsked, active: readonly ActiveHalt[]): ResumeVerdict {
  const name = strategyId ?? fundId ?? "";
  const what = strategyId === undefined ? "fund" : "strategy";
  const isFirm = active.some(({ severity }) => severity === "FIRM_HALT");
  const more = isFirm ? " The firm is halted: that is lifted only together with every other halt." : "";
  return refused("HALT_NOT_ACTIVE", `The ${what} ${name} has no halt of its own in force.${more}`);
}

/** Everything: this one only asks, another person signs. */
function judgeAll(asked: ResumeAsked, { active, pending }: HaltsInForce): ResumeVerdict {
  const halts = haltsLiftedWith(active, {});
  if (halts.length === 0) return refused("HALT_NOT_ACTIVE", "No halt is in force.");
  if (!isShown(asked.haltIds, halts)) return changed();
  if (!asked.hasCode) return noCode();
  return {
    kind: "ask",
    halts,
    needsCode: true,
    ...(pending === undefined ? {} : { ends: { requestId: pending.requestId, outcome: "replaced" } }),
  };
}

function judgeCosign(
  asked: ResumeAsked,
  requestId: string,
  { active, named, isRequesterGone }: HaltsInForce,
  at: Instant,
): ResumeVerdict {
  const { by } = asked;
  if (named === undefined) return refused("RESUME_REQUEST_UNKNOWN", "There is no such request to sign.");
  if (named.ended !== undefined) return ended(requestId, named.ended.outcome);
  if (named.subject === by.subject || named.requestedBy.toLowerCase() === by.actor.toLowerCase()) {
    return refused("RESUME_COSIGN_SAME_PERSON", "You asked for this yourself: another operator must sign it.");
  }
  if (at >= named.expiresAt) {
    const denial = {
      code: "RESUME_REQUEST_EXPIRED",
      reason: `The request ${requestId} waited too long. Ask again.`,
    } as const;
    return { kind: "refused", denial, ends: { requestId, outcome: "expired" } };
  }
  if (isRequesterGone === true) {
    const reason = `An admin ended the logins of ${named.requestedBy} since they asked, so nothing was lifted. Ask yourself.`;
    return { kind: "refused", denial: { code: "RESUME_REQUEST_VOID", reason }, ends: { requestId, outcome: "void" } };
  }
  const halts = haltsLiftedWith(active, {});
  if (!isSet(named.haltIds, halts)) {
    const reason = `The halts changed since ${requestId} was made, so nothing was lifted. Read them, and ask again.`;
    return { kind: "refused", denial: { code: "RESUME_REQUEST_VOID", reason }, ends: { requestId, outcome: "void" } };
  }
  if (asked.haltIds.length > 0 && !isSet(asked.haltIds, halts)) return changed();
  if (asked.fundId !== undefined || asked.strategyId !== undefined) {
    return refused("HALT_SCOPE_INVALID", "Who signs a request names it, and neither fund nor strategy.");
  }
  if (!asked.hasCode) return noCode();
  return {
    kind: "lift",
    halts,
    needsCode: true,
    reason: named.reason,
    requestedBy: named.requestedBy,
    cosignedBy: by.actor,
    rebase: named.rebase,
    ends: { requestId, outcome: "lifted" },
  };
}

function isShown(shown: readonly string[], halts: readonly ActiveHalt[]): boolean {
  return shown.length === 0 || isSet(shown, halts);
}

export function isSet(haltIds: readonly string[], halts: readonly ActiveHalt[]): boolean {
  const named = new Set(haltIds);
  return named.size === halts.length && halts.every(({ halt_id: id }) => named.has(id));
}

function changed(): ResumeVerdict {
  return refused("RESUME_REQUEST_VOID", "These are not the halts in force. Read them, and ask again.");
}

function noCode(): ResumeVerdict {
  return refused("RESUME_SECOND_FACTOR_MISSING", "Show a one-time code of your second factor with the request.");
}

/** Why a request that is over cannot be signed, and what to do now. */
function ended(requestId: string, outcome: string): ResumeVerdict {
  if (outcome === "lifted") {
    return refused("RESUME_REQUEST_UNKNOWN", `The request ${requestId} was signed already, and its halts are lifted.`);
  }
  if (outcome === "replaced") {
    return refused(
      "RESUME_REQUEST_VOID",
      `A newer request took the place of ${requestId}: read the halts, and sign that one.`,
    );
  }
  if (outcome === "expired") {
    return refused("RESUME_REQUEST_EXPIRED", `The request ${requestId} waited too long. Ask again.`);
  }
  return refused("RESUME_REQUEST_VOID", `The halts changed since ${requestId} was made. Read them, and ask again.`);
}

function refused(code: DenialCode, reason: string): ResumeVerdict {
  return { kind: "refused", denial: { code, reason } };
}
