// Two people close a broken log and begin another: an admin asks, somebody else signs. Each types the word and proves a second factor, and each attempt
// leaves a record, a refused one too. What is asked for waits in the store, so it survives a crash; what is signed is done in one transaction of the log.
import type { Denial } from "../../../../contracts/src/codes.ts";
import type {
  AuditAnew,
  BeginAuditAnewRequest,
  CosignAuditAnewRequest,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format, plusMilliseconds } from "../../../../contracts/src/instant.ts";
import { idText } from "../../../../contracts/src/records/fields.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { StoredAnew } from "../../../../ports/audit-anew.ts";
import type { Identity, NamedAction } from "../../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall, UnaryHandler } from "../../../../ports/rpc.ts";
import type { StepUps } from "../../../../ports/step-ups.ts";
import type { UnitOfWork } from "../../../../ports/store.ts";
import { line } from "../../../shared/one-line.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import { type LastingAudit, notBroken, otherLog } from "./lasting-audit.ts";

export interface AnewQueriesPorts
  extends Pick<ServicePorts, "store" | "clock" | "random">,
    Pick<LastingAudit, "beginAnew" | "status"> {
  readonly stepUps: StepUps;
}

const confirmationWord = "ANEW";
const validMs = 15 * 60_000;
const reasonCharactersMax = 2_000;

export function anewHandlers(ports: AnewQueriesPorts): Readonly<Record<string, UnaryHandler>> {
  return {
    BeginAuditAnew: (request: BeginAuditAnewRequest, { identity }: RpcCall) => ask(ports, request, identity),
    CosignAuditAnew: (request: CosignAuditAnewRequest, { identity }: RpcCall) => cosign(ports, request, identity),
  };
}

interface Attempt {
  readonly identity: Identity;
  readonly verb: "BeginAuditAnew" | "CosignAuditAnew";
  readonly reason: string;
}

async function ask(
  ports: AnewQueriesPorts,
  { reason: given, step_up_proof: proof, confirmation }: BeginAuditAnewRequest,
  identity: Identity,
): Promise<AuditAnew | DeniedAnswer> {
  const reason = line(given, reasonCharactersMax).trim();
  const { number, origin, broken } = ports.status();
  const attempt: Attempt = { identity, verb: "BeginAuditAnew", reason };
  const named: NamedAction = { action: attempt.verb, parameters: {} };
  const denial: Denial | undefined =
    wrongWord(confirmation) ??
    (reason === "" ? { code: "REASON_MISSING", reason: "A log is not closed without a reason." } : undefined) ??
    (broken === undefined ? notBroken : undefined) ??
    (await ports.stepUps.redeem(identity, named, proof === "" ? undefined : proof));
  if (denial !== undefined) return refused(ports, attempt, denial);
  const at = ports.clock.now();
  const request: StoredAnew = {
    requestId: ports.random.uuid(),
    log: number,
    origin,
    reason,
    requestedBy: identity.actor,
    subject: identity.subject,
    at,
    expiresAt: plusMilliseconds(at, validMs),
  };
  await ports.store.transact("audit.anew", async (unit) => {
    await unit.auditAnew.put(request);
    await record(ports, unit, attempt);
    await unit.events.publish(subjects.auditAnewRequested, {
      request_id: request.requestId,
      log: number,
      origin,
      reason,
      requested_by: identity.actor,
      expires_at: format(request.expiresAt),
      at: format(at),
    });
  });
  return pendingOf(request);
}

async function cosign(
  ports: AnewQueriesPorts,
  { request_id: requestId, step_up_proof: proof, confirmation }: CosignAuditAnewRequest,
  identity: Identity,
): Promise<AuditAnew | DeniedAnswer> {
  const { request, isGone } = await look(ports, requestId);
  const attempt: Attempt = { identity, verb: "CosignAuditAnew", reason: request?.reason ?? "" };
  const denial = wrongWord(confirmation) ?? unfit(ports, request, identity) ?? (isGone ? requesterGone : undefined);
  if (denial !== undefined || request === undefined) return refused(ports, attempt, denial ?? unknownRequest);
  const { log: number, reason, requestedBy } = request;
  const named: NamedAction = { action: attempt.verb, parameters: { request_id: requestId } };
  const done = await ports.beginAnew(
    { number, requestId, reason, requestedBy, cosignedBy: identity.actor },
    async () => {
      const unproved = await ports.stepUps.redeem(identity, named, proof === "" ? undefined : proof);
      if (unproved === undefined) await ports.store.transact("audit.anew", (unit) => record(ports, unit, attempt));
      return unproved;
    },
  );
  if ("denial" in done) return refused(ports, attempt, done.denial);
  return {
    ...pendingOf(request),
    pending: false,
    log: done.number,
    origin: done.origin,
    key: done.key,
    sequence: done.sequence,
  };
}

/** The request, and whether an admin ended the logins of whoever made it. */
async function look(
  { store }: AnewQueriesPorts,
  requestId: string,
): Promise<{ readonly request: StoredAnew | undefined; readonly isGone: boolean }> {
  if (!idText.safeParse(requestId).success) return { request: undefined, isGone: false };
  return store.transact("audit.anew.look", async (unit) => {
    const request = await unit.auditAnew.request(requestId);
    if (request === undefined) return { request, isGone: false };
    const requester = { subject: request.subject, actor: request.requestedBy };
    return { request, isGone: await unit.stepUps.hasEndedSince(requester, request.at) };
  });
}

const requesterGone: Denial = {
  code: "ANEW_REQUEST_VOID",
  reason: "An admin ended the logins of whoever asked for this since then: ask for it yourself.",
};

function wrongWord(confirmation: string): Denial | undefined {
  if (confirmation === confirmationWord) return undefined;
  return { code: "CONFIRMATION_WRONG", reason: `Type ${confirmationWord} to confirm. Nothing was done.` };
}

const unknownRequest: Denial = { code: "ANEW_REQUEST_UNKNOWN", reason: "There is no such request." };

/** What is refused before the log is read and a proof is used up. */
function unfit(
  { clock, status }: AnewQueriesPorts,
  request: StoredAnew | undefined,
  identity: Identity,
): Denial | undefined {
  if (request === undefined) return unknownRequest;
  const { number, broken } = status();
  if (request.log !== number) return otherLog(request.log, number);
  if (clock.now() >= request.expiresAt) {
    return { code: "ANEW_REQUEST_EXPIRED", reason: `The request was good until ${format(request.expiresAt)}.` };
  }
  if (identity.kind !== "operator" || identity.subject === request.subject || identity.actor === request.requestedBy) {
    return { code: "ANEW_SAME_PERSON", reason: "Somebody else than who asked must sign." };
  }
  return broken === undefined ? notBroken : undefined;
}

async function refused(ports: AnewQueriesPorts, attempt: Attempt, denial: Denial): Promise<DeniedAnswer> {
  await ports.store.transact("audit.anew", (unit) => record(ports, unit, attempt, denial));
  return { denial, isReported: true };
}

async function record(
  { clock }: AnewQueriesPorts,
  unit: UnitOfWork,
  { identity, verb, reason }: Attempt,
  denial?: Denial,
): Promise<void> {
  await unit.events.publish(subjects.operatorAttempted, {
    operator: identity.actor,
    verb,
    target: "audit",
    allowed: denial === undefined,
    ...(denial === undefined ? {} : { code: denial.code }),
    reason: denial?.reason ?? reason,
    at: format(clock.now()),
  });
}

function pendingOf({ requestId, expiresAt, log, origin }: StoredAnew): AuditAnew {
  return {
    request_id: requestId,
    pending: true,
    expires_at: format(expiresAt),
    closed_log: log,
    closed_origin: origin,
    log: 0,
    origin: "",
    key: "",
    sequence: 0,
  };
}
