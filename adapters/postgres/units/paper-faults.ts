// What the paper broker and the paper market suffer, in a transaction.
import type { PaperFaultsRecords } from "../../../ports/paper-faults.ts";
import type { Sql } from "../store-transaction.ts";

export function paperFaultsRecords(sql: Sql): PaperFaultsRecords {
  return {
    async lock() {
      const found = await sql.write({ text: "select content from paper_weather for update" });
      return found.rows[0]?.content;
    },
    async put(faults) {
      await sql.write({
        text: `insert into paper_weather (content) values ($1)
               on conflict (one) do update set content = excluded.content`,
        values: [JSON.stringify(faults)],
      });
    },
  };
}
