// A change of reference data that loosens while a halt covers the fund waits for a second person. What is asked for is kept in the store, so it survives a
// crash; whether it still counts follows from its time and from the version that it names.
import type { Denial } from "../../contracts/src/codes.ts";
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { ReferenceChanged, ReferenceKind } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { ReferenceRequest, UnitOfWork } from "../../ports/store.ts";
import type { ReferencePorts } from "./judge-reference.ts";
import { contentHash } from "./reference-records.ts";

const validMs = 15 * 60_000;

interface Asking {
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly content: unknown;
  readonly reason: string;
  readonly loosening: NonNullable<ReferenceChanged["loosening"]>;
  readonly identity: Identity;
}

/** In the unit in which the requester's proof was redeemed. */
export async function askSecondPerson(
  unit: UnitOfWork,
  { kind, version, content, reason, loosening, identity }: Asking,
  { clock, random, sha256 }: ReferencePorts,
): Promise<ReferenceRequest> {
  const at = clock.now();
  const request: ReferenceRequest = {
    requestId: random.uuid(),
    kind,
    version,
    content,
    reason,
    requestedBy: identity.actor,
    subject: identity.subject,
    at,
    expiresAt: plusMilliseconds(at, validMs),
  };
  await unit.reference.ask(request);
  await unit.events.publish(subjects.referenceRequested, {
    request_id: request.requestId,
    kind,
    version,
    hash: contentHash(content, sha256),
    reason,
    loosens: [...loosening.fields],
    requested_by: identity.actor,
    expires_at: format(request.expiresAt),
    at: format(at),
  });
  return request;
}

/** Why this person cannot sign it; undefined when they can. */
export async function judgeSigner(
  unit: Pick<UnitOfWork, "stepUps">,
  request: ReferenceRequest | undefined,
  identity: Identity,
  at: Instant,
): Promise<Denial | undefined> {
  if (request === undefined) return { code: "REFERENCE_REQUEST_UNKNOWN", reason: "There is no such request." };
  const { subject, requestedBy: actor, expiresAt } = request;
  if (identity.kind !== "operator" || identity.subject === subject || identity.actor === actor) {
    return { code: "REFERENCE_SAME_PERSON", reason: `${actor} asked for it, so somebody else must sign.` };
  }
  if (at >= expiresAt || at < request.at) {
    const reason = `The request was good until ${format(expiresAt)}: ask for it again.`;
    return { code: "REFERENCE_REQUEST_EXPIRED", reason };
  }
  if (await unit.stepUps.hasEndedSince({ subject, actor }, request.at)) {
    const reason = `An admin ended the logins of ${actor} since then: ask for it yourself.`;
    return { code: "REFERENCE_REQUEST_EXPIRED", reason };
  }
  return undefined;
}

/** Nothing has changed yet. */
export function pendingDocument({
  requestId,
  kind,
  version,
  content,
  reason,
  requestedBy,
  expiresAt,
}: ReferenceRequest): ReferenceDocument {
  return {
    kind,
    version,
    content_json: JSON.stringify(content),
    reason,
    set_by: requestedBy,
    request_id: requestId,
    pending: true,
    expires_at: format(expiresAt),
  };
}
