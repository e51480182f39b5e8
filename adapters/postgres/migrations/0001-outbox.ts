// The first step: the outbox, its subscriptions and what the unit of work remembers.
//
// Three things here carry weight elsewhere:
//  - `outbox.xid` stands before `outbox.id`, because defaults are evaluated in column order: a transaction has its number
//    before it takes an event number, which is what lets a reader decide that a missing number will never come.
//  - The identity has no cache: a cached range would be handed out in another order than it is taken.
//  - There is no unique index on event_id: ids are random and made by us, and with one an insert took about 40 % more of
//    the server's time and a fifth more log, measured in batches of 100 over 200,000 rows. Looking an event up by its id
//    is rare (an unknown commit) and may scan.
import type { Migration } from "../migrate.ts";

const sql = `
create table outbox (
  xid      xid8   not null default pg_current_xact_id(),
  id       bigint generated always as identity (cache 1) primary key,
  event_id uuid   not null,
  at_us    bigint not null,
  subject  text   not null,
  key      text   not null,
  source   text   not null,
  payload  bytea  not null,
  constraint outbox_payload_is_utf8 check (convert_from(payload, 'UTF8') is not null),
  constraint outbox_time_is_exact check (at_us between -9007199254740991 and 9007199254740991)
) with (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2
);
comment on table outbox is 'What the world shall hear. Append only for the app role; trimmed behind the slowest cursor.';

create table outbox_floor (
  one         boolean primary key default true check (one),
  trimmed_id  bigint  not null default 0,
  trimmed_xid xid8    not null default '0'
);
insert into outbox_floor default values;
comment on table outbox_floor is 'The highest event number that trimming has removed: a new subscription begins after it.';
comment on column outbox_floor.trimmed_xid is 'The highest transaction whose witness trimming has removed.';

create table subscription (
  name       text     primary key,
  entry      bigint   generated always as identity,
  cursor_id  bigint   not null,
  patterns   text[]   not null,
  holder     text     not null default '',
  updated_us bigint   not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
comment on column subscription.entry is 'New when a forgotten name is entered again: whoever ran under the old entry has ended.';

create table parked_event (
  subscription text   not null,
  event_id     text   not null,
  outbox_id    bigint not null,
  subject      text   not null,
  key          text   not null,
  source       text   not null,
  at_us        bigint not null,
  payload      bytea  not null,
  error        text   not null,
  attempts     integer not null,
  parked_us    bigint not null,
  primary key (subscription, event_id)
);

create table handled_event (
  subscription text   not null,
  event_id     text   not null,
  handled_us   bigint not null,
  primary key (subscription, event_id)
);
create index handled_event_by_age on handled_event using brin (handled_us) with (autosummarize = on);

create table commit_marker (
  id    uuid   primary key,
  xid   xid8   not null default pg_current_xact_id(),
  at_us bigint not null
);

create table service_instance (
  incarnation    text    primary key,
  service        text    not null,
  host           text    not null,
  pid            integer not null,
  started_us     bigint  not null,
  lease_until_us bigint  not null
) with (fillfactor = 50);

create function check_cursor() returns trigger language plpgsql set search_path = portcullis, pg_temp as $$
begin
  if new.cursor_id < old.cursor_id then
    raise exception 'the cursor of % cannot go back', new.name using errcode = 'check_violation';
  end if;
  if new.cursor_id > old.cursor_id and new.cursor_id > coalesce((select max(id) from outbox), 0)
     and new.cursor_id > (select trimmed_id from outbox_floor) then
    raise exception 'the cursor of % cannot pass the newest event', new.name using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger check_cursor before update of cursor_id on subscription for each row execute function check_cursor();

create function trim_outbox(older_than_us bigint, rows_max integer) returns bigint
language plpgsql security definer set search_path = portcullis, pg_temp as $$
declare
  slowest bigint;
  reach   bigint;
  removed bigint;
  newest  xid8;
begin
  perform 1 from outbox_floor for update skip locked;
  if not found then return 0; end if;
  -- Whatever the caller asks for, the last minute stays, by the server's own clock.
  older_than_us := least(older_than_us, (extract(epoch from clock_timestamp()) * 1000000)::bigint - 60000000);
  select min(cursor_id) into slowest from subscription;
  if slowest is null then return 0; end if;
  select coalesce(min(head.id) filter (where head.at_us >= older_than_us) - 1, max(head.id)) into reach
    from (select id, at_us from outbox where id <= slowest order by id limit rows_max) head;
  if reach is null then return 0; end if;
  with gone as (delete from outbox where id <= reach returning xid)
    select count(*), (select xid from gone order by xid desc limit 1) into removed, newest from gone;
  if removed > 0 then
    update outbox_floor set trimmed_id = greatest(trimmed_id, reach), trimmed_xid = greatest(trimmed_xid, newest);
  end if;
  return removed;
end $$;

create function trim_history(older_than_us bigint, rows_max integer) returns bigint
language plpgsql security definer set search_path = portcullis, pg_temp as $$
declare
  kept_us bigint;
  removed bigint;
  total   bigint := 0;
  newest  xid8;
begin
  -- An event that is still kept may be handed over again, so what is known of it must be kept as well. One hour covers
  -- clocks that disagree and events that were numbered in another order than they were dated.
  select at_us - 3600000000 into kept_us from outbox order by id limit 1;
  delete from handled_event where ctid = any (array(
    select ctid from handled_event where handled_us < least(older_than_us, kept_us) limit rows_max));
  get diagnostics removed = row_count;
  total := total + removed;
  with gone as (
    delete from commit_marker where ctid = any (array(
      select ctid from commit_marker where at_us < older_than_us limit rows_max)) returning xid)
    select count(*), (select xid from gone order by xid desc limit 1) into removed, newest from gone;
  if removed > 0 then
    update outbox_floor set trimmed_xid = greatest(trimmed_xid, newest);
  end if;
  total := total + removed;
  delete from service_instance where lease_until_us < older_than_us;
  get diagnostics removed = row_count;
  return total + removed;
end $$;

revoke all on function trim_outbox(bigint, integer), trim_history(bigint, integer) from public;
grant execute on function trim_outbox(bigint, integer), trim_history(bigint, integer) to portcullis_app;
grant usage on schema portcullis to portcullis_app;
grant select, insert (event_id, at_us, subject, key, source, payload) on outbox to portcullis_app;
grant select on outbox_floor to portcullis_app;
grant select, insert, update, delete on subscription to portcullis_app;
grant select, insert on parked_event to portcullis_app;
grant select, insert on handled_event to portcullis_app;
grant select, insert (id, at_us) on commit_marker to portcullis_app;
grant select, insert, update, delete on service_instance to portcullis_app;
`;

export const outboxMigration: Migration = { number: 1, name: "outbox", sql };
