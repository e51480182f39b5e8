// What a fund's entries add up to beside what is kept of that, and the correction of what is kept. The sums are the server's: a ledger may be longer
// than a process should hold.
import { format, parse } from "../../../contracts/src/decimal.ts";
import type { LedgerRecords, LedgerSums } from "../../../ports/ledger-records.ts";
import type { Sql } from "../store-transaction.ts";

const postings = "from treasury_entry e join treasury_posting p using (entry_id) where e.fund_id = $1";
/** As core/ledger/ledger.ts has it: cash is what was posted to `cash`, and a quantity is what the entry says. */
const moves = `(
  select e.strategy_id, p.currency as symbol, p.amount as quantity ${postings} and p.account = 'cash'
  union all
  select e.strategy_id, e.symbol, e.quantity from treasury_entry e
  where e.fund_id = $1 and e.symbol is not null and e.quantity is not null) move`;

const texts = {
  addedBalances: `select p.account, p.currency, sum(p.amount) as amount ${postings} group by 1, 2 having sum(p.amount) <> 0 order by 1, 2`,
  addedHoldings: `select symbol, sum(quantity) as quantity from ${moves} group by 1 having sum(quantity) <> 0 order by 1`,
  addedMade: `select strategy_id, symbol, sum(quantity) as quantity from ${moves} where strategy_id is not null
              group by 1, 2 having sum(quantity) <> 0 order by 1, 2`,
  keptBalances:
    "select account, currency, amount from treasury_balance where fund_id = $1 and amount <> 0 order by 1, 2",
  keptHoldings: "select symbol, quantity from treasury_holding where fund_id = $1 and quantity <> 0 order by 1",
  keptMade: `select strategy_id, symbol, quantity from treasury_strategy_holding
             where fund_id = $1 and quantity <> 0 order by 1, 2`,
};

const correctTexts = {
  balances: `insert into treasury_balance as held (fund_id, account, currency, amount)
    select $1, * from unnest($2::text[], $3::text[], $4::numeric[])
    on conflict (fund_id, account, currency) do update set amount = held.amount + excluded.amount`,
  holdings: `insert into treasury_holding as held (fund_id, symbol, quantity)
    select $1, * from unnest($2::text[], $3::numeric[])
    on conflict (fund_id, symbol) do update set quantity = held.quantity + excluded.quantity`,
  made: `insert into treasury_strategy_holding as held (fund_id, strategy_id, symbol, quantity)
    select $1, * from unnest($2::text[], $3::text[], $4::numeric[])
    on conflict (fund_id, strategy_id, symbol) do update set quantity = held.quantity + excluded.quantity`,
};

export function sumRecords(sql: Sql): Pick<LedgerRecords, "sumsOf" | "correct"> {
  const rows = async (text: string, fundId: string) => (await sql.read({ text, values: [fundId] })).rows;

  async function sums(fundId: string, which: "added" | "kept"): Promise<LedgerSums> {
    const balances = await rows(texts[`${which}Balances`], fundId);
    const holdings = await rows(texts[`${which}Holdings`], fundId);
    const made = await rows(texts[`${which}Made`], fundId);
    return {
      balances: balances.map((row) => ({ account: row.account, currency: row.currency, amount: parse(row.amount) })),
      holdings: holdings.map((row) => ({ symbol: row.symbol, quantity: parse(row.quantity) })),
      strategyHoldings: made.map((row) => ({
        strategyId: row.strategy_id,
        symbol: row.symbol,
        quantity: parse(row.quantity),
      })),
    };
  }

  return {
    // One transaction sees one state of the database, however many statements it asks.
    async sumsOf(fundId) {
      const [counted] = await rows("select count(*) as entries from treasury_entry where fund_id = $1", fundId);
      return {
        entries: Number(counted?.entries ?? 0),
        added: await sums(fundId, "added"),
        kept: await sums(fundId, "kept"),
      };
    },
    async correct(fundId, { balances, holdings, strategyHoldings }) {
      await sql.write({
        text: correctTexts.balances,
        values: [
          fundId,
          balances.map(({ account }) => account),
          balances.map(({ currency }) => currency),
          balances.map(({ amount }) => format(amount)),
        ],
      });
      await sql.write({
        text: correctTexts.holdings,
        values: [fundId, holdings.map(({ symbol }) => symbol), holdings.map(({ quantity }) => format(quantity))],
      });
      await sql.write({
        text: correctTexts.made,
        values: [
          fundId,
          strategyHoldings.map(({ strategyId }) => strategyId),
          strategyHoldings.map(({ symbol }) => symbol),
          strategyHoldings.map(({ quantity }) => format(quantity)),
        ],
      });
    },
  };
}
