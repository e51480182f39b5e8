// Research's repository in a transaction: strategies, signals, skill by the day, and backtests.
import { format, parse } from "../../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { StrategyStatus } from "../../../contracts/src/records/values.ts";
import type { DailySignal, ResearchRecords, StoredSignal, StoredStrategy } from "../../../ports/research-records.ts";
import type { Sql } from "../store-transaction.ts";

interface SignalRow {
  readonly strategy_id: string;
  readonly at_us: string;
  readonly symbol: string;
  readonly value: number;
  readonly price: string;
  readonly horizon_s: number;
  readonly realised: number | null;
}

const signalColumns = "strategy_id, at_us, symbol, value, price, horizon_s, realised";

type StrategyPart = Pick<ResearchRecords, "strategies" | "lockStrategy" | "putStrategy" | "takeDecision">;
type DailyPart = Pick<ResearchRecords, "putDailySignals" | "setDailyRealised" | "dailySignals">;
type SignalPart = Pick<ResearchRecords, "insertSignals" | "dueSignals" | "setRealised" | "signals" | "forgetSignals">;

export function researchRecords(sql: Sql): ResearchRecords {
  return { ...strategyRecords(sql), ...signalRecords(sql), ...dailyRecords(sql), ...skillRecords(sql) };
}

function strategyRecords(sql: Sql): StrategyPart {
  const columns = "strategy_id, fund_id, status, allocation_pct";
  return {
    async strategies() {
      const found = await sql.read({
        name: "research_strategies",
        text: `select ${columns} from research_strategy order by strategy_id`,
      });
      return found.rows.map(strategyOf);
    },
    async lockStrategy(strategyId) {
      const found = await sql.write({
        name: "research_strategy_lock",
        text: `select ${columns} from research_strategy where strategy_id = $1 for update`,
        values: [strategyId],
      });
      const [row] = found.rows;
      return row === undefined ? undefined : strategyOf(row);
    },
    async putStrategy({ strategyId, fundId, status, allocationPct }) {
      await sql.write({
        name: "research_strategy_put",
        text: `insert into research_strategy (${columns}) values ($1, $2, $3, $4)
               on conflict (strategy_id) do update set fund_id = excluded.fund_id, status = excluded.status,
                 allocation_pct = excluded.allocation_pct`,
        values: [strategyId, fundId, status, allocationPct],
      });
    },
    async takeDecision(strategyId) {
      const counted = await sql.write({
        name: "research_decision",
        text: "update research_strategy set decisions = decisions + 1 where strategy_id = $1 returning decisions",
        values: [strategyId],
      });
      return Number(counted.rows[0]?.decisions);
    },
  };
}

function signalRecords(sql: Sql): SignalPart {
  return {
    async insertSignals(signals) {
      if (signals.length === 0) return;
      await sql.write({
        name: "research_signal_insert",
        text: `insert into research_signal (${signalColumns})
               select * from unnest($1::text[], $2::bigint[], $3::text[], $4::float8[], $5::numeric[], $6::float8[], $7::float8[])
               on conflict do nothing`,
        values: [
          signals.map(({ strategyId }) => strategyId),
          signals.map(({ at }) => at),
          signals.map(({ symbol }) => symbol),
          signals.map(({ value }) => value),
          signals.map(({ price }) => format(price)),
          signals.map(({ horizonS }) => horizonS),
          signals.map(({ realisedReturn }) => realisedReturn ?? null),
        ],
      });
    },
    async dueSignals(strategyId, from, by, countMax) {
      const found = await sql.read({
        name: "research_signal_due",
        text: `select ${signalColumns} from research_signal
               where strategy_id = $1 and realised is null and at_us >= $2 and at_us + horizon_s * 1000000 <= $3
               order by at_us, symbol limit $4`,
        values: [strategyId, from, by, countMax],
      });
      return (found.rows as readonly SignalRow[]).map(signalOf);
    },
    async setRealised(signals) {
      if (signals.length === 0) return;
      await sql.write({
        name: "research_signal_realised",
        text: `update research_signal as kept set realised = known.realised
               from unnest($1::text[], $2::bigint[], $3::text[], $4::float8[]) as known (strategy_id, at_us, symbol, realised)
               where kept.strategy_id = known.strategy_id and kept.at_us = known.at_us and kept.symbol = known.symbol`,
        values: [
          signals.map(({ strategyId }) => strategyId),
          signals.map(({ at }) => at),
          signals.map(({ symbol }) => symbol),
          signals.map(({ realisedReturn }) => realisedReturn ?? null),
        ],
      });
    },
    async signals(strategyId, countMax, after) {
      const found = await sql.read({
        name: "research_signals",
        text: `select ${signalColumns} from research_signal where strategy_id = $1
                 and ($3::bigint is null or (-at_us, symbol) > (-$3::bigint, $4::text))
               order by at_us desc, symbol limit $2`,
        values: [strategyId, countMax, after?.at ?? null, after?.symbol ?? null],
      });
      return (found.rows as readonly SignalRow[]).map(signalOf);
    },
    async forgetSignals(before, countMax) {
      const removed = await sql.write({
        text: `delete from research_signal where ctid in (
                 select ctid from research_signal where at_us < $1 order by at_us limit $2)`,
        values: [before, countMax],
      });
      return removed.rowCount ?? 0;
    },
  };
}

function dailyRecords(sql: Sql): DailyPart {
  const columns = "strategy_id, day, symbol, value, price, at_us";
  return {
    async putDailySignals(signals) {
      if (signals.length === 0) return;
      await sql.write({
        name: "research_daily_put",
        text: `insert into research_daily_signal as kept (${columns})
               select * from unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::numeric[], $6::bigint[])
               on conflict (strategy_id, day, symbol) do update
                 set value = excluded.value, price = excluded.price, at_us = excluded.at_us where kept.realised is null`,
        values: [
          signals.map(({ strategyId }) => strategyId),
          signals.map(({ day }) => day),
          signals.map(({ symbol }) => symbol),
          signals.map(({ value }) => value),
          signals.map(({ price }) => format(price)),
          signals.map(({ at }) => at),
        ],
      });
    },
    async setDailyRealised(signals) {
      if (signals.length === 0) return;
      await sql.write({
        text: `update research_daily_signal as kept set realised = known.realised
               from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as known (strategy_id, day, symbol, realised)
               where kept.strategy_id = known.strategy_id and kept.day = known.day and kept.symbol = known.symbol`,
        values: [
          signals.map(({ strategyId }) => strategyId),
          signals.map(({ day }) => day),
          signals.map(({ symbol }) => symbol),
          signals.map(({ realisedReturn }) => realisedReturn ?? null),
        ],
      });
    },
    async dailySignals(strategyId, daysMax) {
      const found = await sql.read({
        name: "research_daily",
        text: `select ${columns}, realised from research_daily_signal where strategy_id = $1 and day in (
                 select distinct day from research_daily_signal where strategy_id = $1 order by day desc limit $2)
               order by day desc, symbol`,
        values: [strategyId, daysMax],
      });
      return found.rows.map(
        (row): DailySignal => ({
          strategyId: row.strategy_id,
          day: row.day,
          symbol: row.symbol,
          value: row.value,
          price: parse(row.price),
          at: fromMicroseconds(Number(row.at_us)),
          ...(row.realised === null ? {} : { realisedReturn: row.realised }),
        }),
      );
    },
  };
}

function skillRecords(sql: Sql): Omit<ResearchRecords, keyof StrategyPart | keyof SignalPart | keyof DailyPart> {
  return {
    async addSkill(strategyId, day, coefficient) {
      await sql.write({
        name: "research_skill_add",
        text: `insert into research_skill as kept (strategy_id, day, total, count) values ($1, $2, $3, 1)
               on conflict (strategy_id, day) do update set total = kept.total + excluded.total, count = kept.count + 1`,
        values: [strategyId, day, coefficient],
      });
    },
    async skill(strategyId, countMax) {
      const found = await sql.read({
        name: "research_skill",
        text: "select day, total, count from research_skill where strategy_id = $1 order by day desc limit $2",
        values: [strategyId, countMax],
      });
      return found.rows.map((row) => ({
        day: row.day,
        mean: row.total / Number(row.count),
        count: Number(row.count),
      }));
    },
    async backtest(strategyId) {
      const found = await sql.read({
        text: "select content from research_backtest where strategy_id = $1",
        values: [strategyId],
      });
      return found.rows[0]?.content;
    },
    async putBacktest(backtest) {
      await sql.write({
        text: `insert into research_backtest (strategy_id, content) values ($1, $2)
               on conflict (strategy_id) do update set content = excluded.content`,
        values: [backtest.strategyId, JSON.stringify(backtest)],
      });
    },
  };
}

function strategyOf(row: {
  readonly strategy_id: string;
  readonly fund_id: string;
  readonly status: StrategyStatus;
  readonly allocation_pct: number;
}): StoredStrategy {
  return {
    strategyId: row.strategy_id,
    fundId: row.fund_id,
    status: row.status,
    allocationPct: row.allocation_pct,
  };
}

function signalOf(row: SignalRow): StoredSignal {
  return {
    strategyId: row.strategy_id,
    symbol: row.symbol,
    at: fromMicroseconds(Number(row.at_us)),
    value: row.value,
    price: parse(row.price),
    horizonS: row.horizon_s,
    ...(row.realised === null ? {} : { realisedReturn: row.realised }),
  };
}
