// The procedures about reference data: read one kind with its version, or replace it as a whole. A document that contradicts itself or
// its neighbours is refused with every mistake named, and so is one that takes away what something needs, or that loosens without a second factor; nothing
// changes then.
//
// No order slips in between the look and the change. The kinds are locked first, which waits for every order that is on its way out and holds the
// next ones back (`reference.atSending`); then everybody's books are read by a unit of their own, which sees all that was committed before; and
// an order that waited finds the reference data changed and is read again.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ReferenceDataRequest, ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { reasonText } from "../../contracts/src/records/fields.ts";
import { type ReferenceContents, type ReferenceKind, referenceKind } from "../../contracts/src/records/reference.ts";
import { standingAgainst, takesAway } from "../../core/ledger/reference-standing.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ReferenceVersion } from "../../ports/store.ts";
import type { ServicePorts } from "../shared/service.ts";
import { loosenedBy, proveReferenceLoosening, referenceAction } from "./prove-loosening.ts";
import { readStanding } from "./reference-facts.ts";
import { canonicalText, contentHash, type LockedReference, lockReference, putReference } from "./reference-records.ts";
import { readContent, referenceMistakes } from "./reference-rules.ts";

export type ReferencePorts = Pick<ServicePorts, "clock" | "store" | "sha256" | "riskBooks" | "riskStore">;

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
    const before = contentsOf(locked);
    const after = { ...before, [kind]: read.content };
    const mistakes = referenceMistakes(after);
    if (mistakes.length > 0) return denied("REFERENCE_INVALID", mistakes.join(" "));
    const standing = await against(before, after, ports);
    if (standing.length > 0) return denied("REFERENCE_IN_USE", standing.join(" "));
    const at = ports.clock.now();
    const loosened = await loosenedBy(kind, before, after, ports);
    const named = referenceAction({ kind, version: request.version, reason }, contentHash(read.content, ports.sha256));
    const { identity } = call;
    const loosening =
      loosened.length === 0
        ? undefined
        : await proveReferenceLoosening(unit, { loosened, identity, named, proof: given(request.step_up_proof), at });
    if (loosening !== undefined && "code" in loosening) return { denial: loosening };
    const change = { kind, version: request.version, content: read.content, setBy: identity.actor, reason };
    return documentOf(await putReference(unit, { ...change, ...(loosening && { loosening }) }, at, ports.sha256));
  });
}

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

/** What was stored passed its schema when it was set. */
function contentsOf(locked: LockedReference): ReferenceContents {
  const contents = Object.fromEntries(referenceKind.options.map((kind) => [kind, locked[kind]?.content ?? []]));
  return contents as ReferenceContents;
}

/** Asked with the kinds locked. When the risk engine does not answer nothing is taken away. */
async function against(
  before: ReferenceContents,
  after: ReferenceContents,
  { store, riskBooks, riskStore, clock }: ReferencePorts,
): Promise<readonly string[]> {
  const moving = await store.transact("reference.standing", (unit) => unit.corporateActions.underWay());
  const frozen = moving.filter((action) => isChanged(before, after, action));
  if (frozen.length > 0)
    return frozen.map(
      ({ actionId, symbol }) => `${symbol} stays as it is: the corporate action ${actionId} is under way.`,
    );
  const at = clock.now();
  if (!takesAway(before, after, at)) return [];
  const lines = await riskBooks.lines();
  const { active: halts } = await riskStore.halts();
  const facts = await store.transact("reference.standing", (unit) => readStanding(unit, before, { lines, halts }));
  return standingAgainst(before, after, facts, at);
}

/** Whether an instrument that an action is about, or its new name, becomes another: the action is carried out in the terms of its announcement, by everybody. */
function isChanged(before: ReferenceContents, after: ReferenceContents, { legs }: StoredAction): boolean {
  const symbols = new Set(legs.flatMap(({ symbol, new_symbol: newSymbol }) => [symbol, newSymbol]));
  const shown = ({ instruments }: ReferenceContents): string =>
    canonicalText(instruments.filter(({ symbol }) => symbols.has(symbol)));
  return shown(before) !== shown(after);
}
