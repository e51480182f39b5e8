// The twenty-eighth step: what was put aside can be seen, tried again and discarded, and money is held in its lane instead.
import type { Migration } from "../migrate.ts";

const sql = `
alter table parked_event
  add column place        bigint generated always as identity (cache 1),
  add column state        text   not null default 'PARKED' check (state in ('PARKED', 'HELD', 'DISCARDED')),
  add column lane         text,
  add column first_us     bigint,
  add column tried_us     bigint,
  add column retry_us     bigint,
  add column retry_by     text,
  add column retry_reason text,
  add column taken_us     bigint,
  add column discarded_us bigint,
  add column discarded_by text,
  add column discard_reason text,
  add constraint parked_event_lane check (state <> 'HELD' or lane is not null);
update parked_event set first_us = parked_us, tried_us = parked_us;
alter table parked_event alter column first_us set not null, alter column tried_us set not null;
create index parked_event_standing on parked_event (subscription, lane, place) where state <> 'DISCARDED';
comment on table parked_event is 'Events that a subscription put aside: parked ones wait for a person, held ones keep their lane waiting.';
grant update (state, error, attempts, tried_us, retry_us, retry_by, retry_reason, taken_us, discarded_us, discarded_by, discard_reason),
  delete on parked_event to portcullis_app;
`;

export const putAsideMigration: Migration = { number: 28, name: "put-aside", sql };
