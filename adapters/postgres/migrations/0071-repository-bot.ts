// The seventy-first step: what the repository bot remembers. Installations, pauses and deliveries are written by the gateway, which only adds to them; runs with
// their intents, threads, what was spent and what was asked of GitHub again are the bot's own.
import type { Migration } from "../migrate.ts";

const sql = `
create table bot_installation (
  number  bigint generated always as identity primary key,
  content json not null
);
create trigger append_only before update or delete or truncate on bot_installation for each statement execute function refuse_rewriting();
comment on table bot_installation is 'How the repository bot was installed and taken away; the newest row counts. Rows are never changed or removed.';
grant select, insert on bot_installation to portcullis_app;

create table bot_pause (
  number     bigint generated always as identity primary key,
  repository text not null collate "C",
  content    json not null
);
create index bot_pause_newest on bot_pause (repository, number desc);
create trigger append_only before update or delete or truncate on bot_pause for each statement execute function refuse_rewriting();
comment on table bot_pause is 'Where the repository bot was paused and resumed; the newest row of a repository counts. Rows are never changed or removed.';
grant select, insert on bot_pause to portcullis_app;

create table bot_delivery (
  delivery_id text   primary key collate "C",
  number      bigint generated always as identity unique,
  body_sha256 text   not null unique collate "C",
  received_us bigint not null check (received_us between -9007199254740991 and 9007199254740991),
  status      text   not null,
  content     json   not null
);
create index bot_delivery_open on bot_delivery (number) where status = 'ACCEPTED';
create index bot_delivery_age on bot_delivery (received_us);
comment on table bot_delivery is 'What GitHub delivered under a good signature, for 30 days: its named fields, and by what it is known again.';
grant select, insert, update, delete on bot_delivery to portcullis_app;

create table bot_run (
  run_id     text   primary key collate "C",
  number     bigint generated always as identity unique,
  key        text   not null unique collate "C",
  repository text   not null collate "C",
  status     text   not null,
  version    bigint not null,
  content    json   not null
);
create index bot_run_open on bot_run (number) where status in ('QUEUED', 'RUNNING');
comment on table bot_run is 'Runs of the repository bot: why each began, what it did, or why it did not act.';
grant select, insert, update on bot_run to portcullis_app;

create table bot_intent (
  run_id  text not null references bot_run collate "C",
  name    text not null collate "C",
  content json not null,
  primary key (run_id, name)
);
comment on table bot_intent is 'What a run was about to write at GitHub, so that it looks before it writes again.';
grant select, insert, update on bot_intent to portcullis_app;

create table bot_thread (
  repository text   not null collate "C",
  number     bigint not null,
  content    json   not null,
  primary key (repository, number)
);
comment on table bot_thread is 'Of an issue or pull request: our one comment in it, and whether people paused the bot there.';
grant select, insert, update on bot_thread to portcullis_app;

create table bot_day (
  day  text   primary key collate "C",
  uses bigint not null
);
comment on table bot_day is 'Locked by whoever reserves of a day, so that two never reserve the same rest.';
grant select, insert, update on bot_day to portcullis_app;

create table bot_spend (
  run_id  text primary key collate "C",
  day     text not null collate "C",
  content json not null
);
create index bot_spend_day on bot_spend (day);
comment on table bot_spend is 'What runs reserved of a day and what they came to; what was never settled counts in full.';
grant select, insert, update on bot_spend to portcullis_app;

create table bot_redelivery (
  guid    text   primary key collate "C",
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  content json   not null
);
comment on table bot_redelivery is 'Deliveries that failed at GitHub, and how often they were asked for again.';
grant select, insert, update, delete on bot_redelivery to portcullis_app;
`;

export const repositoryBotMigration: Migration = { number: 71, name: "repository-bot", sql };
