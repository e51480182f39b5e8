// What ends each standing condition, for people: one sentence, and the command where one does it.
import type { DenialCode, FaultCode } from "../../contracts/src/codes.ts";
import { episodeEnds, findCondition, restrictionsList } from "../blocks/index.ts";
import type { StandingBlock } from "./standing.ts";

interface BlockWords {
  readonly ends: string;
  readonly command?: string;
  /** Why it is not known since when, where it is not. */
  readonly sinceUnknown: string;
}

type Named = Pick<StandingBlock, "fundId" | "strategyId" | "symbol" | "blockId">;
type Words = (named: Named) => Omit<BlockWords, "sinceUnknown"> & { readonly sinceUnknown?: string };

const notKept = "The engine does not keep when it began.";
const neverSeen = "There has been none since the engine started.";
const freshPrice = "The next price ends it; when none comes, check the feed.";

const closedEnvelope: Words = ({ fundId }) => ({
  ends: "A risk officer opens the fund's limits again; marked exits pass meanwhile.",
  command: `ctl riskengine envelope show --fund-id ${fundId ?? ""}`,
});

const words: Readonly<Partial<Record<DenialCode | FaultCode, Words>>> = {
  FIRM_HALTED: () => ({
    ends: "Two operators lift every halt, the firm's included.",
    command: "ctl cmd resume --reason TEXT --confirm RESUME --totp CODE",
  }),
  FUND_HALTED: ({ fundId }) => ({
    ends: "An operator lifts the fund's halts.",
    command: `ctl cmd resume ${fundId ?? ""} --reason TEXT --confirm RESUME`,
  }),
  STRATEGY_HALTED: ({ strategyId }) => ({
    ends: "An operator lifts the strategy's halts.",
    command: `ctl cmd resume ${strategyId ?? ""} --reason TEXT --confirm RESUME`,
  }),
  HALT_STATE_UNKNOWN: () => ({
    ends: "It ends when the store answers again; after a mismatch of the books, when the engine is started anew.",
    command: "ctl doctor",
  }),
  ORDER_FUND_FLATTENING: () => ({
    ends: "It ends by itself when the fund's broker calls it flat; marked exits pass meanwhile.",
    command: "ctl operations flatten show",
  }),
  BROKER_NOT_ALLOWED: closedEnvelope,
  ORDER_TYPE_NOT_ALLOWED: closedEnvelope,
  ASSET_CLASS_NOT_ALLOWED: closedEnvelope,
  NOTIONAL_ABOVE_MAX: closedEnvelope,
  POSITION_LIMIT_EXCEEDED: closedEnvelope,
  GROSS_EXPOSURE_EXCEEDED: closedEnvelope,
  NET_EXPOSURE_EXCEEDED: closedEnvelope,
  EXIT_HAS_PRIORITY: ({ fundId }) => ({
    ends: "It ends when the exit passes: as soon as the approvals that hold its room are sent, run out or are released.",
    command: `ctl riskengine approvals list --unsent --fund-id ${fundId ?? ""}`,
  }),
  GROSS_EXPOSURE_REDUCED: () => ({ ends: episodeEnds, command: restrictionsList }),
  SHORT_OPTIONS_BLOCKED: () => ({ ends: episodeEnds, command: restrictionsList }),
  SYMBOL_RESTRICTED: () => ({
    ends: "It ends when the restricted list no longer has the symbol.",
    command: "ctl treasury reference show --kind restricted",
    sinceUnknown: "The restricted list has no dates.",
  }),
  REFERENCE_PRICE_MISSING: () => ({ ends: freshPrice, sinceUnknown: neverSeen }),
  REFERENCE_PRICE_STALE: () => ({ ends: freshPrice }),
  MARK_MISSING: () => ({ ends: "A price of what the fund holds ends it.", sinceUnknown: neverSeen }),
  MARK_STALE: () => ({ ends: "A fresh price of everything that the fund holds ends it." }),
  DELTA_MISSING: () => ({ ends: "The option's next price with a delta ends it.", sinceUnknown: neverSeen }),
  DELTA_STALE: () => ({
    ends: "A fresh price of the option and of its underlying ends it; when none comes, check the feed.",
  }),
  FX_RATE_MISSING: () => ({
    ends: "A rate in the reference data ends it.",
    command: "ctl treasury reference show --kind fx",
  }),
  FX_RATE_STALE: () => ({ ends: "A newer rate ends it.", command: "ctl treasury reference show --kind fx" }),
  NAV_MISSING: ({ fundId }) => ({
    ends: "The fund's first valuation ends it.",
    command: `ctl treasury navs list --fund-id ${fundId ?? ""}`,
    sinceUnknown: neverSeen,
  }),
  NAV_STALE: ({ fundId }) => ({
    ends: "The next valuation from fresh prices ends it.",
    command: `ctl treasury navs list --fund-id ${fundId ?? ""}`,
  }),
  NAV_NOT_POSITIVE: () => ({ ends: "The fund must be worth more than nothing: money has to come in." }),
  ENVELOPE_MISSING: ({ fundId }) => ({
    ends: "A risk officer gives the fund its limits.",
    command: `ctl riskengine envelope set --fund-id ${fundId ?? ""}`,
    sinceUnknown: "It never had any.",
  }),
  SCHEMA_FUND_UNKNOWN: () => ({
    ends: "It ends when the reference data names the fund.",
    command: "ctl treasury reference show --kind funds",
  }),
  OPEN_ORDERS_EXCEEDED: ({ fundId }) => ({
    ends: "It ends when open orders end.",
    command: `ctl oms orders list --open --fund-id ${fundId ?? ""}`,
  }),
};

const store: BlockWords = {
  ends: "It ends when the store answers.",
  command: "ctl doctor",
  sinceUnknown: notKept,
};

/** What a condition's sentence or command names. */
function filledIn(text: string, { fundId = "", strategyId = "", symbol = "it", blockId = "" }: Named): string {
  return text
    .replace("{fund_id}", () => fundId)
    .replace("{strategy_id}", () => strategyId)
    .replace("{symbol}", () => symbol)
    .replace("{block_id}", () => blockId);
}

export function blockWords(code: DenialCode | FaultCode, named: Named): BlockWords {
  const condition = findCondition(code);
  if (condition !== undefined) {
    const { ends, command, sinceUnknown = notKept } = condition;
    const commanded = command === undefined ? {} : { command: filledIn(command, named) };
    return { sinceUnknown, ends: filledIn(ends, named), ...commanded };
  }
  const found = Object.hasOwn(words, code) ? words[code]?.(named) : undefined;
  return found === undefined ? store : { sinceUnknown: notKept, ...found };
}
