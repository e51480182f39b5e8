// What must be true of the books: positions, cash and value follow from trades, everywhere the same.
import * as decimal from "../../contracts/src/decimal.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { type History, positionKey, strategyKey } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const positionIsSumOfFills: Invariant = {
  name: "position_is_sum_of_fills",
  sentence:
    "A position is the sum of its trades at every moment, because every limit, stop and report is counted from it.",
  violated({ reported, past, platform: { tables } }) {
    if (reported !== undefined) return undefined;
    if (tables.oms.positions.size !== past.strategyPositions.size) {
      return `there are ${tables.oms.positions.size} positions, and trades in ${past.strategyPositions.size}`;
    }
    return first(tables.oms.positions.values(), ({ fundId, strategyId, symbol, quantity }) => {
      const sum = past.strategyPositions.get(strategyKey(fundId, strategyId, symbol));
      if (sum === quantity) return undefined;
      const reported = sum === undefined ? "nothing" : decimal.format(sum);
      return `${strategyId} holds ${decimal.format(quantity)} of ${symbol} by its position and ${reported} by its trades`;
    });
  },
};

export const navIsSumOfParts: Invariant = {
  name: "nav_is_sum_of_parts",
  sentence:
    "A fund's value is the cash and the positions that its ledger has, at the prices that are reported with it, to the last decimal, because what is lost in rounding is lost by somebody.",
  violated: (evidence) =>
    onMessage<NavUpdated>(evidence, subjects.navUpdated, (nav) => {
      const { tables } = evidence.platform;
      return (
        partsApart(nav) ?? pricesApart(nav, evidence.past) ?? ledgerApart(nav, [...tables.ledger.entries.values()])
      );
    }),
};

function partsApart({ fund_id: fundId, nav, cash, positions_value: positions }: NavUpdated): string | undefined {
  const sum = decimal.add(decimal.parse(cash ?? "0"), decimal.parse(positions ?? "0"));
  if (sum === decimal.parse(nav)) return undefined;
  return `${fundId} was valued at ${nav}, with ${cash} in cash and ${positions} in positions`;
}

/** Everything here is traded in the funds' own currency. */
function pricesApart(
  { fund_id: fundId, positions_value: positions, prices = {} }: NavUpdated,
  { multipliers }: Pick<History, "multipliers">,
): string | undefined {
  const value = Object.entries(prices).reduce((sum, [symbol, { quantity, price }]) => {
    const times = decimal.multiply(decimal.parse(quantity), multipliers.get(symbol) ?? decimal.one, "half-even");
    return decimal.add(sum, decimal.multiply(times, decimal.parse(price), "half-even"));
  }, decimal.zero);
  if (value === decimal.parse(positions ?? "0")) return undefined;
  return `${fundId} was valued with ${positions} in positions, and its prices make ${decimal.format(value)} of them`;
}

/** So many entries may be booked between the reading of the ledger and the word of the value. */
const bookedMeanwhileMax = 30;

function ledgerApart(
  { fund_id: fundId, cash, prices = {} }: NavUpdated,
  all: readonly LedgerEntry[],
): string | undefined {
  const entries = all.filter((entry) => entry.fundId === fundId);
  const valued = new Map(Object.entries(prices).map(([symbol, { quantity }]) => [symbol, decimal.parse(quantity)]));
  if (cash !== undefined) valued.set("cash", decimal.parse(cash));
  const held = new Map<string, decimal.Decimal>();
  for (const entry of entries) move(held, entry, 1n);
  for (const entry of [undefined, ...entries.slice(-bookedMeanwhileMax).reverse()]) {
    if (entry !== undefined) move(held, entry, -1n);
    const symbols = new Set([...held.keys(), ...valued.keys()]);
    if ([...symbols].every((symbol) => (held.get(symbol) ?? 0n) === (valued.get(symbol) ?? 0n))) return undefined;
  }
  return `${fundId} was valued with ${cash} in cash and ${valued.size - 1} positions that its ledger never had together`;
}

function move(held: Map<string, decimal.Decimal>, entry: LedgerEntry, times: 1n | -1n): void {
  const add = (what: string, amount: decimal.Decimal): void =>
    void held.set(what, ((held.get(what) ?? decimal.zero) + times * amount) as decimal.Decimal);
  if ((entry.kind === "FILL" || entry.kind === "BUST") && entry.symbol !== undefined)
    add(entry.symbol, entry.quantity ?? decimal.zero);
  for (const { account, amount } of entry.postings) if (account === "cash") add("cash", amount);
}

/** A third of what the platform is allowed: the times of the simulator are short, and long waits are dear. */
const reachUs = 20_000_000;

export const fillsReachEveryBook: Invariant = {
  name: "fills_reach_every_book",
  sentence:
    "A trade is in order management, the risk engine, treasury and a value within 20 s, or waits with its fund under an alarm, because a trade that a book lacks is money that nobody counts.",
  violated({ reported, past, platform: { tables } }) {
    // Something is reported every second.
    const now = tables.log.at(-1)?.at;
    if (reported !== undefined || now === undefined) return undefined;
    return first(past.filledAt, ([id, at]) => {
      const fill = past.fills.get(id);
      if (now - at <= reachUs || fill === undefined) return undefined;
      if (!tables.oms.fills.has(id)) return `order management reported the trade ${id} and does not have it`;
      if (!tables.risk.fills.has(id)) return `the trade ${id} has not reached the risk engine for 20 s`;
      const isWaiting = [...tables.ledger.waiting.values()].some((kept) => kept.fill.fill_id === id);
      if (isWaiting) return undefined;
      if (!tables.ledger.entries.has(`fill:${id}`)) return `the trade ${id} has not reached treasury for 20 s`;
      const valued = tables.ledger.funds.get(fill.fund_id)?.newest?.as_of;
      if (valued !== undefined && parse(valued) > at) return undefined;
      return `${fill.fund_id} was not valued since the trade ${id}, for 20 s`;
    });
  },
};

export const booksAgree: Invariant = {
  name: "books_agree",
  sentence:
    "When nothing is under way, order management, treasury, the risk engine and the broker hold the same, because late is allowed and different is not.",
  violated(evidence) {
    if (!evidence.settled || evidence.reported !== undefined) return undefined;
    return booksApart(evidence) ?? brokerAgrees(evidence);
  },
};

type Books = Pick<Evidence, "past" | "platform">;

/** Where treasury or the risk engine has not followed yet; undefined when both have. */
export function booksApart(books: Books): string | undefined {
  return treasuryAgrees(books) ?? riskAgrees(books);
}

function treasuryAgrees({ past, platform: { tables } }: Books): string | undefined {
  const held = new Map(
    [...tables.risk.holdings.values()].map(({ fundId, symbol, quantity }) => [positionKey(fundId, symbol), quantity]),
  );
  const differs = (what: string, wanted: decimal.Decimal): string | undefined => {
    const has = held.get(what) ?? decimal.zero;
    return has === wanted
      ? undefined
      : `treasury holds ${decimal.format(has)} of ${what}, and ${decimal.format(wanted)} follow from what was reported`;
  };
  return (
    first(past.positions, ([key, quantity]) => differs(key, quantity)) ??
    first(past.cash, ([fundId, cash]) => differs(positionKey(fundId, "USD"), cash))
  );
}

function riskAgrees({ past, platform: { tables } }: Books): string | undefined {
  return first(past.fills.keys(), (id) =>
    tables.risk.fills.has(id) ? undefined : `the risk engine never wrote the fill ${id} down`,
  );
}

/** Where somebody traded past us the books differ until the reconciler has set them right, which only some runs let it do. */
function brokerAgrees({ past, platform: { outside, tables } }: Evidence): string | undefined {
  const open = new Set(
    [...tables.reconcile.differences.values()]
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
