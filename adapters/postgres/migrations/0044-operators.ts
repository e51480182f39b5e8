// The forty-fourth step: people who are disabled, what two admins decide together, and when a machine's token was last used. Every token ends 90 days
// from now at the latest, also one that was given for longer.
import type { Migration } from "../migrate.ts";

const sql = `
alter table operator add column disabled_us bigint, add column disabled_by text;
comment on column operator.disabled_us is 'From then on nobody logs in under this name, until two admins add it again.';

alter table service_token add column cosigned_by text;
comment on column service_token.cosigned_by is 'The second admin, where it took two.';

create table identity_request (
  request_id   text   primary key,
  operation    text   not null,
  target       text   not null,
  parameters   jsonb  not null,
  sealed       bytea,
  requested_by text   not null,
  subject      text   not null,
  reason       text   not null,
  made_us      bigint not null,
  expires_us   bigint not null,
  outcome      text   check (outcome in ('signed', 'expired', 'void')),
  ended_by     text,
  ended_us     bigint,
  check ((outcome is null) = (ended_us is null))
);
comment on table identity_request is 'What one admin asked for and another one signs. sealed: the first half of a new password, until it ends.';
create index identity_request_by_end on identity_request (expires_us) where outcome is null;
create index identity_request_by_requester on identity_request (requested_by) where outcome is null;

create table service_token_use (
  token_id  text primary key references service_token on delete cascade,
  used_us   bigint,
  warned_us bigint
);
comment on table service_token_use is 'Beside the tokens, because a change of those makes every process read them all again.';

update service_token
set expires_us = (extract(epoch from now()) * 1000000)::bigint + 90 * 86400 * 1000000::bigint
where expires_us > (extract(epoch from now()) * 1000000)::bigint + 90 * 86400 * 1000000::bigint;

grant select, insert, update, delete on identity_request, service_token_use to portcullis_app;
`;

export const operatorsMigration: Migration = { number: 44, name: "operators", sql };
