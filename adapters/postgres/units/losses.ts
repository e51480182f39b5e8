// Losses in a transaction. A fund's row is there before anything is in it, so that the first to look can lock it.
import type { Baseline, LossSample, LossState } from "../../../contracts/src/losses.ts";
import type { LossRecords } from "../../../ports/loss-records.ts";
import { fromStored, toStored } from "../../records/stored-decimals.ts";
import { storableId } from "../storable-text.ts";
import type { Sql } from "../store-transaction.ts";

const decimals: ReadonlySet<string> = new Set(["value", "best", "netFlows", "units", "shift", "profit", "loss"]);

export function lossRecords(sql: Sql): LossRecords {
  return {
    async lock(fundId) {
      const id = storableId(fundId);
      const locking = { name: "loss_lock", text: "select content from loss_state where fund_id = $1 for update" };
      let found = await sql.write({ ...locking, values: [id] });
      if (found.rowCount === 0) {
        await sql.write({
          text: "insert into loss_state (fund_id, content) values ($1, null) on conflict (fund_id) do nothing",
          values: [id],
        });
        found = await sql.write({ ...locking, values: [id] });
      }
      const content: unknown = found.rows[0]?.content ?? undefined;
      return content === undefined ? undefined : fromStored<LossState>(content, decimals);
    },
    async put(fundId, state) {
      await sql.write({
        name: "loss_put",
        text: `insert into loss_state (fund_id, content) values ($1, $2)
               on conflict (fund_id) do update set content = excluded.content`,
        values: [storableId(fundId), toStored(state)],
      });
    },
    async all() {
      const found = await sql.read({
        text: "select fund_id, content from loss_state where content is not null order by fund_id",
      });
      return found.rows.map((row) => ({
        fundId: row.fund_id as string,
        state: fromStored<LossState>(row.content, decimals),
      }));
    },
    async putBaseline(fundId, baseline) {
      const inserted = await sql.write({
        text: `insert into loss_baseline (fund_id, limit_name, strategy_id, period, version, set_us, content)
               values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        values: [
          storableId(fundId),
          baseline.limit,
          baseline.strategyId ?? "",
          baseline.period,
          baseline.version,
          baseline.setAt,
          toStored(baseline),
        ],
      });
      return inserted.rowCount === 1;
    },
    async baselines(fundId, countMax) {
      const found = await sql.read({
        text: `select content from loss_baseline where fund_id = $1
               order by set_us desc, limit_name, strategy_id, period desc, version desc limit $2`,
        values: [storableId(fundId), countMax],
      });
      return found.rows.map(({ content }) => fromStored<Baseline>(content, decimals));
    },
    async putSample(fundId, sample, keepFrom) {
      const id = storableId(fundId);
      await sql.write({
        text: "insert into loss_sample (fund_id, at_us, content) values ($1, $2, $3) on conflict do nothing",
        values: [id, sample.at, toStored(sample)],
      });
      await sql.write({
        text: `delete from loss_sample where fund_id = $1
               and at_us < (select max(at_us) from loss_sample where fund_id = $1 and at_us <= $2)`,
        values: [id, keepFrom],
      });
    },
    async sampleAt(fundId, moment) {
      const found = await sql.read({
        name: "loss_sample_at",
        text: `(select 0 as place, content from loss_sample where fund_id = $1 and at_us <= $2 order by at_us desc limit 1)
               union all
               (select 1, content from loss_sample where fund_id = $1 and at_us > $2 order by at_us limit 1)
               order by place limit 1`,
        values: [storableId(fundId), moment],
      });
      const content: unknown = found.rows[0]?.content;
      return content === undefined ? undefined : fromStored<LossSample>(content, decimals);
    },
  };
}
