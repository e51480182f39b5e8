// Whether a change of reference data may be made as things stand, and what it loosens: the same when it is asked for and when a second person signs it.
import type { Denial } from "../../contracts/src/codes.ts";
import { type ReferenceContents, type ReferenceKind, referenceKind } from "../../contracts/src/records/reference.ts";
import type { ReferenceChange } from "../../core/ledger/reference-changes.ts";
import { standingAgainst, takesAway } from "../../core/ledger/reference-standing.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { ServicePorts } from "../shared/service.ts";
import { loosenedBy } from "./prove-loosening.ts";
import { readStanding } from "./reference-facts.ts";
import { canonicalText, type LockedReference } from "./reference-records.ts";
import { newNameMistakes, referenceMistakes } from "./reference-rules.ts";

export type ReferencePorts = Pick<
  ServicePorts,
  "clock" | "timers" | "store" | "sha256" | "random" | "riskBooks" | "riskStore" | "limitPreviews"
>;

export interface JudgedChange {
  readonly before: ReferenceContents;
  readonly after: ReferenceContents;
  readonly loosened: readonly ReferenceChange[];
}

interface Asked {
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly content: ReferenceContents[ReferenceKind];
}

/** Asked with the kinds locked. */
export async function judgeChange(
  locked: LockedReference,
  { kind, version, content }: Asked,
  ports: ReferencePorts,
): Promise<JudgedChange | Denial> {
  const previous = locked[kind]?.version ?? 0;
  if (version !== previous + 1) {
    const sentence = `${kind} is at version ${previous}, so the next one is ${previous + 1}, not ${version}.`;
    return { code: "REFERENCE_VERSION_CONFLICT", reason: sentence };
  }
  const before = contentsOf(locked);
  const after = { ...before, [kind]: content };
  const mistakes = [...newNameMistakes(before, after), ...referenceMistakes(after)];
  if (mistakes.length > 0) return { code: "REFERENCE_INVALID", reason: mistakes.join(" ") };
  const standing = await against(before, after, ports);
  if (standing.length > 0) return { code: "REFERENCE_IN_USE", reason: standing.join(" ") };
  return { before, after, loosened: await loosenedBy(kind, before, after, ports) };
}

/** What was stored passed its schema when it was set. */
function contentsOf(locked: LockedReference): ReferenceContents {
  const contents = Object.fromEntries(referenceKind.options.map((kind) => [kind, locked[kind]?.content ?? []]));
  return contents as ReferenceContents;
}

/** When the risk engine does not answer nothing is taken away. */
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
