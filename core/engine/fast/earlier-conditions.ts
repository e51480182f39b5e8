// The conditions of a view that was recorded in forms 9 to 12, which had a member for each, as a view has them today.
import { inOrder } from "../../blocks/condition-book.ts";
import { restrictionFacts, saidBy } from "../../blocks/restriction-book.ts";
import type { StandingCondition } from "../../state/standing-condition.ts";
import type { RestrictedBy } from "../../state/view.ts";
import type { Restricted } from "./restriction-bytes.ts";

export interface EarlierConditions {
  throttleTripped?: boolean;
  /** Of a corporate action, where it begins so; else a difference with the broker. */
  symbolBlock?: string;
  isLossPending?: boolean;
  /** Why. */
  lossNotJudged?: string;
  auditBlock?: string;
  diskBlock?: string;
  changeBlock?: string;
  restricted?: Restricted;
  /** The oldest block that waits to be accepted, and how many do; the symbol is empty when the whole fund is blocked. */
  openBlock?: { readonly blockId: string; readonly reason: string; readonly symbol: string; readonly count: number };
}

const ofCorporateAction = "corporate action ";

type Made = (earlier: EarlierConditions) => StandingCondition | undefined;

const reasoned = (code: StandingCondition["code"], reason: string | undefined): StandingCondition | undefined =>
  reason === undefined ? undefined : { code, reason };

const by = (code: StandingCondition["code"], found: RestrictedBy | undefined): StandingCondition | undefined =>
  found && { code, reason: saidBy(found), facts: restrictionFacts(found) };

const made: readonly Made[] = [
  ({ symbolBlock }) =>
    reasoned(
      symbolBlock?.startsWith(ofCorporateAction) === true ? "CORPORATE_ACTION_UNDER_WAY" : "SYMBOL_BLOCKED",
      symbolBlock,
    ),
  ({ restricted }) => reasoned("RESTRICTIONS_UNKNOWN", restricted?.isUnknown === true ? "" : undefined),
  ({ restricted }) => by("STRATEGY_SHADOWED", restricted?.shadow),
  ({ restricted }) => by("NEWS_COOLDOWN", restricted?.cooldown),
  ({ restricted }) => by("AGGRESSIVE_THROTTLED", restricted?.throttle),
  ({ throttleTripped }) => reasoned("THROTTLE_TRIPPED", throttleTripped === true ? "" : undefined),
  ({ openBlock }) =>
    openBlock && {
      code: "FILL_NOT_ACCEPTED",
      reason: openBlock.reason,
      ...(openBlock.symbol !== "" && { symbol: openBlock.symbol }),
      facts: [["block_id", openBlock.blockId]],
      count: openBlock.count,
    },
  ({ isLossPending }) => reasoned("LOSS_CONFIRMATION_PENDING", isLossPending === true ? "" : undefined),
  ({ lossNotJudged }) => reasoned("LOSS_NOT_JUDGED", lossNotJudged),
  ({ auditBlock }) => reasoned("AUDIT_UNAVAILABLE", auditBlock),
  ({ diskBlock }) => reasoned("DISK_LOW", diskBlock),
  ({ changeBlock }) => reasoned("UNAUDITED_CHANGE", changeBlock),
];

export function earlierConditions(earlier: EarlierConditions): readonly StandingCondition[] {
  return inOrder(made.flatMap((make) => make(earlier) ?? []));
}
