// Differences with brokers, in a transaction.
import type {
  AccountAgreement,
  DifferenceLook,
  ReconcileRecords,
  StoredDifference,
} from "../../../ports/reconcile-records.ts";
import { fromStored, toStored } from "../../records/stored-decimals.ts";
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

const decimals = new Set(["ourQuantity", "brokerQuantity"] satisfies (keyof StoredDifference)[]);

interface ContentRow {
  readonly content: unknown;
}

const read = <Record>(rows: readonly ContentRow[]): Record[] =>
  rows.map(({ content }) => fromStored<Record>(content, decimals));

export function reconcileRecords(sql: Sql): ReconcileRecords {
  return {
    async lockOpen(broker, account) {
      const found = await sql.write({
        name: "difference_lock_open",
        text: `select content from reconcile_difference
               where broker = $1 and account = $2 and status in ('SUSPECTED', 'CONFIRMED')
               order by first_seen_us, difference_id for update`,
        values: [columnOfText(broker), columnOfText(account)],
      });
      return read<StoredDifference>(found.rows);
    },
    async put(difference) {
      await sql.write({
        name: "difference_put",
        text: `insert into reconcile_difference (difference_id, fund_id, broker, account, symbol, status, first_seen_us, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8)
               on conflict (difference_id) do update set status = excluded.status, content = excluded.content`,
        values: [
          difference.differenceId,
          columnOfText(difference.fundId),
          columnOfText(difference.broker),
          columnOfText(difference.account),
          columnOfText(difference.symbol),
          difference.status,
          difference.firstSeenAt,
          toStored(difference),
        ],
      });
    },
    async looks(differenceIds) {
      const found = await sql.read({
        name: "difference_looks",
        text: "select content from reconcile_look where difference_id = any($1::text[]) order by difference_id",
        values: [[...differenceIds]],
      });
      return read<DifferenceLook>(found.rows);
    },
    async putLook(look) {
      await sql.write({
        name: "difference_put_look",
        text: `insert into reconcile_look (difference_id, content) values ($1, $2)
               on conflict (difference_id) do update set content = excluded.content`,
        values: [look.differenceId, toStored(look)],
      });
    },
    ...lists(sql),
    async agreement(broker, account) {
      const found = await sql.read({
        name: "agreement_read",
        text: "select content from reconcile_agreement where broker = $1 and account = $2",
        values: [columnOfText(broker), columnOfText(account)],
      });
      return read<AccountAgreement>(found.rows)[0];
    },
    async putAgreement(agreement) {
      await sql.write({
        name: "agreement_put",
        text: `insert into reconcile_agreement (broker, account, content) values ($1, $2, $3)
               on conflict (broker, account) do update set content = excluded.content`,
        values: [columnOfText(agreement.broker), columnOfText(agreement.account), toStored(agreement)],
      });
    },
  };
}

function lists(sql: Sql): Pick<ReconcileRecords, "list" | "confirmed"> {
  return {
    async list({ fundId, openOnly, countMax, afterDifferenceId: after }) {
      const found = await sql.read({
        name: "difference_list",
        text: `select content from reconcile_difference
               where ($1::text is null or fund_id = $1) and (not $2 or status in ('SUSPECTED', 'CONFIRMED'))
                 and ($4::text is null or (first_seen_us, difference_id)
                   < (select first_seen_us, difference_id from reconcile_difference where difference_id = $4))
               order by first_seen_us desc, difference_id desc limit $3`,
        values: [orNull(fundId), openOnly, countMax, orNull(after)],
      });
      return read<StoredDifference>(found.rows);
    },
    async confirmed() {
      const found = await sql.read({
        name: "difference_confirmed",
        text: "select content from reconcile_difference where status = 'CONFIRMED' order by first_seen_us, difference_id",
      });
      return read<StoredDifference>(found.rows);
    },
  };
}

function orNull(text: string | undefined): string | null {
  return text === undefined ? null : columnOfText(text);
}
