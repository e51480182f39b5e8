// The procedures about reference data: read one kind with its version, or replace it as a whole. A document that contradicts itself or
// its neighbours is refused with every mistake named, and nothing changes.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ReferenceDataRequest, ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { reasonText } from "../../contracts/src/records/fields.ts";
import { type ReferenceContents, type ReferenceKind, referenceKind } from "../../contracts/src/records/reference.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ReferenceVersion, UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "../service.ts";
import { type LockedReference, lockReference, putReference } from "./reference-records.ts";
import { type HeldSymbol, readContent, referenceMistakes } from "./reference-rules.ts";

export type ReferencePorts = Pick<ServicePorts, "clock" | "store" | "sha256">;

export async function getReferenceData(
  request: ReferenceDataRequest,
  { store }: ReferencePorts,
): Promise<ReferenceDocument> {
  const kind = kindOf(request.kind);
  const version = await store.transact("reference.get", (unit) => unit.reference.lock(kind));
  if (version === undefined) return { kind, version: 0, content_json: "[]", reason: "" };
  return documentOf(version);
}

export async function setReferenceData(
  request: ReferenceDocument,
  call: Pick<RpcCall, "identity">,
  ports: ReferencePorts,
): Promise<ReferenceDocument | DeniedAnswer> {
  const kind = kindOf(request.kind);
  const reason = request.reason.trim();
  if (reason === "") return denied("REASON_MISSING", "Reference data is not changed without a reason.");
  if (!reasonText.safeParse(reason).success) {
    return denied("REFERENCE_INVALID", "The reason is longer than 2000 characters or has control characters in it.");
  }
  const read = readContent(kind, request.content_json);
  if (!read.ok) return denied("REFERENCE_INVALID", read.mistakes.join(" "));
  return ports.store.transact("reference.set", async (unit) => {
    const locked = await lockReference(unit);
    const previous = locked[kind]?.version ?? 0;
    if (request.version !== previous + 1) {
      const sentence = `${kind} is at version ${previous}, so the next one is ${previous + 1}, not ${request.version}.`;
      return denied("REFERENCE_VERSION_CONFLICT", sentence);
    }
    const mistakes = referenceMistakes({ ...contentsOf(locked), [kind]: read.content }, await held(unit, locked));
    if (mistakes.length > 0) return denied("REFERENCE_INVALID", mistakes.join(" "));
    const change = { kind, version: request.version, content: read.content, setBy: call.identity.actor, reason };
    return documentOf(await putReference(unit, change, ports.clock.now(), ports.sha256));
  });
}

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

/** What was stored passed its schema when it was set. */
function contentsOf(locked: LockedReference): ReferenceContents {
  const contents = Object.fromEntries(referenceKind.options.map((kind) => [kind, locked[kind]?.content ?? []]));
  return contents as ReferenceContents;
}

/** What funds hold of the instruments that are there now; cash is no instrument. */
async function held(unit: UnitOfWork, locked: LockedReference): Promise<readonly HeldSymbol[]> {
  const symbols = new Set(contentsOf(locked).instruments.map(({ symbol }) => symbol));
  const holdings = await unit.treasury.holdings();
  return holdings.filter(({ symbol, quantity }) => quantity !== 0n && symbols.has(symbol));
}
