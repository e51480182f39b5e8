// The procedures about reference data: read one kind with its version, or replace it as a whole. A document that contradicts itself or
// its neighbours is refused with every mistake named, and so is one that takes away what something needs, or that loosens without a second factor; nothing
// changes then. What loosens while a halt covers the fund waits for a second person, so that the rate that caused the halt can be corrected.
//
// No order slips in between the look and the change. The kinds are locked first, which waits for every order that is on its way out and holds the
// next ones back (`reference.atSending`); then everybody's books are read by a unit of their own, which sees all that was committed before; and
// an order that waited finds the reference data changed and is read again.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  CosignReferenceRequest,
  ReferenceDataRequest,
  ReferenceDocument,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { idText, reasonText } from "../../contracts/src/records/fields.ts";
import { type ReferenceContents, type ReferenceKind, referenceKind } from "../../contracts/src/records/reference.ts";
import { coveringHalts } from "../../core/ledger/reference-changes.ts";
import type { NamedAction } from "../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ReferenceRequest, ReferenceVersion, UnitOfWork } from "../../ports/store.ts";
import { inSlices } from "../shared/waiting.ts";
import { askSecondPerson, judgeSigner, pendingDocument } from "./cosign-reference.ts";
import { dryRunDocument } from "./dry-run.ts";
import { type JudgedChange, judgeChange, type ReferencePorts } from "./judge-reference.ts";
import { proveReferenceLoosening, referenceAction } from "./prove-loosening.ts";
import { contentHash, lockReference, putReference } from "./reference-records.ts";
import { readingContent } from "./reference-rules.ts";

export type { ReferencePorts } from "./judge-reference.ts";

export async function getReferenceData(
  request: ReferenceDataRequest,
  { store }: Pick<ReferencePorts, "store">,
): Promise<ReferenceDocument> {
  const kind = kindOf(request.kind);
  const version = await store.transact("reference.get", (unit) => unit.reference.lock(kind));
  if (version === undefined) return { kind, version: 0, content_json: "[]", reason: "" };
  return documentOf(version);
}

export async function setReferenceData(
  request: ReferenceDocument,
  { identity }: Pick<RpcCall, "identity">,
  ports: ReferencePorts,
): Promise<ReferenceDocument | DeniedAnswer> {
  const kind = kindOf(request.kind);
  const reason = request.reason.trim();
  if (reason === "" && request.dry_run !== true) {
    return denied("REASON_MISSING", "Reference data is not changed without a reason.");
  }
  if (reason !== "" && !reasonText.safeParse(reason).success) {
    return denied("REFERENCE_INVALID", "The reason is longer than 2000 characters or has control characters in it.");
  }
  const read = await inSlices(readingContent(kind, request.content_json), ports.timers);
  if (!read.ok) return denied("REFERENCE_INVALID", read.mistakes.join(" "));
  const { content } = read;
  if (request.dry_run === true) return dryRun({ kind, content, reason, request }, ports);
  const named = referenceAction({ kind, version: request.version, reason }, contentHash(content, ports.sha256));
  return ports.store.transact("reference.set", async (unit) => {
    const locked = await lockReference(unit);
    const change = await judgeChange(locked, { kind, version: request.version, content }, ports);
    if ("code" in change) return { denial: change };
    const asked = { kind, version: request.version, content, setBy: identity.actor, reason };
    const at = ports.clock.now();
    if (change.loosened.length === 0) return documentOf(await putReference(unit, asked, at, ports.sha256));
    const { loosened } = change;
    const halts = await haltsOver(unit, change);
    const proof = given(request.step_up_proof);
    const loosening = await proveReferenceLoosening(unit, { loosened, halts, identity, named, proof, at });
    if ("code" in loosening) return { denial: loosening };
    if (halts.length > 0) return pendingDocument(await askSecondPerson(unit, { ...asked, loosening, identity }, ports));
    return documentOf(await putReference(unit, { ...asked, loosening }, at, ports.sha256));
  });
}

interface DryRunAsked {
  readonly kind: ReferenceKind;
  readonly content: ReferenceContents[ReferenceKind];
  readonly reason: string;
  readonly request: Pick<ReferenceDocument, "version" | "content_json">;
}

/** Judged with the kinds locked, as the change would be, and nothing is written. */
async function dryRun(
  { kind, content, reason, request }: DryRunAsked,
  ports: ReferencePorts,
): Promise<ReferenceDocument | DeniedAnswer> {
  const { version, content_json: contentJson } = request;
  const judged = await ports.store.transact("reference.set", async (unit) => {
    const change = await judgeChange(await lockReference(unit), { kind, version, content }, ports);
    return "code" in change ? change : { change, haltCount: (await haltsOver(unit, change)).length };
  });
  if ("code" in judged) return { denial: judged };
  return dryRunDocument({ kind, version, contentJson, reason, ...judged }, ports);
}

/** The second person: everything is judged again, with the kinds locked. */
export async function cosignReferenceData(
  { request_id: requestId, step_up_proof: proof }: CosignReferenceRequest,
  { identity }: Pick<RpcCall, "identity">,
  ports: ReferencePorts,
): Promise<ReferenceDocument | DeniedAnswer> {
  const named: NamedAction = { action: "CosignReferenceData", parameters: { request_id: requestId } };
  return ports.store.transact("reference.set", async (unit) => {
    const at = ports.clock.now();
    const locked = await lockReference(unit);
    const request = idText.safeParse(requestId).success ? await unit.reference.asked(requestId) : undefined;
    const unfit = await judgeSigner(unit, request, identity, at);
    if (unfit !== undefined || request === undefined) return { denial: unfit ?? unknownRequest };
    const { kind, version, content: stored, reason, requestedBy } = request;
    const content = await contentOf(request, ports);
    const change = await judgeChange(locked, { kind, version, content }, ports);
    if ("code" in change) return { denial: change };
    const { loosened } = change;
    const signing = {
      loosened,
      halts: await haltsOver(unit, change),
      identity,
      named,
      proof: given(proof),
      at,
      request,
    };
    const loosening = await proveReferenceLoosening(unit, signing);
    if ("code" in loosening) return { denial: loosening };
    const signed = { ...loosening, cosigned_by: identity.actor, request_id: requestId };
    const asked = { kind, version, content: stored, setBy: requestedBy, reason, loosening: signed };
    return { ...documentOf(await putReference(unit, asked, at, ports.sha256)), cosigned_by: identity.actor };
  });
}

async function haltsOver(unit: UnitOfWork, { loosened, before, after }: JudgedChange) {
  const { active } = await unit.oms.haltsAtSending();
  return coveringHalts(loosened, active, [...before.funds, ...after.funds]);
}

/** What was stored passed its schema when it was asked for; the schema may have grown since. */
async function contentOf(
  { kind, content }: ReferenceRequest,
  { timers }: Pick<ReferencePorts, "timers">,
): Promise<ReferenceContents[ReferenceKind]> {
  const read = await inSlices(readingContent(kind, JSON.stringify(content)), timers);
  if (read.ok) return read.content;
  throw new Fault("INTERNAL", "The request cannot be read: ask for it again.", { retry: "never" });
}

const unknownRequest: Denial = { code: "REFERENCE_REQUEST_UNKNOWN", reason: "There is no such request." };

/** Empty texts count as absent: on the wire they cannot always be distinguished. */
const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

function kindOf(text: string): ReferenceKind {
  const kind = referenceKind.safeParse(text);
  if (kind.success) return kind.data;
  const sentence = `There is no such kind of reference data; there are ${referenceKind.options.join(", ")}.`;
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}

function documentOf(version: ReferenceVersion): ReferenceDocument {
  return {
    kind: version.kind,
    version: version.version,
    content_json: JSON.stringify(version.content),
    reason: version.reason,
    set_by: version.setBy,
    set_at: format(version.setAt),
    hash: version.hash,
  };
}
