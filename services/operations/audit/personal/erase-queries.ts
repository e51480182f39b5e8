// An administrator's command to erase what the log holds sealed about a person. It needs the word, a reason and a proof of the second factor, and leaves a record
// before anything is done; a refusal leaves one as well. The entry that says that the key is gone has data that the format fixes, so the reason stands
// in the record of the attempt.
import type { Denial } from "../../../../contracts/src/codes.ts";
import type { AuditErasure, EraseAuditSubjectRequest } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { subjectCharactersMax } from "../../../../core/audit/entry-layout.ts";
import type { NamedAction } from "../../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall, UnaryHandler } from "../../../../ports/rpc.ts";
import type { StepUps } from "../../../../ports/step-ups.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import { invalid } from "../log/reserved.ts";
import type { PersonalData } from "./personal-data.ts";

export interface EraseQueriesPorts extends Pick<ServicePorts, "store" | "clock">, Pick<PersonalData, "erase"> {
  readonly stepUps: StepUps;
}

const action = "EraseAuditSubject";
const confirmationWord = "ERASE";
const reasonCharactersMax = 2_000;
const targetCharactersMax = 200;
const unprintable = /[\p{Cc}\u2028\u2029]/gu;

export function eraseHandlers(ports: EraseQueriesPorts): Readonly<Record<string, UnaryHandler>> {
  return { [action]: (request: EraseAuditSubjectRequest, call: RpcCall) => erase(ports, request, call) };
}

async function erase(
  ports: EraseQueriesPorts,
  { subject_id: person, reason: given, step_up_proof: proof, confirmation }: EraseAuditSubjectRequest,
  { identity }: RpcCall,
): Promise<AuditErasure | DeniedAnswer> {
  if (person === "" || person.length > subjectCharactersMax) {
    throw invalid(
      `subject_id has 1 to ${subjectCharactersMax} characters: name the person as entries do, operator:ada.`,
    );
  }
  const reason = given.replaceAll(unprintable, " ").slice(0, reasonCharactersMax).trim();
  const named: NamedAction = { action, parameters: { subject_id: person } };
  const denial: Denial | undefined =
    unfit(confirmation, reason) ?? (await ports.stepUps.redeem(identity, named, proof === "" ? undefined : proof));
  const target = person.replaceAll(unprintable, " ").slice(0, targetCharactersMax);
  await ports.store.transact("audit.erase", (unit) =>
    unit.events.publish(subjects.operatorAttempted, {
      operator: identity.actor,
      verb: action,
      target,
      allowed: denial === undefined,
      ...(denial === undefined ? {} : { code: denial.code }),
      reason: denial?.reason ?? reason,
      at: format(ports.clock.now()),
    }),
  );
  if (denial !== undefined) return { denial, isReported: true };
  return { subject_id: person, sequences: [...(await ports.erase(person, identity.actor))] };
}

/** What is refused before a proof is used up for it. */
function unfit(confirmation: string, reason: string): Denial | undefined {
  if (confirmation !== confirmationWord) {
    return { code: "CONFIRMATION_WRONG", reason: `Type ${confirmationWord} to confirm. Nothing was erased.` };
  }
  return reason === "" ? { code: "REASON_MISSING", reason: "Nothing is erased without a reason." } : undefined;
}
