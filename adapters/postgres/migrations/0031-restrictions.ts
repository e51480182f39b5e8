// What watchdogs keep from being done. A restriction is never removed or opened again: one that a person ended stays ended for its episode.
import type { Migration } from "../migrate.ts";

const sql = `
create table restriction (
  restriction_id text    primary key collate "C",
  kind           text    not null check (kind in ('THROTTLE', 'COOLDOWN', 'SHADOW', 'NO_SHORT_OPTIONS', 'GROSS', 'ALLOCATION')),
  fund_id        text    collate "C",
  strategy_id    text    collate "C",
  symbol         text    collate "C",
  factor         numeric check (factor > 0 and factor <= 1),
  base           numeric check (base >= 0),
  watchdog       text    not null,
  episode_id     text    not null collate "C",
  since_us       bigint  not null check (since_us between -9007199254740991 and 9007199254740991),
  ended_us       bigint  check (ended_us between -9007199254740991 and 9007199254740991),
  ended          json,
  content        json    not null,
  constraint restriction_ending check ((ended_us is null) = (ended is null)),
  constraint restriction_figures check ((factor is not null) = (kind in ('GROSS', 'ALLOCATION')) and (base is not null) = (kind = 'GROSS'))
) with (fillfactor = 70);
create unique index restriction_of_episode on restriction
  (episode_id, kind, coalesce(fund_id, ''), coalesce(strategy_id, ''), coalesce(symbol, ''));
create index restriction_open on restriction (since_us, restriction_id) where ended_us is null;
create index restriction_newest on restriction (since_us desc, restriction_id desc);
comment on table restriction is 'What watchdogs keep from being done; those without an end are in force.';
grant select, insert, update (ended_us, ended) on restriction to portcullis_app;
`;

export const restrictionsMigration: Migration = { number: 31, name: "restrictions", sql };
