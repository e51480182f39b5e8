// Everybody's books at one moment: one transaction that sees one state of the database, read statement by statement. Sums are made by the database
// over what is new, along an index; what is in flight is listed one by one.
import type pg from "pg";
import { max, parse, subtract, zero } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds, parse as parseInstant } from "../../../contracts/src/instant.ts";
import type {
  BookedInstrument,
  BooksLook,
  BooksMarks,
  DueAmount,
  KnownOrder,
  LiveOrder,
  MissingFill,
  NewestEntry,
  StoredNav,
  Summed,
} from "../../../contracts/src/records/books.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import { signedQuantity } from "../../../core/ledger/position.ts";
import type { BooksQueries } from "../../../ports/books-queries.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import { storeFault } from "../store-fault.ts";
import { bookTexts, missingMax, newestEntriesMax } from "./books-texts.ts";
import { type OrderRow, orderOfRow } from "./oms-rows.ts";

const begin =
  "begin isolation level repeatable read read only; set local statement_timeout = '60s'; set local jit = off";

export function createBooksQueries(pool: pg.Pool): BooksQueries {
  return {
    async look(since, journalAfter, orderIds) {
      const client = await pool.connect().catch((thrown: unknown) => {
        throw storeFault(thrown, "the comparison of the books");
      });
      let broken: Error | undefined;
      try {
        await client.query(begin);
        return await lookWith(client, since, journalAfter, orderIds);
      } catch (thrown) {
        broken = thrown instanceof Error ? thrown : new Error(String(thrown));
        throw storeFault(thrown, "the comparison of the books");
      } finally {
        // A session in an unknown state is not given back.
        const ended =
          broken ??
          (await client.query("commit").then(
            () => undefined,
            (thrown: Error) => thrown,
          ));
        client.release(ended);
      }
    },
  };
}

async function lookWith(
  client: pg.PoolClient,
  since: BooksMarks,
  journalAfter: number | undefined,
  orderIds: readonly string[],
): Promise<BooksLook> {
  const rows = async (text: string, ...values: unknown[]): Promise<pg.QueryResult["rows"]> =>
    (await client.query({ text, values })).rows;
  const summed = async (text: string, ...values: unknown[]): Promise<readonly Summed[]> =>
    (await rows(text, ...values)).map(summedOf);
  const sentences = async (text: string, ...values: unknown[]): Promise<readonly string[]> =>
    (await rows(text, ...values)).map(({ sentence }) => textOfColumn(sentence));
  const [marks] = await rows(bookTexts.marks);
  const fills = JSON.stringify(since.fills);
  const fillSums = await rows(bookTexts.fills, fills);
  const orders = await rows(bookTexts.liveOrders);
  const navs = (await rows(bookTexts.navs)).map(navOf);
  return {
    marks: { fills: fillMarks(marks.fills), entries: Number(marks.entries), journal: Number(marks.journal) },
    since: {
      fills: fillSums.map(summedOf),
      rowCount: fillSums.reduce<number>((count, row) => count + Number(row.count), 0),
      entries: await summed(bookTexts.entries, since.entries),
      foreignEntries: await summed(bookTexts.foreignEntries, since.entries),
      postings: await summed(bookTexts.postings, since.entries),
      journal: await summed(bookTexts.journal, since.journal),
      foreignJournal: await summed(bookTexts.foreignJournal, since.journal),
    },
    positions: await summed(bookTexts.positions),
    liveOrders: orders.flatMap(liveOrderOf),
    knownOrders: (await rows(bookTexts.knownOrders, orderIds.map(columnOfText))).map(knownOrderOf),
    holdings: await summed(bookTexts.holdings),
    strategyHoldings: await summed(bookTexts.strategyHoldings),
    balances: await summed(bookTexts.balances),
    navs,
    newestEntries: (await rows(bookTexts.newestEntries, newestEntriesMax)).map(newestOf),
    due: (await rows(bookTexts.due, oldestOf(navs))).map(dueOf),
    instruments: (await rows(bookTexts.instruments)).map(instrumentOf),
    newestJournal: await summed(bookTexts.newestJournal, journalAfter ?? Number.MAX_SAFE_INTEGER),
    unbooked: (await rows(bookTexts.unbooked, fills, missingMax)).map(missingOf),
    unheard: (await rows(bookTexts.unheard, fills, missingMax)).map(missingOf),
    unbalanced: await sentences(bookTexts.unbalanced, since.entries),
    unequal: await sentences(bookTexts.unequal, fills),
  };
}

function summedOf({ of, amount }: { readonly of: readonly string[]; readonly amount: string }): Summed {
  return { of: of.map(textOfColumn), amount: parse(amount) };
}

/** An order that goes out in slices is never with the broker itself. */
function liveOrderOf(row: OrderRow): readonly LiveOrder[] {
  const { order, filledQuantity, sliced } = orderOfRow(row);
  const remaining = subtract(parse(order.quantity), filledQuantity);
  if (sliced === true || remaining <= 0n) return [];
  const isBuy = signedQuantity(order.side, remaining) > 0n;
  return [{ orderId: order.order_id, fundId: order.fund_id, symbol: order.symbol, isBuy, remaining }];
}

/** Terms that are on their way to the broker may be in force already. */
function knownOrderOf(row: OrderRow & { readonly is_open: boolean }): KnownOrder {
  const { order, filledQuantity, amendment } = orderOfRow(row);
  const quantity = max(parse(order.quantity), parse(amendment?.quantity ?? "0"));
  const mayTrade = row.is_open ? max(subtract(quantity, filledQuantity), zero) : zero;
  return { orderId: order.order_id, mayTrade };
}

function fillMarks(found: Readonly<Record<string, number>> | null): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(found ?? {}).map(([fund, sequence]) => [textOfColumn(fund), sequence]));
}

function missingOf(row: {
  readonly fill_id: string;
  readonly of: readonly [string, string, string];
  readonly amount: string;
}): MissingFill {
  const [fundId, strategyId, symbol] = row.of;
  return {
    fillId: textOfColumn(row.fill_id),
    fundId: textOfColumn(fundId),
    strategyId,
    symbol,
    quantity: parse(row.amount),
  };
}

function navOf({ fund_id, newest }: { readonly fund_id: string; readonly newest: NavUpdated }): StoredNav {
  const { prices, rates = {} } = newest;
  return {
    fundId: textOfColumn(fund_id),
    currency: newest.currency,
    nav: parse(newest.nav),
    cash: parse(newest.cash ?? ""),
    positionsValue: parse(newest.positions_value ?? ""),
    asOf: parseInstant(newest.as_of),
    prices:
      prices === undefined
        ? undefined
        : Object.entries(prices).map(([symbol, { quantity, price }]) => ({
            symbol,
            quantity: parse(quantity),
            price: parse(price),
          })),
    rates: new Map(Object.entries(rates).map(([currency, { rate }]) => [currency, parse(rate)])),
  };
}

/** What was paid before the oldest of the values is cash in all of them. */
function oldestOf(navs: readonly StoredNav[]): number {
  return navs.reduce((oldest, { asOf }) => Math.min(oldest, asOf), Number.MAX_SAFE_INTEGER);
}

interface DueRow {
  readonly fund_id: string;
  readonly currency: string;
  readonly amount: string;
  readonly paid_at: string | null;
}

function dueOf({ fund_id: fundId, currency, amount, paid_at: paidAt }: DueRow): DueAmount {
  return {
    fundId,
    currency,
    amount: parse(amount),
    paidAt: paidAt === null ? undefined : fromMicroseconds(Number(paidAt)),
  };
}

interface NewestRow {
  readonly fund_id: string;
  readonly number: string;
  readonly symbol: string | null;
  readonly quantity: string | null;
  readonly cash: readonly (readonly [string, string])[] | null;
}

function newestOf({ fund_id, number, symbol, quantity, cash }: NewestRow): NewestEntry {
  const traded =
    symbol === null || quantity === null ? [] : [{ symbol: textOfColumn(symbol), amount: parse(quantity) }];
  const paid = (cash ?? []).map(([currency, amount]) => ({ symbol: textOfColumn(currency), amount: parse(amount) }));
  return { fundId: textOfColumn(fund_id), number: Number(number), moves: [...traded, ...paid] };
}

function instrumentOf({ symbol, currency, multiplier }: BookedInstrument): BookedInstrument {
  return { symbol: textOfColumn(symbol), currency: textOfColumn(currency), multiplier };
}
