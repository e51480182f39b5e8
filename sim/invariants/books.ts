// What must be true of the books: positions, cash and value follow from trades, everywhere the same.
import * as decimal from "../../contracts/src/decimal.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { positionKey, strategyKey } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const positionIsSumOfFills: Invariant = {
  name: "position_is_sum_of_fills",
  sentence:
    "A position is the sum of its trades at every moment, because every limit, stop and report is counted from it.",
  violated({ told, past, platform: { world } }) {
    if (told !== undefined) return undefined;
    if (world.oms.positions.size !== past.strategyPositions.size) {
      return `there are ${world.oms.positions.size} positions, and trades in ${past.strategyPositions.size}`;
    }
    return first(world.oms.positions.values(), ({ fundId, strategyId, symbol, quantity }) => {
      const sum = past.strategyPositions.get(strategyKey(fundId, strategyId, symbol));
      if (sum === quantity) return undefined;
      const told = sum === undefined ? "nothing" : decimal.format(sum);
      return `${strategyId} holds ${decimal.format(quantity)} of ${symbol} by its position and ${told} by its trades`;
    });
  },
};

export const navIsSumOfParts: Invariant = {
  name: "nav_is_sum_of_parts",
  sentence:
    "A fund's value is its cash and its positions to the last decimal, because what is lost in rounding is lost by somebody.",
  violated: (evidence) =>
    onMessage<NavUpdated>(
      evidence,
      subjects.navUpdated,
      ({ fund_id: fundId, nav, cash, positions_value: positions }) => {
        const sum = decimal.add(decimal.parse(cash ?? "0"), decimal.parse(positions ?? "0"));
        if (sum === decimal.parse(nav)) return undefined;
        return `${fundId} was valued at ${nav}, with ${cash} in cash and ${positions} in positions`;
      },
    ),
};

export const booksAgree: Invariant = {
  name: "books_agree",
  sentence:
    "When nothing is under way, order management, treasury, the risk engine and the broker hold the same, because late is allowed and different is not.",
  violated(evidence) {
    if (!evidence.settled || evidence.told !== undefined) return undefined;
    return booksApart(evidence) ?? brokerAgrees(evidence);
  },
};

type Books = Pick<Evidence, "past" | "platform">;

/** Where treasury or the risk engine has not followed yet; undefined when both have. */
export function booksApart(books: Books): string | undefined {
  return treasuryAgrees(books) ?? riskAgrees(books);
}

function treasuryAgrees({ past, platform: { world } }: Books): string | undefined {
  const held = new Map(
    [...world.risk.holdings.values()].map(({ fundId, symbol, quantity }) => [positionKey(fundId, symbol), quantity]),
  );
  const differs = (what: string, wanted: decimal.Decimal): string | undefined => {
    const has = held.get(what) ?? decimal.zero;
    return has === wanted
      ? undefined
      : `treasury holds ${decimal.format(has)} of ${what}, and ${decimal.format(wanted)} follow from what was told`;
  };
  return (
    first(past.positions, ([key, quantity]) => differs(key, quantity)) ??
    first(past.cash, ([fundId, cash]) => differs(positionKey(fundId, "USD"), cash))
  );
}

function riskAgrees({ past, platform: { world } }: Books): string | undefined {
  return first(past.fills.keys(), (id) =>
    world.risk.fills.has(id) ? undefined : `the risk engine never wrote the fill ${id} down`,
  );
}

/** Where somebody traded past us the books differ until the reconciler has set them right, which only some runs let it do. */
function brokerAgrees({ past, platform: { outside, world } }: Evidence): string | undefined {
  const open = new Set(
    [...world.reconcile.differences.values()]
      .filter(({ status }) => status === "SUSPECTED" || status === "CONFIRMED")
      .map(({ fundId, symbol }) => positionKey(fundId, symbol)),
  );
  return first(outside.held.values(), ({ account, symbol, quantity }) => {
    const key = positionKey(account, symbol);
    const ours = past.positions.get(key) ?? decimal.zero;
    if (ours === quantity || open.has(key)) return undefined;
    return `the broker holds ${decimal.format(quantity)} of ${key}, and we ${decimal.format(ours)}`;
  });
}
