// The part of what was reported that is about halts, who lifted them, and the losses that raise them: folded as plainly as the rest of the history.
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import type {
  ActiveHalt,
  HaltLifted,
  HaltStep,
  HaltStepName,
  LossBaseline,
  ResumeEnded,
  ResumeRequested,
} from "../contracts/src/records/halt.ts";
import type { OperatorAttempted, StepUpEvent } from "../contracts/src/records/platform.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Reported } from "./reported.ts";

export interface ReportedHalt extends ActiveHalt {
  /** When it was reported first, in microseconds. */
  readonly reportedAt: number;
  /** Who has reported it: the risk engine that latched it, and the halt manager. */
  readonly publishers: Set<string>;
  readonly steps: Set<HaltStepName>;
  lift: HaltLifted | undefined;
}

/** A fund's value, and where in the log it was reported. */
export interface ReportedNav {
  readonly nav: NavUpdated;
  readonly position: number;
  /** What a unit of the fund is worth, its first value being one. */
  readonly perUnit: number;
}

export interface HaltHistory {
  /** Every halt that there ever was, in the order in which they were reported. */
  readonly halts: ReportedHalt[];
  /** Requests to lift everything, by their ids. */
  readonly resumes: Map<string, { readonly request: ResumeRequested; ended: ResumeEnded | undefined }>;
  /** By operator: codes that were accepted for a resume, and those that a request or a signature has used. */
  readonly codes: Map<string, { accepted: number; used: number }>;
  /** The operator whose allowed resume is being reported: what it lifts follows without anything in between. */
  resumer: string | undefined;
  /** By fund, strategy, limit, period and version. */
  readonly baselines: Map<string, LossBaseline>;
  /** The last few of each fund. */
  readonly navs: Map<string, readonly ReportedNav[]>;
  /** By fund and moment: `perUnit` of every value that was reported. */
  readonly perUnits: Map<string, number>;
}

/** Figures per unit are not exact, and those of the services are rounded: a loss is surely above its limit by this factor. */
export const surely = 1.000_001;

export const perUnitKey = (fundId: string, asOf: string): string => `${fundId} ${asOf}`;

export const baselineKey = (
  of: Pick<LossBaseline, "fund_id" | "strategy_id" | "period" | "version"> & { readonly limit: string },
): string => `${of.fund_id} ${of.strategy_id ?? ""} ${of.limit} ${of.period} ${of.version}`;
const navsKept = 60;

export function haltHistory(): HaltHistory {
  return {
    halts: [],
    resumes: new Map(),
    codes: new Map(),
    resumer: undefined,
    baselines: new Map(),
    navs: new Map(),
    perUnits: new Map(),
  };
}

/** Money that came or went is left out; of the two moments at which it may have done so, that which makes less of a loss. */
function perUnitAfter(before: ReportedNav | undefined, { nav, net_flows: flows = "0" }: NavUpdated): number {
  if (before === undefined) return 1;
  const [now, was] = [Number(nav), Number(before.nav.nav)];
  const flow = Number(flows) - Number(before.nav.net_flows ?? "0");
  return before.perUnit * Math.max((now - flow) / was, flow === 0 ? 0 : now / (was + flow));
}

/** How a message changes what must be true of halts. */
export const haltFolds: Readonly<Record<string, (past: HaltHistory, reported: Reported) => void>> = {
  [subjects.riskHaltRequested.name]: foldHalt,
  [subjects.haltRequested.name]: foldHalt,
  [subjects.haltLifted.name]: (past, { payload }) => {
    const lift = payload as HaltLifted;
    const halt = haltOf(past, lift.halt_id);
    if (halt !== undefined) halt.lift ??= lift;
  },
  [subjects.haltStep.name]: (past, { payload }) => {
    const { halt_id: id, step } = payload as HaltStep;
    haltOf(past, id)?.steps.add(step);
  },
  [subjects.operatorAttempted.name]: (past, { payload }) => {
    const { operator, verb, allowed } = payload as OperatorAttempted;
    if (verb === "ResumeHalt" && allowed) past.resumer = operator;
  },
  [subjects.stepUpGranted.name]: (past, { payload }) => {
    const { operator, action } = payload as StepUpEvent;
    if (action === "ResumeHalt") codesOf(past, operator).accepted += 1;
  },
  [subjects.resumeRequested.name]: (past, { payload }) => {
    const request = payload as ResumeRequested;
    codesOf(past, request.requested_by).used += 1;
    past.resumes.set(request.request_id, { request, ended: undefined });
  },
  [subjects.resumeEnded.name]: (past, { payload }) => {
    const over = payload as ResumeEnded;
    const known = past.resumes.get(over.request_id);
    if (known !== undefined) known.ended ??= over;
    if (over.outcome === "lifted") codesOf(past, over.ended_by).used += 1;
  },
  [subjects.lossBaseline.name]: (past, { payload }) => {
    const baseline = payload as LossBaseline;
    past.baselines.set(baselineKey(baseline), baseline);
  },
  [subjects.navUpdated.name]: (past, { payload, position }) => {
    const nav = payload as NavUpdated;
    const before = past.navs.get(nav.fund_id) ?? [];
    const perUnit = perUnitAfter(before.at(-1), nav);
    past.perUnits.set(perUnitKey(nav.fund_id, nav.as_of), perUnit);
    past.navs.set(nav.fund_id, [...before, { nav, position, perUnit }].slice(-navsKept));
  },
};

function foldHalt(past: HaltHistory, { payload, subject, at }: Reported): void {
  const halt = payload as ActiveHalt;
  const known = haltOf(past, halt.halt_id);
  if (known !== undefined) known.publishers.add(subject);
  else past.halts.push({ ...halt, reportedAt: at, publishers: new Set([subject]), steps: new Set(), lift: undefined });
}

export function haltOf({ halts }: HaltHistory, id: string): ReportedHalt | undefined {
  return halts.find(({ halt_id: one }) => one === id);
}

export function codesOf({ codes }: HaltHistory, operator: string): { accepted: number; used: number } {
  const known = codes.get(operator) ?? { accepted: 0, used: 0 };
  codes.set(operator, known);
  return known;
}

/** Who an allowed resume is from counts for what follows it in the same commit only. */
const ofOneResume: ReadonlySet<string> = new Set([subjects.haltLifted.name, subjects.lossBaseline.name]);

export function isOfOneResume({ subject }: Reported): boolean {
  return ofOneResume.has(subject);
}
