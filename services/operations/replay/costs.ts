// What positions cost, fill by fill in the order of the journal. Where fills do not say it (a position that came by a corporate action under another
// name, or of which a trade was taken back), the average is not known until the position is flat again.
import * as decimal from "../../../contracts/src/decimal.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { fillReversal, fill as fillSchema } from "../../../contracts/src/records/order.ts";
import { requantified } from "../../../core/ledger/corporate-actions.ts";
import { type BookedPosition, bookTrade, flatPosition, signedQuantity } from "../../../core/ledger/position.ts";
import type { JournalRow } from "../../../ports/risk-store.ts";

interface Cost extends Pick<BookedPosition, "quantity" | "cost" | "averagePrice"> {
  readonly isKnown: boolean;
}

type StoredCost = readonly [
  fundId: string,
  strategyId: string,
  symbol: string,
  quantity: string,
  cost: string,
  isKnown: boolean,
];

export interface Costs {
  add(row: Pick<JournalRow, "kind" | "payload">): void;
  /** Undefined where it is not known, or nothing is held. */
  averageOf(fundId: string, strategyId: string, symbol: string): decimal.Decimal | undefined;
  stored(): string;
}

const decoder = new TextDecoder();
const flat: Cost = { ...flatPosition, isKnown: true };
const keyOf = (...names: readonly string[]): string => JSON.stringify(names);

export function createCosts(stored = "[]"): Costs {
  const costs = new Map<string, Cost>();
  for (const [fundId, strategyId, symbol, quantity, cost, isKnown] of parseJson(stored) as readonly StoredCost[]) {
    const [held, paid] = [decimal.parse(quantity), decimal.parse(cost)];
    const averagePrice = decimal.divide(paid, held, "half-even");
    costs.set(keyOf(fundId, strategyId, symbol), { quantity: held, cost: paid, averagePrice, isKnown });
  }

  function put(key: string, cost: Cost): void {
    if (cost.quantity === decimal.zero) costs.delete(key);
    else costs.set(key, cost);
  }

  return {
    add({ kind, payload }) {
      if (kind !== "fill") return;
      const heard: unknown = parseJson(decoder.decode(payload));
      const isReversal = fillReversal.safeParse(heard).success;
      const fill = fillSchema.parse(isReversal ? { ...(heard as object), kind: undefined } : heard);
      const key = keyOf(fill.fund_id, fill.strategy_id, fill.symbol);
      const before = costs.get(key) ?? flat;
      const [quantity, price] = [decimal.parse(fill.quantity), decimal.parse(fill.price)];
      const change = signedQuantity(fill.side, quantity);
      // What a trade that is taken back did is undone; what it cost in between is anybody's guess.
      const held = decimal.add(before.quantity, isReversal ? decimal.negate(change) : change);
      if (fill.kind === "CORPORATE_ACTION" || isReversal) {
        const isKnown = before.isKnown && !isReversal && before.quantity !== decimal.zero;
        return put(key, { ...requantified({ ...flatPosition, ...before }, held), isKnown });
      }
      const trade = { fillId: fill.fill_id, side: fill.side, quantity, price, multiplier: decimal.one };
      const after = bookTrade({ ...flatPosition, ...before }, trade);
      const isTurned =
        before.quantity !== decimal.zero && decimal.sign(before.quantity) !== decimal.sign(after.quantity);
      put(key, { ...after, isKnown: before.isKnown || isTurned });
    },
    averageOf(fundId, strategyId, symbol) {
      const cost = costs.get(keyOf(fundId, strategyId, symbol));
      return cost?.isKnown ? cost.averagePrice : undefined;
    },
    stored() {
      const rows = [...costs].map(([key, { quantity, cost, isKnown }]): StoredCost => {
        const [fundId, strategyId, symbol] = parseJson(key) as readonly [string, string, string];
        return [fundId, strategyId, symbol, decimal.format(quantity), decimal.format(cost), isKnown];
      });
      return JSON.stringify(rows);
    },
  };
}
