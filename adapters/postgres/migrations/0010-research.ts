// The tenth step: research's strategies, what they said and what came of it, and their backtests.
//
//  - `decisions` counts what a strategy has decided. A number is taken before anything is handed in, so no order's id is ever made twice.
//  - Signals are opinions, not records of what was done: old ones are removed, and their skill is kept by the day.
import type { Migration } from "../migrate.ts";

const sql = `
create table research_strategy (
  strategy_id    text             primary key collate "C",
  fund_id        text             not null collate "C",
  status         text             not null check (status in ('live', 'shadow', 'halted')),
  allocation_pct double precision not null check (allocation_pct between 0 and 1),
  decisions      bigint           not null default 0
) with (fillfactor = 50);

create table research_signal (
  strategy_id text             not null collate "C",
  at_us       bigint           not null,
  symbol      text             not null collate "C",
  value       double precision not null,
  price       numeric(38,18)   not null,
  horizon_s   double precision not null,
  realised    double precision,
  primary key (strategy_id, at_us, symbol)
);
create index research_signal_due on research_signal (strategy_id, at_us) where realised is null;
create index research_signal_oldest on research_signal (at_us);

create table research_skill (
  strategy_id text             not null collate "C",
  day         text             not null collate "C",
  total       double precision not null,
  count       bigint           not null,
  primary key (strategy_id, day)
);

create table research_backtest (
  strategy_id text primary key collate "C",
  content     json not null
);

grant select, insert, update on research_strategy, research_signal, research_skill, research_backtest to portcullis_app;
grant delete on research_signal to portcullis_app;
`;

export const researchMigration: Migration = { number: 10, name: "research", sql };
