// The way up: whoever is asked to lift halts, the risk engine or the halt manager, goes through here. The rules are core/halts/halts.ts; this shell
// gives them the halts as they are, checks the second factor when they ask for it, and does what they say in one transaction.
//
//  1. Rules are asked twice: before a code is spent, and again with the halts locked, where only the second answer counts.
//  2. A lift, its events, the end of its request and the attempt are one transaction: all of it or nothing.
//  3. Every attempt of a person is reported, allowed or not; a refusal changes nothing but the request that it ends.
import type { Denial } from "../../contracts/src/codes.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import type { HaltStatus, ResumeRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import {
  drillFundId,
  type HaltsInForce,
  haltsAbout,
  judgeResume,
  type RequestEnd,
  type ResumeAsked,
  type ResumeVerdict,
  restartsAfter,
  resumeValidMs,
  type Strategy,
  strictest,
} from "../../core/halts/halts.ts";
import type { StoredResume } from "../../ports/halt-records.ts";
import type { Identity } from "../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { LiftRule, UnitOfWork } from "../../ports/store.ts";
import type { Attempt, Attempts } from "../shared/attempts.ts";
import { line } from "../shared/one-line.ts";
import { type RebaseAsked, rebaseLosses } from "../shared/rebase-losses.ts";
import type { ServicePorts } from "../shared/service.ts";
import { transactToKnownEnd } from "../shared/unknown-outcome.ts";

export type ResumeWorkflowPorts = Pick<
  ServicePorts,
  "store" | "clock" | "timers" | "random" | "log" | "oneTimeCodes" | "referenceData"
>;

interface HaltLadderOptions {
  readonly ports: ResumeWorkflowPorts;
  readonly attempts: Attempts;
  /** Runs after a lift is durable: engines shall know of it at once. That it fails takes nothing back. */
  readonly lifted: (epoch: number) => Promise<void>;
}

interface ResumeWorkflow {
  resume(request: ResumeRequest, call: Pick<RpcCall, "identity">): Promise<HaltStatus | DeniedAnswer>;
}

interface Asking {
  readonly asked: ResumeAsked;
  readonly attempt: Attempt;
  readonly strategies: readonly Strategy[];
}

type Lifting = Extract<ResumeVerdict, { readonly kind: "lift" }>;

/** What a transaction came to. */
type Done = { readonly status: HaltStatus; readonly liftedEpoch?: number } | DeniedAnswer;

export function createResumeWorkflow({ ports, attempts, lifted }: HaltLadderOptions): ResumeWorkflow {
  const { clock } = ports;

  async function resume(
    request: ResumeRequest,
    { identity }: Pick<RpcCall, "identity">,
  ): Promise<HaltStatus | DeniedAnswer> {
    const asked = readResume(request, identity);
    const { strategyId, fundId, requestId } = asked;
    const target = strategyId ?? fundId ?? requestId ?? "";
    const attempt: Attempt = { identity, verb: "ResumeHalt", target, reason: asked.reason };
    const verdict = await transactToKnownEnd(ports, "halts.look", async (unit) =>
      judgeResume(asked, await inForce(unit, asked), clock.now()),
    );
    if (verdict.kind === "refused" && verdict.ends === undefined) {
      return attempts.refused(attempt, (await whyUnknown(asked, verdict.denial)) ?? verdict.denial);
    }
    if (verdict.kind !== "refused" && verdict.needsCode) {
      const denial = await showCode(identity, request.one_time_code ?? "", asked, verdict);
      if (denial !== undefined) return attempts.refused(attempt, denial);
    }
    // A code opens the halts that were read, and none that was raised while it was judged.
    const isOpened = verdict.kind !== "refused" && verdict.needsCode;
    const bound = isOpened ? { ...asked, haltIds: verdict.halts.map(({ halt_id: id }) => id) } : asked;
    const asking: Asking = { asked: bound, attempt, strategies: await strategies(ports) };
    const done = await transactToKnownEnd(ports, "halts.resume", (unit) => decide(unit, asking));
    if (!("status" in done)) return done;
    if (done.liftedEpoch !== undefined) await tellEngines(done.liftedEpoch);
    return done.status;
  }

  /** That nothing is halted there says too little about a name that nobody has. */
  async function whyUnknown({ fundId, strategyId }: ResumeAsked, { code }: Denial): Promise<Denial | undefined> {
    if (code !== "HALT_NOT_ACTIVE" || (fundId === undefined && strategyId === undefined)) return undefined;
    const { funds } = await ports.referenceData.read();
    const isKnown = funds.some(
      ({ fund_id: id, strategies: own }) =>
        (fundId ?? id) === id && (strategyId === undefined || own.includes(strategyId)),
    );
    if (isKnown) return undefined;
    const name = (text: string): string => JSON.stringify(line(text, 128));
    const nobody = strategyId === undefined ? `fund ${name(fundId ?? "")}` : `strategy ${name(strategyId)}`;
    const where = strategyId === undefined || fundId === undefined ? "" : ` in ${name(fundId)}`;
    return { code: "HALT_SCOPE_INVALID", reason: `There is no ${nobody}${where}.` };
  }

  async function showCode(
    identity: Identity,
    code: string,
    { requestId = "" }: ResumeAsked,
    { kind, halts }: Exclude<ResumeVerdict, { readonly kind: "refused" }>,
  ): Promise<Denial | undefined> {
    // What is lifted is held against exactly this (adapters/postgres/migrations/0053-lifting.ts).
    const purpose = kind === "ask" ? "ask" : requestId === "" ? "rebase" : "sign";
    const parameters = { kind: purpose, request_id: requestId, halt_ids: halts.map(({ halt_id: id }) => id) };
    const denial = await ports.oneTimeCodes.prove(identity, { action: "ResumeHalt", parameters }, code);
    return denial?.code === "SECOND_FACTOR_WRONG" ? { ...denial, code: "RESUME_SECOND_FACTOR_WRONG" } : denial;
  }

  /** With the halts locked: what was true a moment ago need not be. */
  async function decide(unit: UnitOfWork, asking: Asking): Promise<Done> {
    const at = clock.now();
    const before = await inForce(unit, asking.asked);
    const verdict = judgeResume(asking.asked, before, at);
    // A request is live until what it asks for is done.
    const epoch = verdict.kind === "lift" ? await unlatch(unit, asking.asked, verdict, at) : before.epoch;
    if (verdict.ends !== undefined) await end(unit, verdict.ends, asking.attempt.identity.actor, at);
    if (verdict.kind === "refused") return attempts.refusedIn(unit, asking.attempt, verdict.denial);
    await attempts.allowed(unit, asking.attempt);
    return verdict.kind === "ask"
      ? ask(unit, asking, verdict.halts, before, at)
      : lift(unit, asking, verdict, { ...before, epoch }, at);
  }

  async function ask(
    unit: UnitOfWork,
    { asked, strategies: all }: Asking,
    halts: readonly ActiveHalt[],
    { epoch, active }: Before,
    at: Instant,
  ): Promise<Done> {
    const expiresAt = plusMilliseconds(at, resumeValidMs);
    const { reason, rebase: isRebased, by } = asked;
    const haltIds = halts.map(({ halt_id: id }) => id);
    const request: StoredResume = {
      requestId: ports.random.uuid(),
      haltIds,
      epoch,
      reason,
      rebase: isRebased,
      requestedBy: by.actor,
      subject: by.subject,
      at,
      expiresAt,
    };
    await unit.halts.putResume(request);
    const auditId = await unit.events.publish(subjects.resumeRequested, {
      request_id: request.requestId,
      halt_ids: haltIds,
      epoch,
      reason,
      requested_by: by.actor,
      rebase: isRebased,
      expires_at: format(expiresAt),
      at: format(at),
    });
    const status: HaltStatus = {
      ...statusOf("", halts, epoch, at),
      ...pendingFields(request),
      restarts: [...restartsAfter(halts, active, all)],
      audit_id: auditId,
    };
    return { status };
  }

  function unlatch(unit: UnitOfWork, { by, requestId }: ResumeAsked, { halts, needsCode }: Lifting, at: Instant) {
    const { subject } = by;
    const alone: LiftRule = needsCode ? { kind: "rebase", subject } : { kind: "scope" };
    const rule: LiftRule = requestId === undefined ? alone : { kind: "sign", requestId, subject };
    return unit.risk.liftHalts(
      halts.map(({ halt_id: id }) => id),
      at,
      rule,
    );
  }

  async function lift(
    unit: UnitOfWork,
    { asked, strategies: all }: Asking,
    verdict: Lifting,
    { active, epoch }: Before,
    at: Instant,
  ): Promise<Done> {
    const { halts, reason, requestedBy, cosignedBy } = verdict;
    const baseline = verdict.rebase ? "rebased" : "kept";
    const liftedIds = halts.map(({ halt_id: id }) => id);
    let auditId = "";
    for (const { halt_id, severity, fund_id, strategy_id } of halts) {
      auditId = await unit.events.publish(subjects.haltLifted, {
        halt_id,
        severity,
        fund_id,
        ...(strategy_id === undefined ? {} : { strategy_id }),
        epoch,
        reason,
        requested_by: requestedBy,
        cosigned_by: cosignedBy,
        baseline,
        lifted_at: format(at),
      });
    }
    if (verdict.rebase) await rebase(unit, halts, { setBy: cosignedBy, reason, at });
    const gone = new Set(liftedIds);
    const staying = active.filter(({ halt_id: id }) => !gone.has(id));
    const fundId = asked.fundId ?? (asked.strategyId === undefined ? "" : (halts[0]?.fund_id ?? ""));
    const status: HaltStatus = {
      ...statusOf(fundId, haltsAbout(staying, aboutOf(asked, fundId)), epoch, at),
      restarts: [...restartsAfter(halts, active, all)],
      baseline,
      audit_id: auditId,
      lifted_halt_ids: liftedIds,
    };
    return { status, liftedEpoch: epoch };
  }

  async function end(unit: UnitOfWork, { requestId, outcome }: RequestEnd, by: string, at: Instant): Promise<void> {
    const request = await unit.halts.resume(requestId);
    if (request === undefined) return;
    await unit.halts.putResume({ ...request, ended: { outcome, by, at } });
    const reported = { request_id: requestId, outcome, ended_by: by, at: format(at) };
    await unit.events.publish(subjects.resumeEnded, reported);
  }

  async function tellEngines(epoch: number): Promise<void> {
    try {
      await lifted(epoch);
    } catch (thrown) {
      ports.log.warn("a lift is in force and engines hear of it a moment later", { epoch, error: messageOf(thrown) });
    }
  }

  return { resume };
}

interface Before extends HaltsInForce {
  readonly epoch: number;
}

async function inForce(unit: UnitOfWork, { requestId }: ResumeAsked): Promise<Before> {
  const { epoch, active } = await unit.risk.lockHalts();
  // What is no identifier names no request.
  const isNamed = requestId !== undefined && idText.safeParse(requestId).success;
  const named = isNamed ? await unit.halts.resume(requestId) : undefined;
  const pending = await unit.halts.pendingResume();
  const requester = named && { subject: named.subject, actor: named.requestedBy };
  const isGone = named && requester ? await unit.stepUps.hasEndedSince(requester, named.at) : false;
  return {
    epoch,
    active,
    ...(named && { named }),
    ...(pending && { pending }),
    ...(isGone && { isRequesterGone: true }),
  };
}

/** Every strategy of the funds that people trade. */
export async function strategies({
  referenceData,
}: Pick<ResumeWorkflowPorts, "referenceData">): Promise<readonly Strategy[]> {
  const { funds } = await referenceData.read();
  const theirs = funds.filter(({ fund_id: fundId }) => fundId !== drillFundId);
  return theirs.flatMap(({ fund_id: fundId, strategies: own }) => own.map((strategyId) => ({ fundId, strategyId })));
}

/**
 * Whose halts were lifted has its losses counted anew, and nobody else: everybody after a firm halt, else a fund's own limits with its FUND_HALT
 * and a strategy's with its STRATEGY_HALT. A fund's resume forgives no strategy.
 */
async function rebase(
  unit: UnitOfWork,
  halts: readonly ActiveHalt[],
  choice: Pick<RebaseAsked, "setBy" | "reason" | "at">,
): Promise<void> {
  if (halts.some(({ severity }) => severity === "FIRM_HALT")) {
    await rebaseLosses(unit, { ...choice, of: "everything" });
    return;
  }
  const funds = new Set(halts.flatMap(({ severity, fund_id: id }) => (severity === "FUND_HALT" ? [id] : [])));
  if (funds.size > 0) await rebaseLosses(unit, { ...choice, fundIds: [...funds], of: "fund" });
  const strategies = new Map(halts.map(({ strategy_id: id, fund_id: fundId }) => [id, fundId] as const));
  for (const [strategyId, fundId] of [...strategies].sort()) {
    if (strategyId === undefined) continue;
    await rebaseLosses(unit, { ...choice, fundIds: [fundId], of: { strategyId } });
  }
}

function aboutOf({ strategyId, fundId }: ResumeAsked, ownerId: string): Parameters<typeof haltsAbout>[1] {
  if (strategyId !== undefined) return { fundId: ownerId, strategyId };
  return fundId === undefined ? "everything" : { fundId };
}

/** A scope and the halts that have a say about it. */
/** What a request to lift everything asks for, for whoever asks and for whoever shall sign. */
export function pendingFields(request: StoredResume): Partial<HaltStatus> {
  return {
    request_id: request.requestId,
    requested_by: request.requestedBy,
    reason: request.reason,
    baseline: request.rebase ? "rebased" : "kept",
    expires_at: format(request.expiresAt),
  };
}

export function statusOf(fundId: string, halts: readonly ActiveHalt[], epoch: number, at: Instant): HaltStatus {
  const severity = strictest(halts);
  return {
    fund_id: fundId,
    halted: halts.length > 0,
    ...(severity && { severity }),
    known: true,
    epoch,
    halts: [...halts],
    as_of: format(at),
    progress: [],
    restarts: [],
    lifted_halt_ids: [],
  };
}

/** Empty texts count as absent: on the wire they cannot always be distinguished. */
function readResume(request: ResumeRequest, identity: Identity): ResumeAsked {
  const given = (text: string | undefined): string | undefined =>
    text === undefined || text === "" ? undefined : text;
  const { fund_id, strategy_id, request_id, cosigned_by } = request;
  const [fundId, strategyId, requestId] = [given(fund_id), given(strategy_id), given(request_id)];
  const cosignedBy = given(cosigned_by);
  return {
    by: {
      isPerson: identity.kind === "operator",
      isOperator: identity.roles.includes("operator"),
      isRiskOfficer: identity.roles.includes("risk_officer"),
      actor: identity.actor,
      subject: identity.subject,
    },
    ...(fundId && { fundId }),
    ...(strategyId && { strategyId }),
    ...(requestId && { requestId }),
    ...(cosignedBy && { cosignedBy }),
    reason: line(request.reason ?? "", 2_000).trim(),
    confirmation: request.confirmation ?? "",
    hasCode: given(request.one_time_code) !== undefined,
    haltIds: request.halt_ids ?? [],
    rebase: request.rebase ?? false,
  };
}
