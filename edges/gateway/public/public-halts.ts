// Halts as strangers see them: without the figures that tripped them (also in words, where the fund hides what it is worth) and the typed word, and without those of drills and of funds that are not listed.

import type { HaltRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { HaltChange, HaltChanges } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { FundPolicies } from "./fund-policy.ts";

/** The scope of drills: nobody's fund. */
const drillFundId = "drill";

export type PublicHalt = Omit<HaltRequest, "evidence" | "confirmation">;

export interface PublicHaltChange {
  readonly sequence: number;
  readonly change: "raised" | "lifted";
  readonly halts: readonly PublicHalt[];
  readonly at: string;
}

export interface FollowedHalts {
  readonly epoch: number;
  readonly halts: readonly PublicHalt[];
  /** The newest, oldest first, up to `keptChangesMax`; one for every epoch, also where strangers see nothing of it. */
  readonly changes: readonly PublicHaltChange[];
}

/** As many as a client may have missed and still be told of; one that missed more learns of the gap. */
export const keptChangesMax = 1_000;

/** Whether strangers may not see what this fund is worth; "" asks for all of them. */
export type HidesValue = (fundId: string) => boolean;

/** What is said instead of a machine's sentence, which names values and losses. */
export const reasonKept = "Halted by the platform; the figures are not public.";

/** Named, not spread: what is added to the record later stays inside. What a person wrote is theirs to publish. */
export function publicHalt(halt: HaltRequest, hidesValue: HidesValue): PublicHalt {
  const { severity, fund_id, strategy_id, requested_by, halt_id, epoch, since } = halt;
  const isPersons = requested_by.startsWith("operator:");
  const scope = severity === "FIRM_HALT" ? "" : fund_id;
  const reason = isPersons || !hidesValue(scope) ? halt.reason : reasonKept;
  return { severity, fund_id, strategy_id, reason, requested_by, halt_id, epoch, since };
}

function isPublicHalt({ severity, fund_id }: HaltRequest, policies: FundPolicies): boolean {
  if (severity === "FIRM_HALT") return true;
  if (fund_id === drillFundId) return false;
  // A strategy's halt that does not name its fund may be one of a fund that is not listed.
  if (fund_id === "") return ![...policies.values()].some(({ listed }) => listed === false);
  return policies.get(fund_id)?.listed !== false;
}

/** What is allowed to be seen: which funds are listed, and which of them hide what they are worth. */
export interface Shown {
  readonly policies: FundPolicies;
  readonly hidesValue: HidesValue;
}

function publicHalts(halts: readonly HaltRequest[], { policies, hidesValue }: Shown): readonly PublicHalt[] {
  return halts.filter((halt) => isPublicHalt(halt, policies)).map((halt) => publicHalt(halt, hidesValue));
}

function publicChange({ epoch, lifted, halts, at }: HaltChange, shown: Shown): PublicHaltChange {
  return { sequence: epoch, change: lifted ? "lifted" : "raised", halts: publicHalts(halts, shown), at };
}

/** What is known now: the page that came, behind what was kept. */
export function withChanges(
  before: FollowedHalts | undefined,
  { epoch, halts, changes }: HaltChanges,
  shown: Shown,
): FollowedHalts {
  const known = before === undefined || before.epoch > epoch ? [] : before.changes;
  const fresh = changes.filter((change) => change.epoch > (known.at(-1)?.sequence ?? 0));
  const all = [...known, ...fresh.map((change) => publicChange(change, shown))];
  return { epoch, halts: publicHalts(halts, shown), changes: all.slice(-keptChangesMax) };
}
