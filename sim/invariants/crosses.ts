// What must be true of crosses between strategies of one fund: they come in pairs, take from both, and nobody outside the fund sees them.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { directed, type History, strategyKey } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const crossesArePairs: Invariant = {
  name: "crosses_are_pairs",
  sentence:
    "A cross is two fills of one symbol, quantity and price on opposite sides, each of which only takes from what its strategy holds, because a half of one would change what the fund holds without a market.",
  violated(evidence) {
    const { past, reported } = evidence;
    return (
      onMessage<Fill>(evidence, subjects.fillsCreated, (fill) =>
        fill.kind === "CROSS" && !past.fills.has(fill.fill_id) ? takesMore(past, fill) : undefined,
      ) ?? (reported === undefined ? first(halves(past), (id) => `the cross ${id} is no pair`) : undefined)
    );
  },
};

function takesMore(past: History, fill: Fill): string | undefined {
  const held = past.strategyPositions.get(strategyKey(fill.fund_id, fill.strategy_id, fill.symbol)) ?? decimal.zero;
  const after = decimal.add(held, directed(fill.side, decimal.parse(fill.quantity)));
  const isLess = decimal.abs(after) < decimal.abs(held) && decimal.sign(after) !== -decimal.sign(held);
  if (isLess && fill.broker === "internal" && (fill.fee ?? "0") === "0") return undefined;
  return `the cross ${fill.order_id} moves ${fill.strategy_id} from ${decimal.format(held)} to ${decimal.format(after)}`;
}

/** Those whose fills do not cancel each other out. */
function halves(past: History): readonly string[] {
  const sums = new Map<string, decimal.Decimal>();
  for (const fill of past.fills.values()) {
    if (fill.kind !== "CROSS") continue;
    const key = JSON.stringify([fill.order_id, fill.fund_id, fill.symbol, fill.price]);
    const change = directed(fill.side, decimal.parse(fill.quantity));
    sums.set(key, decimal.add(sums.get(key) ?? decimal.zero, change));
  }
  return [...sums].filter(([, sum]) => sum !== decimal.zero).map(([key]) => key);
}
