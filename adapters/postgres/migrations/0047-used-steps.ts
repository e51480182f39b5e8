// The forty-seventh step: which codes of a second factor were used, so that a clock that ran ahead and was set back neither keeps people out nor lets a code in twice.
import type { Migration } from "../migrate.ts";

const sql = `
alter table second_factor add column used_steps bigint[] not null default '{}';
comment on column second_factor.used_steps is 'Every time step up to the first counts as used; the others were used beyond it. Empty: every step up to last_step.';
comment on column second_factor.last_step is 'The newest time step whose code was accepted; it and everything before it is used up, unless the clock was set back since.';
`;

export const usedStepsMigration: Migration = { number: 47, name: "used steps", sql };
