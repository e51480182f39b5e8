// Treasury's repository in a transaction of the memory store. What was written is kept aside until the transaction commits; rows are locked as
// the database locks them.

import { isDeepStrictEqual } from "node:util";
import { bucketUs, everyTime } from "../../../adapters/records/nav-buckets.ts";
import { add, type Decimal, zero } from "../../../contracts/src/decimal.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../../contracts/src/records/ledger.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { addUp } from "../../../core/ledger/ledger-rebuild.ts";
import type {
  LedgerBalance,
  LedgerRecords,
  LedgerSums,
  NavEvery,
  NavPoint,
  RememberedFund,
  StrategyHolding,
  WaitingFund,
} from "../../../ports/ledger-records.ts";
import type { TreasuryRecords } from "../../../ports/store.ts";
import { copyOf } from "../copy-of.ts";
import type { RecordTools } from "../layered-map.ts";
import { holdingRow } from "./records.ts";

export interface KeptNav {
  readonly every: NavEvery;
  readonly bucketUs: number;
  readonly point: NavPoint;
}

/** What treasury would have on disk beside its holdings. */
export interface LedgerTables {
  /** In the order in which they were booked. */
  readonly entries: Map<string, LedgerEntry>;
  readonly balances: Map<string, LedgerBalance>;
  readonly strategyHoldings: Map<string, StrategyHolding>;
  readonly funds: Map<string, RememberedFund>;
  readonly navs: Map<string, KeptNav>;
  readonly imports: Map<string, string>;
  readonly waiting: Map<string, KeptFill>;
}

interface KeptFill {
  readonly fill: Fill;
  readonly at: Instant;
  /** Counts up over all funds. */
  readonly place: number;
}

export function ledgerTables(): LedgerTables {
  return {
    entries: new Map(),
    balances: new Map(),
    strategyHoldings: new Map(),
    funds: new Map(),
    navs: new Map(),
    imports: new Map(),
    waiting: new Map(),
  };
}

/** Sorts as the database sorts columns, each letter by letter. */
const keyOf = (...parts: readonly string[]): string => parts.join("\0");
const navKey = (fundId: string, every: NavEvery, bucket: number): string =>
  keyOf(fundId, every, String(bucket).padStart(17, "0"));

/** A rebuild reads all of them; what leaves is copied where it leaves. */
const uncopied = { copies: false };

export function ledgerChanges(
  tables: LedgerTables,
  treasury: TreasuryRecords,
  { inTurn, lock, table }: RecordTools,
): LedgerRecords {
  const entries = table("treasury_entry", tables.entries, uncopied);
  const balances = table("treasury_balance", tables.balances, uncopied);
  const strategyHoldings = table("treasury_strategy_holding", tables.strategyHoldings, uncopied);
  const funds = table("treasury_fund", tables.funds, uncopied);
  const navs = table("treasury_nav", tables.navs, uncopied);
  const imports = table("treasury_import", tables.imports, uncopied);
  const waiting = table("treasury_waiting_fill", tables.waiting, uncopied);
  const inPlace = (): KeptFill[] => waiting.sorted().sort((one, other) => one.place - other.place);

  const insertEntry = (entry: LedgerEntry): Promise<boolean> =>
    inTurn(async () => {
      await lock(`ledger entry ${entry.entryId}`);
      if (entries.get(entry.entryId) !== undefined) return false;
      entries.set(entry.entryId, copyOf(entry));
      return true;
    });
  const addBalance = (fundId: string, account: string, currency: string, amount: Decimal): Promise<void> =>
    inTurn(async () => {
      const key = keyOf(fundId, account, currency);
      await lock(`ledger balance ${key}`);
      balances.set(key, { fundId, account, currency, amount: add(balances.get(key)?.amount ?? zero, amount) });
    });
  const addStrategy = (fundId: string, strategyId: string, symbol: string, quantity: Decimal): Promise<void> =>
    inTurn(async () => {
      const key = keyOf(fundId, strategyId, symbol);
      await lock(`strategy holding ${key}`);
      const held = strategyHoldings.get(key)?.quantity ?? zero;
      strategyHoldings.set(key, { fundId, strategyId, symbol, quantity: add(held, quantity) });
    });

  const records: LedgerRecords = {
    async book(entry, moves) {
      if (!(await insertEntry(entry))) return false;
      for (const { account, currency, amount } of sorted(entry)) {
        await addBalance(entry.fundId, account, currency, amount);
      }
      for (const { symbol, quantity } of moves) {
        await treasury.add(entry.fundId, symbol, quantity);
        if (entry.strategyId !== undefined) await addStrategy(entry.fundId, entry.strategyId, symbol, quantity);
      }
      return true;
    },
    entry: (entryId) => inTurn(async () => copyOf(entries.get(entryId))),
    async lockHolding(fundId, symbol) {
      await inTurn(() => lock(holdingRow(fundId, symbol)));
      const held = (await treasury.holdings()).find((one) => one.fundId === fundId && one.symbol === symbol);
      return held?.quantity ?? zero;
    },
    balances: () => inTurn(async () => balances.sorted()),
    strategyHoldings: () => inTurn(async () => strategyHoldings.sorted()),
    tradedSince: (fundId, since) =>
      inTurn(async () => {
        const sums = new Map<string, { strategyId: string; symbol: string; quantity: Decimal }>();
        for (const { kind, fundId: of, strategyId = "", symbol = "", quantity = zero, at } of entries.sorted()) {
          if ((kind !== "FILL" && kind !== "BUST") || of !== fundId || at < since) continue;
          const key = keyOf(strategyId, symbol);
          sums.set(key, { strategyId, symbol, quantity: add(sums.get(key)?.quantity ?? zero, quantity) });
        }
        return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
      }),
    async sumsOf(fundId) {
      const isOwn = (one: { readonly fundId: string }): boolean => one.fundId === fundId;
      const readHeld = async () => (await treasury.holdings()).filter(isOwn);
      for (let held = await readHeld(); ; ) {
        const read = await inTurn(async () => ({
          own: entries.sorted().filter(isOwn),
          sums: [balances.sorted().filter(isOwn), strategyHoldings.sorted().filter(isOwn)] as const,
        }));
        const after = await readHeld();
        // Holdings are read apart from the rest: one moment is one at which nothing was booked in between.
        if (isDeepStrictEqual(held, after)) {
          return { entries: read.own.length, added: addUp(read.own), kept: keptSums(read.sums[0], held, read.sums[1]) };
        }
        held = after;
      }
    },
    async correct(fundId, by) {
      for (const { account, currency, amount } of by.balances) await addBalance(fundId, account, currency, amount);
      for (const { symbol, quantity } of by.holdings) await treasury.add(fundId, symbol, quantity);
      for (const { strategyId, symbol, quantity } of by.strategyHoldings) {
        await addStrategy(fundId, strategyId, symbol, quantity);
      }
    },
    lockFund: (fundId) =>
      inTurn(async () => {
        await lock(`treasury fund ${fundId}`);
        return copyOf(funds.get(fundId) ?? {});
      }),
    putFund: (fundId, fund) =>
      inTurn(async () => {
        await lock(`treasury fund ${fundId}`);
        funds.set(fundId, copyOf(fund));
      }),
    keepFill: (fill, at) =>
      inTurn(async () => {
        await lock("waiting fills");
        const key = keyOf(fill.fund_id, fill.fill_id);
        if (waiting.get(key) !== undefined) return false;
        waiting.set(key, { fill: copyOf(fill), at, place: (inPlace().at(-1)?.place ?? 0) + 1 });
        return true;
      }),
    waitingFunds: () =>
      inTurn(async () => {
        const found = new Map<string, WaitingFund>();
        for (const { fill, at } of inPlace()) {
          const { count = 0, since = at } = found.get(fill.fund_id) ?? {};
          found.set(fill.fund_id, { fundId: fill.fund_id, count: count + 1, since });
        }
        return [...found.values()].sort((one, other) => (one.fundId < other.fundId ? -1 : 1));
      }),
    waitingFills: (fundId, countMax) =>
      inTurn(async () => {
        const own = inPlace().filter(({ fill }) => fill.fund_id === fundId);
        return own.slice(0, countMax).map(({ fill }) => copyOf(fill));
      }),
    removeWaitingFill: (fundId, fillId) =>
      inTurn(async () => {
        await lock("waiting fills");
        waiting.delete(keyOf(fundId, fillId));
      }),
    putNav: (point) =>
      inTurn(async () => {
        await lock(`navs ${point.fundId}`);
        mustAddUp(point);
        for (const every of everyTime) {
          const bucket = bucketUs(every, point);
          const key = navKey(point.fundId, every, bucket);
          const known = navs.get(key);
          if (known === undefined || known.point.at < point.at) {
            navs.set(key, { every, bucketUs: bucket, point: { ...point } });
          }
        }
      }),
    importNavs: (points) =>
      inTurn(async () => {
        let count = 0;
        for (const point of points) {
          await lock(`navs ${point.fundId}`);
          mustAddUp(point);
          const bucket = bucketUs("day", point);
          const key = navKey(point.fundId, "day", bucket);
          if (navs.get(key) !== undefined) continue;
          navs.set(key, { every: "day", bucketUs: bucket, point: { ...point } });
          count += 1;
        }
        return count;
      }),
    imported: (name) => inTurn(async () => imports.get(name)),
    firstImport: (name, hash) =>
      inTurn(async () => {
        await lock(`treasury import ${name}`);
        if (imports.get(name) !== undefined) return false;
        imports.set(name, hash);
        return true;
      }),
    thinNavs: (every, before, countMax) =>
      inTurn(async () => {
        const old = navs.filter((one) => one.every === every && one.bucketUs < before);
        old.sort((one, other) => one.bucketUs - other.bucketUs);
        const removed = old.slice(0, countMax);
        for (const { bucketUs: bucket, point } of removed) navs.delete(navKey(point.fundId, every, bucket));
        return removed.length;
      }),
  };
  return records;
}

function keptSums(
  balances: readonly LedgerBalance[],
  holdings: readonly { readonly symbol: string; readonly quantity: Decimal }[],
  made: readonly StrategyHolding[],
): LedgerSums {
  return {
    balances: balances
      .filter(({ amount }) => amount !== zero)
      .map(({ account, currency, amount }) => ({ account, currency, amount })),
    holdings: holdings
      .filter(({ quantity }) => quantity !== zero)
      .map(({ symbol, quantity }) => ({ symbol, quantity })),
    strategyHoldings: made
      .filter(({ quantity }) => quantity !== zero)
      .map(({ strategyId, symbol, quantity }) => ({ strategyId, symbol, quantity })),
  };
}

/** In the order of their accounts, as the database locks them. */
function sorted({ postings }: LedgerEntry): LedgerEntry["postings"] {
  return [...postings].sort((one, other) =>
    keyOf(one.account, one.currency) < keyOf(other.account, other.currency) ? -1 : 1,
  );
}

/** As the database's check does. */
function mustAddUp({ fundId, nav, cash, positionsValue }: NavPoint): void {
  if (nav !== add(cash, positionsValue)) throw new Defect(`a value of ${fundId} is not the sum of its parts`);
}
