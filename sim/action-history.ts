// The part of what was reported that is about splits and changes of symbols: what each of them made of every position, of stops that are owed and of what
// one unit is for, reckoned from its terms and its fills.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { ActionLeg, CorporateActionChanged } from "../contracts/src/records/corporate-action.ts";
import type { StopTriggered } from "../contracts/src/records/operations.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Reported } from "./reported.ts";

/** What a strategy held of a symbol before an action and after it, and how much of that was paid for in lieu of fractions. */
export interface MovedPosition {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly before: Decimal;
  readonly after: Decimal;
  readonly inLieu: Decimal;
}

export interface AppliedAction {
  readonly actionId: string;
  readonly legs: readonly ActionLeg[];
  /** Where in the log it was reported. */
  readonly position: number;
  /** Of all of its symbols, old and new. */
  readonly positions: readonly MovedPosition[];
}

interface MovedStop {
  readonly triggered: StopTriggered;
  readonly ended: unknown;
  exited: Decimal;
  added: Decimal;
}

export interface ActionHistory {
  /** As each was reported last, and when it was announced. */
  readonly actions: Map<string, { readonly reported: CorporateActionChanged; readonly announcedAt: number }>;
  /** In the order in which they were applied. */
  readonly applied: AppliedAction[];
  /** What one unit of a symbol is for. */
  readonly multipliers: Map<string, Decimal>;
}

/** What the rest of the history has, of which this is a part. */
export interface Traded<Stop extends MovedStop = MovedStop> extends ActionHistory {
  readonly fills: ReadonlyMap<string, Fill>;
  readonly filledAt: ReadonlyMap<string, number>;
  readonly strategyPositions: ReadonlyMap<string, Decimal>;
  readonly stops: Map<string, Stop>;
  readonly waiting: Map<string, string[]>;
}

export function actionHistory(multipliers: ReadonlyMap<string, Decimal>): ActionHistory {
  return { actions: new Map(), applied: [], multipliers: new Map(multipliers) };
}

export function isOfAction({ kind }: Pick<Fill, "kind">): boolean {
  return kind === "CORPORATE_ACTION" || kind === "CASH_IN_LIEU";
}

/** Rounded towards zero. */
export function times(value: Decimal, [to, from]: readonly [number, number]): Decimal {
  return ((value * BigInt(to)) / BigInt(from)) as Decimal;
}

/** What an action that is reported as applied changed; its fills were reported before it, in the same commit. */
export function appliedOf(past: Traded, { payload, position }: Reported): AppliedAction {
  const { action_id: actionId, legs } = payload as CorporateActionChanged;
  const since = past.actions.get(actionId)?.announcedAt ?? 0;
  return { actionId, legs, position, positions: movedBy(past, legs, since) };
}

function movedBy(past: Traded, legs: readonly ActionLeg[], since: number): readonly MovedPosition[] {
  const symbols = new Set(legs.flatMap((leg) => [leg.symbol, leg.new_symbol]));
  const fills = [...past.fills.values()].filter(
    (fill) => isOfAction(fill) && symbols.has(fill.symbol) && (past.filledAt.get(fill.fill_id) ?? 0) >= since,
  );
  const sumOf = (all: readonly Fill[]): Decimal =>
    all.reduce<Decimal>((sum, { side, quantity }) => {
      const amount = decimal.parse(quantity);
      return side === "BUY" ? decimal.add(sum, amount) : decimal.subtract(sum, amount);
    }, decimal.zero);
  return [...past.strategyPositions].flatMap(([key, after]) => {
    const [fundId = "", strategyId = "", ...words] = key.split(" ");
    const symbol = words.join(" ");
    if (!symbols.has(symbol)) return [];
    const own = fills.filter(
      (fill) => fill.fund_id === fundId && fill.strategy_id === strategyId && fill.symbol === symbol,
    );
    const inLieu = sumOf(own.filter(({ kind }) => kind === "CASH_IN_LIEU"));
    return [{ fundId, strategyId, symbol, before: decimal.subtract(after, sumOf(own)), after, inLieu }];
  });
}

/** How a message changes what must be true of corporate actions. */
export const actionFolds: Readonly<Record<string, (past: Traded, reported: Reported) => void>> = {
  [subjects.corporateActionChanged.name]: (past, reported) => {
    const action = reported.payload as CorporateActionChanged;
    if (action.state === "APPLIED") apply(past, appliedOf(past, reported));
    const known = past.actions.get(action.action_id);
    const announcedAt = action.state === "ANNOUNCED" ? reported.at : (known?.announcedAt ?? reported.at);
    past.actions.set(action.action_id, { reported: action, announcedAt });
  },
};

function apply(past: Traded, action: AppliedAction): void {
  past.applied.push(action);
  carryAlarms(past, action);
  const before = new Map(past.multipliers);
  for (const { symbol, new_symbol: newSymbol, quantity, price } of action.legs) {
    // What a position is worth stays: quantity x price x multiplier.
    const perUnit = [quantity[1] * price[1], quantity[0] * price[0]] as const;
    past.multipliers.set(newSymbol, times(before.get(symbol) ?? decimal.one, perUnit));
  }
  for (const [id, stop] of past.stops) {
    const leg = action.legs.find(({ symbol }) => symbol === stop.triggered.symbol);
    if (leg === undefined || stop.ended !== undefined) continue;
    const quantity = decimal.format(times(decimal.parse(stop.triggered.quantity), leg.quantity));
    past.stops.set(id, {
      ...stop,
      triggered: { ...stop.triggered, symbol: leg.new_symbol, quantity },
      exited: times(stop.exited, leg.quantity),
      added: times(stop.added, leg.quantity),
    });
  }
}

/** What an alarm said of a stop under the old name of its symbol is said of it under the new one. */
function carryAlarms({ waiting }: Traded, { legs }: AppliedAction): void {
  for (const { symbol, new_symbol: newSymbol } of legs) {
    if (symbol === newSymbol) continue;
    for (const [key, sentences] of [...waiting]) {
      const [fundId, ...words] = key.split(" ");
      if (words.join(" ") !== symbol) continue;
      const carried = sentences.map((sentence) => sentence.replace(` in ${symbol} `, ` in ${newSymbol} `));
      const named = `${fundId} ${newSymbol}`;
      waiting.set(named, [...(waiting.get(named) ?? []), ...carried]);
    }
  }
}
