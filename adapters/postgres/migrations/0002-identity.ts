// The second step: who may call. Nothing here can be used by whoever reads it: tokens and codes are hashes, secrets and the
// provider's state are sealed with a key that lies in the secrets store.
//
// `identity_epoch` moves with every change that a verifier must know, so that each process can ask one small question a second
// and read the rest only when the answer changed.
import type { Migration } from "../migrate.ts";

const sql = `
create table identity_epoch (
  one   boolean primary key default true check (one),
  epoch bigint  not null default 0
);
insert into identity_epoch default values;

create function identity_changed() returns trigger
language plpgsql security definer set search_path = portcullis, pg_temp as $$
begin
  update identity_epoch set epoch = epoch + 1;
  return null;
end $$;

create table identity_issuer (
  one        boolean primary key default true check (one),
  issuer     text    not null,
  updated_us bigint  not null
);
comment on table identity_issuer is 'The embedded issuer as its gateway last announced it; its port is known only then.';

create table identity_key (
  kid        text   primary key,
  public_jwk jsonb  not null,
  created_us bigint not null,
  retired_us bigint,
  refused_us bigint
);
comment on column identity_key.retired_us is 'From then on it signs nothing new; what it signed stays good until it runs out.';
comment on column identity_key.refused_us is 'From then on nothing that it signed is accepted.';

create table identity_revocation (
  kind       text   not null check (kind in ('token', 'session', 'subject')),
  id         text   not null,
  revoked_us bigint not null,
  until_us   bigint not null,
  actor      text   not null,
  primary key (kind, id)
);
comment on table identity_revocation is 'Rows of kind subject refuse what was issued before revoked_us. until_us: nothing it concerns is alive after.';
create index identity_revocation_by_end on identity_revocation (until_us);

create table operator (
  name          text    primary key,
  password_hash text    not null,
  roles         text[]  not null,
  development   boolean not null,
  created_us    bigint  not null
);
comment on table operator is 'People of the embedded provider. development: made at the first start, for trying things out.';

create table second_factor (
  subject         text    primary key,
  actor           text    not null,
  secret_sealed   bytea,
  enrolled_us     bigint,
  pending_sealed  bytea,
  pending_us      bigint,
  pending_session text,
  last_step       bigint  not null default -1,
  failures        integer not null default 0,
  locked_until_us bigint  not null default 0
);
comment on column second_factor.last_step is 'The newest time step whose code was accepted; it and everything before it is used up.';

create table recovery_code (
  subject   text   not null references second_factor on delete cascade,
  code_hash text   not null,
  used_us   bigint,
  primary key (subject, code_hash)
);

create table step_up_proof (
  proof_hash      text   primary key,
  subject         text   not null,
  session_id      text,
  action          text   not null,
  parameters_hash text   not null,
  issued_us       bigint not null,
  expires_us      bigint not null,
  redeemed_us     bigint
);
comment on column step_up_proof.session_id is 'The login in which it was earned; null when the issuer tells of none.';
create index step_up_proof_by_subject on step_up_proof (subject);
create index step_up_proof_by_end on step_up_proof (expires_us);

create table service_token (
  id          text    primary key,
  name        text    not null,
  secret_hash text    not null unique,
  operations  text[]  not null,
  development boolean not null default false,
  created_by  text    not null,
  created_us  bigint  not null,
  expires_us  bigint  not null,
  revoked_us  bigint,
  revoked_by  text,
  rotated_to  text
);

create table oidc_state (
  model          text   not null,
  id_hash        text   not null,
  payload_sealed bytea  not null,
  grant_hash     text,
  uid_hash       text,
  user_code_hash text,
  consumed_us    bigint,
  expires_us     bigint not null,
  primary key (model, id_hash)
);
create index oidc_state_by_grant on oidc_state (grant_hash) where grant_hash is not null;
create index oidc_state_by_uid on oidc_state (model, uid_hash) where uid_hash is not null;
create index oidc_state_by_user_code on oidc_state (model, user_code_hash) where user_code_hash is not null;
create index oidc_state_by_end on oidc_state (expires_us);

create trigger identity_changed after insert or update or delete on identity_issuer
  for each statement execute function identity_changed();
create trigger identity_changed after insert or update or delete on identity_key
  for each statement execute function identity_changed();
create trigger identity_changed after insert or update on identity_revocation
  for each statement execute function identity_changed();
create trigger identity_changed after insert or update or delete on service_token
  for each statement execute function identity_changed();

revoke all on function identity_changed() from public;
grant select on identity_epoch to portcullis_app;
grant select, insert, update, delete on identity_issuer, identity_key, identity_revocation, operator, second_factor,
  recovery_code, step_up_proof, service_token, oidc_state to portcullis_app;
`;

export const identityMigration: Migration = { number: 2, name: "identity", sql };
