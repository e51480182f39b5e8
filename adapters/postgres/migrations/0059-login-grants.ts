// Which login of a browser a grant of the embedded provider was made under, so that logging out ends all of it.
import type { Migration } from "../migrate.ts";

const sql = `
alter table oidc_state add column session_hash text, add column made_sealed bytea;
alter table oidc_state add constraint oidc_state_made check ((session_hash is null) = (made_sealed is null));
comment on column oidc_state.session_hash is 'Of a grant: the browser''s session that it was made in.';
comment on column oidc_state.made_sealed is 'Of a grant: for whom, by which client and from where, as the log-out lists it.';
create index oidc_state_by_session on oidc_state (session_hash) where session_hash is not null;
`;

export const loginGrantsMigration: Migration = { number: 59, name: "login-grants", sql };
