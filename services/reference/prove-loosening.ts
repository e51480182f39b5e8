// Reference data that loosens is changed with a proof of the second factor for exactly this change; what tightens or does neither needs none.
//
//  1. Asked last: a change that would be refused anyway asks for nothing and uses no proof up.
//  2. The proof is redeemed in the transaction that writes the version, so that both happen or neither.
//  3. It opens the document as it was sent: kind, version, the SHA-256 of its content, and the reason.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { ReferenceChanged, ReferenceContents, ReferenceKind } from "../../contracts/src/records/reference.ts";
import { referenceWords } from "../../contracts/src/records/reference-fields.ts";
import {
  looseningChanges,
  type ReferenceChange,
  type ReferenceUse,
  referenceChanges,
  unknownUse,
} from "../../core/ledger/reference-changes.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { ReferenceRequest, UnitOfWork } from "../../ports/store.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { readStanding } from "./reference-facts.ts";

/** As many fields as an answer names, and as a record does. */
const namedMax = 20;
const recordedMax = 200;

/** What it loosens; facts that cannot be read count as use. */
export async function loosenedBy(
  kind: ReferenceKind,
  before: ReferenceContents,
  after: ReferenceContents,
  ports: Pick<ServicePorts, "store" | "riskBooks" | "riskStore">,
): Promise<readonly ReferenceChange[]> {
  const strict = looseningChanges(referenceChanges(kind, before, after, unknownUse));
  const { unused } = referenceWords[kind];
  // Everyday changes ask nobody.
  if (strict.length === 0 || unused === "NONE" || unused === "NOTHING USES IT") return strict;
  return looseningChanges(referenceChanges(kind, before, after, await readUse(before, ports)));
}

async function readUse(
  before: ReferenceContents,
  { store, riskBooks, riskStore }: Pick<ServicePorts, "store" | "riskBooks" | "riskStore">,
): Promise<ReferenceUse> {
  const lines = await riskBooks.lines().catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.retry !== "never") return undefined;
    throw thrown;
  });
  if (lines === undefined) return unknownUse;
  const { active: halts } = await riskStore.halts();
  const facts = await store.transact("reference.standing", (unit) => readStanding(unit, before, { lines, halts }));
  const envelopes = (await riskStore.envelopes()).map(({ fund_id: id }) => id);
  const values = (await riskStore.navs()).map(({ fund_id: id }) => id);
  const held = new Set(facts.map(({ symbol }) => symbol));
  const run = new Set([...facts.map(({ fundId }) => fundId), ...envelopes, ...values]);
  return { isHeld: (symbol) => held.has(symbol), isRun: (fundId) => run.has(fundId) };
}

interface Proving {
  readonly loosened: readonly ReferenceChange[];
  readonly identity: Identity;
  readonly named: NamedAction;
  readonly proof: string | undefined;
  readonly at: Instant;
  /** Those under which a second person must sign. */
  readonly halts: readonly ActiveHalt[];
  /** What is signed, when this is the second person. */
  readonly request?: ReferenceRequest;
}

/** What the change records of it; or why it is not made. */
export async function proveReferenceLoosening(
  unit: Pick<UnitOfWork, "stepUps">,
  { loosened, halts, identity, named, proof, at, request }: Proving,
): Promise<NonNullable<ReferenceChanged["loosening"]> | Denial> {
  const fields = loosened.map(({ field }) => line(field, 400));
  const reported = { loosens: fields.slice(0, namedMax) };
  if (proof === undefined) {
    return { code: "STEP_UP_REQUIRED", reason: needed(loosened, halts, request), ...reported };
  }
  const denial = await unit.stepUps.redeem({ identity, named, proof, at });
  return denial === undefined
    ? { fields: fields.slice(0, recordedMax), second_factor: true }
    : { ...denial, ...reported };
}

interface Proved {
  readonly kind: string;
  readonly version: number;
  readonly reason: string;
}

/** What a proof must name. */
export function referenceAction({ kind, version, reason }: Proved, contentHash: string): NamedAction {
  return { action: "SetReferenceData", parameters: { kind, version, hash: contentHash, reason } };
}

/** What is asked for, so that whoever signs knows what. */
function needed(
  loosened: readonly ReferenceChange[],
  halts: readonly ActiveHalt[],
  request: ReferenceRequest | undefined,
): string {
  const what = listed(
    loosened.map(({ field, before, after }) =>
      line(before === "" && after === "" ? field : `${field} (${before || "none"} to ${after || "none"})`, 400),
    ),
  );
  if (request !== undefined) {
    const { requestedBy, kind, version, reason } = request;
    return `${requestedBy} asked for version ${version} of ${kind} (${line(reason, 200)}). It loosens ${what}. That needs a proof of your second factor for exactly this request.`;
  }
  const [halt] = halts;
  const second = halt === undefined ? "" : ` While the halt ${halt.halt_id} is in force a second person must sign it.`;
  return `It loosens ${what}. That needs a proof of your second factor for exactly this change.${second}`;
}

function listed(fields: readonly string[]): string {
  const more = fields.length - namedMax;
  return `${fields.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
