// Every condition that denies new risk while it stands, gate by gate in the order in which a decision's record notes them. Of several that an order does not
// pass its denial names the one with the lowest rank.
//
// To add one: its entry here, behind the others of its gate and with the next rank; its code in contracts/src/codes/denials.ts, then `npm run gen`; and the
// file that finds out, with a line in services/riskengine/condition-sources.ts. DISK_LOW and disk-watch.ts are an example of all three. The recorded form of
// a decision stays as it is (a condition is recorded by its code), and so does the number of the rules: no decision of before had it in its view.
//
// What judges the order itself (its size, its price, its pace) is no condition, and neither are halts and prices that are missing or old.
import type { DenialCode } from "../../contracts/src/codes.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import { quoted } from "../state/wording.ts";
import { type Condition, type ConditionGate, conditionGates } from "./condition.ts";

const lossesList = "ctl riskengine losses list --fund-id {fund_id}";
export const episodeEnds = "It ends when the watchdog's episode clears, or by a risk officer.";
export const restrictionsList = "ctl operations restrictions list";

const nameValuer = "ctl treasury reference set --kind funds --file PATH --reason TEXT --totp CODE";

const acceptWithFactor = "ctl riskengine blocks accept {block_id} --reason TEXT --totp CODE";

/** A fill that nobody has vouched for: which block, and why. */
function waitsForOperator({ reason, symbol, facts = [], count = 1 }: StandingCondition): string {
  const where = symbol === undefined ? "the fund" : quoted(symbol);
  const others = count > 1 ? ` ${count - 1} more wait.` : "";
  return `New risk in ${where} waits until an operator accepts block ${facts[0]?.[1] ?? ""}: ${reason}${others}`;
}

export const conditions: readonly Condition[] = [
  {
    // What it would reduce is about to be counted in other units.
    code: "CORPORATE_ACTION_UNDER_WAY",
    scope: "symbol",
    gate: "static",
    rank: 1,
    exits: "NEVER",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["symbol_block"],
    sentence: ({ reason }, { order }) => `Nothing is decided in ${quoted(order.symbol)} at present: ${reason}.`,
    ends: "It ends within seconds, when every book has the action, or when it is aborted.",
  },
  {
    code: "SYMBOL_BLOCKED",
    scope: "symbol",
    ofFund: true,
    gate: "static",
    rank: 2,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    figure: ["symbol_block"],
    sentence: ({ reason }, { order }) =>
      `New risk in ${quoted(order.symbol)} waits until our position and the broker's agree: ${reason}`,
    ends: "It ends when our position in {symbol} and the broker's agree.",
    command: "ctl riskengine differences list --fund-id {fund_id}",
  },
  {
    code: "RESTRICTIONS_UNKNOWN",
    scope: "firm",
    gate: "static",
    rank: 3,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    figure: ["restrictions", "unknown"],
    hides: ["STRATEGY_SHADOWED", "NEWS_COOLDOWN", "AGGRESSIVE_THROTTLED"],
    leavesToHalts: true,
    sentence: () => "Which restrictions of watchdogs are in force is not known, and the order adds risk.",
    ends: "It ends when the store answers again.",
    command: "ctl doctor",
  },
  {
    code: "STRATEGY_SHADOWED",
    scope: "strategy",
    gate: "static",
    rank: 4,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: ({ reason }, { order }) =>
      `Strategy ${quoted(order.strategy_id)} is shadowed by ${reason}: only reductions pass.`,
    ends: episodeEnds,
    command: restrictionsList,
  },
  {
    code: "NEWS_COOLDOWN",
    scope: "symbol",
    ofFund: true,
    gate: "static",
    rank: 5,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: ({ reason }, { order }) => `${quoted(order.symbol)} cools down by ${reason}: no new risk in it.`,
    ends: episodeEnds,
    command: restrictionsList,
  },
  {
    code: "AGGRESSIVE_THROTTLED",
    scope: "symbol",
    ofFund: true,
    gate: "static",
    rank: 6,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "PASS",
    sentence: ({ reason }, { order }) =>
      `${quoted(order.symbol)} is throttled by ${reason}: only passive LIMIT orders add risk in it.`,
    ends: "Passive orders pass. It ends when the watchdog's episode clears, or by a risk officer.",
    command: restrictionsList,
  },
  {
    code: "THROTTLE_TRIPPED",
    scope: "strategy",
    gate: "static",
    rank: 7,
    exits: "ALWAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["throttle", "tripped"],
    sentence: (_standing, { order }) =>
      `Repeated executions tripped the throttle of ${quoted(order.strategy_id)}; an operator must release it.`,
    ends: "An operator releases the throttle.",
    command: "ctl riskengine throttle release --strategy-id {strategy_id} --reason TEXT",
  },
  {
    // A LIVE fund that names nobody whose values count.
    code: "VALUER_MISSING",
    scope: "fund",
    gate: "static",
    rank: 8,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: ({ fundId = "" }) =>
      `Fund ${quoted(fundId)} is LIVE and names no source of its values (valued_by), so that none counts: name it with \`${nameValuer}\`.`,
    ends: "It ends when the reference data of the fund names the source whose values count (valued_by).",
    command: nameValuer,
    sinceUnknown: "The reference data has no dates.",
  },
  {
    // A fill that nobody has vouched for, fills that are held, and a gap in a publisher's numbers.
    code: "FILL_NOT_ACCEPTED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 1,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "An operator accepts it with a reason; one without a price to hold it against also ends by the next price that it fits. Exits pass.",
    command: "ctl riskengine blocks accept {block_id} --reason TEXT",
  },
  {
    // A foreign fill whose order nobody asked about, in a fund that has a value.
    code: "ORDER_NOT_VOUCHED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 2,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "An operator accepts the fill with a reason and the second factor, or its publisher takes it back. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // A fee that no ordinary trade has, which moves cash and NAV.
    code: "FEE_NOT_VOUCHED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 3,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "An operator accepts the fill with a reason and the second factor, or its publisher takes it back. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // A date that the trade cannot have: which terms and which day it counts in is not known.
    code: "FILL_DATE_NOT_VOUCHED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 4,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "An operator accepts the fill with a reason and the second factor, or its publisher takes it back. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // A trade that is called one leg of a cross moves no position of the fund.
    code: "CROSS_NOT_VOUCHED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 5,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "The other leg ends it when it comes; else an operator accepts the leg with a reason and the second factor. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // Seeds, adjustments, settlements and corporate actions that nothing of ours stands behind.
    code: "FILL_KIND_NOT_VOUCHED",
    scope: "symbol",
    oneByOne: true,
    gate: "position_risk",
    rank: 6,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "An operator accepts the fill with a reason and the second factor. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // A value from outside that is above or below what our own books explain, or in which money came or went.
    code: "VALUE_NOT_VOUCHED",
    scope: "fund",
    oneByOne: true,
    gate: "position_risk",
    rank: 7,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    sentence: waitsForOperator,
    ends: "It ends by itself when a value is explained again; else an operator accepts this one with a reason and the second factor. Exits pass.",
    command: acceptWithFactor,
  },
  {
    // A price that moved further at once than prices move, or of which its sources say something else.
    code: "PRICE_NOT_VOUCHED",
    scope: "symbol",
    ofFund: true,
    gate: "position_risk",
    rank: 8,
    exits: "ALWAYS",
    unmarked: "PASS",
    passive: "DENIED",
    figure: ["price_range"],
    sentence: ({ reason }, { order }) => `The price of ${quoted(order.symbol)} is not believed yet: ${reason}.`,
    ends: "It ends by itself: with a price that is back inside, when 5 s have passed and none was, or when sources agree for 5 s or one falls silent. Exits pass.",
  },
  {
    code: "LOSS_CONFIRMATION_PENDING",
    scope: "fund",
    gate: "drawdown_halt",
    rank: 1,
    exits: "AS_THE_ENVELOPE_SAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["losses", "pending"],
    sentence: (_standing, { hint }) =>
      `A loss of the fund is above its limit and waits for its confirmation, and ${hint}.`,
    ends: "The next valuations confirm the loss, which halts the fund, or clear it.",
    command: lossesList,
  },
  {
    code: "LOSS_NOT_JUDGED",
    scope: "fund",
    gate: "drawdown_halt",
    rank: 2,
    exits: "AS_THE_ENVELOPE_SAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["losses", "not judged"],
    sentence: ({ reason }, { hint }) => `A loss limit of the fund is not judged (${reason}), and ${hint}.`,
    ends: "It ends when every configured loss limit is judged again; the reason says what is missing.",
    command: lossesList,
  },
  {
    code: "AUDIT_UNAVAILABLE",
    scope: "firm",
    gate: "drawdown_halt",
    rank: 3,
    exits: "ALWAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["audit"],
    sentence: ({ reason }, { hint }) => `${reason}, and ${hint}.`,
    ends: "It ends by itself when the audit log is whole and up to date again; marked exits pass meanwhile.",
    command: "ctl operations audit status",
    sinceUnknown: "The reason says since when the log is broken.",
  },
  {
    code: "DISK_LOW",
    scope: "firm",
    gate: "drawdown_halt",
    rank: 5,
    exits: "ALWAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["disk"],
    sentence: ({ reason }, { hint }) => `${reason}, and ${hint}.`,
    ends: "It ends by itself when a twentieth more than the limit is free, or when the disk can be measured again; marked exits pass meanwhile.",
    command: "ctl doctor",
  },
  {
    code: "UNAUDITED_CHANGE",
    scope: "firm",
    gate: "drawdown_halt",
    rank: 4,
    exits: "ALWAYS",
    unmarked: "DENIED",
    passive: "DENIED",
    figure: ["unaudited"],
    sentence: ({ reason }, { hint }) => `${reason}, and ${hint}.`,
    ends: "It ends when the change is undone, or accepted by an admin and a second person; marked exits pass meanwhile.",
    command: "ctl operations unaudited list",
  },
];

export function conditionsOf(gate: ConditionGate): readonly Condition[] {
  return conditions.filter((condition) => condition.gate === gate);
}

const byCode: ReadonlyMap<string, Condition> = new Map(conditions.map((condition) => [condition.code, condition]));
const places: ReadonlyMap<string, number> = new Map(
  conditionGates
    .flatMap((gate) => [...conditionsOf(gate)].sort((one, other) => one.rank - other.rank))
    .map(({ code }, place) => [code, place]),
);

/** Undefined for the code of anything else. */
export const findCondition = (code: string): Condition | undefined => byCode.get(code);

export function conditionOf(code: DenialCode): Condition {
  const condition = byCode.get(code);
  if (condition === undefined)
    throw new Defect(`${code} stands, which is none of the conditions in core/blocks/index.ts`);
  return condition;
}

/** Where it comes among all of them, by gate and rank. */
export const placeOf = (code: DenialCode): number => places.get(code) ?? places.size;
