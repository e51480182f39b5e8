// An administrator's commands about the log's keys. Both need a reason and a proof of the second factor, and leave a record before anything is done;
// a refusal leaves one as well. The change itself is an entry under the administrator's name, whose data the format fixes, so the reason stands in
// the record of the attempt.
import type { Denial } from "../../../../contracts/src/codes.ts";
import type {
  AuditKeyChange,
  RevokeAuditKeyRequest,
  RotateAuditKeyRequest,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { NamedAction } from "../../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall, UnaryHandler } from "../../../../ports/rpc.ts";
import type { StepUps } from "../../../../ports/step-ups.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import { invalid } from "../log/reserved.ts";
import type { KeyChangeDone } from "./key-rotation.ts";

export interface KeyQueriesPorts extends Pick<ServicePorts, "store" | "clock"> {
  readonly stepUps: StepUps;
  readonly rotateKey: (actor: string) => Promise<KeyChangeDone>;
  readonly revokeKey: (actor: string, keyId: string) => Promise<KeyChangeDone>;
}

const reasonCharactersMax = 2_000;
const unprintable = /[\p{Cc}\u2028\u2029]/gu;
const keyIdForm = /^[0-9a-f]{8}$/;

export function keyHandlers(ports: KeyQueriesPorts): Readonly<Record<string, UnaryHandler>> {
  return {
    RotateAuditKey: ({ reason, step_up_proof: proof }: RotateAuditKeyRequest, call: RpcCall) =>
      asked(ports, call, {
        named: { action: "RotateAuditKey", parameters: {} },
        target: "audit",
        reason,
        proof,
        change: () => ports.rotateKey(call.identity.actor),
      }),
    RevokeAuditKey({ key_id: keyId, reason, step_up_proof: proof }: RevokeAuditKeyRequest, call: RpcCall) {
      if (!keyIdForm.test(keyId)) {
        throw invalid("key_id has eight hex digits: `ctl operations audit status` shows those of every key.");
      }
      return asked(ports, call, {
        named: { action: "RevokeAuditKey", parameters: { key_id: keyId } },
        target: `audit:${keyId}`,
        reason,
        proof,
        change: () => ports.revokeKey(call.identity.actor, keyId),
      });
    },
  };
}

interface Command {
  readonly named: NamedAction;
  readonly target: string;
  readonly reason: string;
  readonly proof: string;
  change(): Promise<KeyChangeDone>;
}

async function asked(
  ports: KeyQueriesPorts,
  { identity }: RpcCall,
  { named, target, reason: given, proof, change }: Command,
): Promise<AuditKeyChange | DeniedAnswer> {
  const reason = given.replaceAll(unprintable, " ").slice(0, reasonCharactersMax).trim();
  const record = (denial?: Denial): Promise<unknown> =>
    ports.store.transact("audit.key", (unit) =>
      unit.events.publish(subjects.operatorAttempted, {
        operator: identity.actor,
        verb: named.action,
        target,
        allowed: denial === undefined,
        ...(denial === undefined ? {} : { code: denial.code }),
        reason: denial?.reason ?? reason,
        at: format(ports.clock.now()),
      }),
    );
  const denial: Denial | undefined =
    reason === ""
      ? { code: "REASON_MISSING", reason: "A key of the audit log is not changed without a reason." }
      : await ports.stepUps.redeem(identity, named, proof === "" ? undefined : proof);
  await record(denial);
  if (denial !== undefined) return { denial, isReported: true };
  const done = await change();
  return { sequence: done.sequence, key: done.key, old_key: done.oldKey, trusted_size: done.trustedSize };
}
