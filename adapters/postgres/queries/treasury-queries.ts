// Lists of values and of ledger entries, along their indexes.
import type pg from "pg";
import type { TreasuryQueries } from "../../../ports/treasury-queries.ts";
import { bucketBounds } from "../../records/nav-buckets.ts";
import { columnOfText } from "../exact-text.ts";
import { storeFault } from "../store-fault.ts";
import { entryColumns, entryOf, navColumns, navOf } from "./ledger-rows.ts";

export function createTreasuryQueries(pool: pg.Pool): TreasuryQueries {
  async function ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await pool.query({ text, values: [...values] });
    } catch (thrown) {
      throw storeFault(thrown, "a query about funds");
    }
  }

  return {
    async navs({ fundId, from, to, every, countMax }) {
      const found = await ask(
        `select ${navColumns} from treasury_nav where fund_id = $1 and every = $2 and bucket_us between $3 and $4
           and at_us >= $5 and at_us < $6 order by bucket_us desc limit $7`,
        [columnOfText(fundId), every, ...bucketBounds(every, from, to), from, to, countMax],
      );
      return found.rows.map(navOf).reverse();
    },
    async ledger({ fundId, countMax, afterEntryId }) {
      const values: unknown[] = [columnOfText(fundId), countMax];
      let before = "";
      if (afterEntryId !== undefined) {
        const mark = "select number from treasury_entry where entry_id = $1 and fund_id = $2";
        const [row] = (await ask(mark, [columnOfText(afterEntryId), columnOfText(fundId)])).rows;
        if (row === undefined) return [];
        values.push(row.number);
        before = "and e.number < $3";
      }
      const found = await ask(
        `select ${entryColumns} from treasury_entry e where e.fund_id = $1 ${before} order by e.number desc limit $2`,
        values,
      );
      return found.rows.map(entryOf);
    },
  };
}
