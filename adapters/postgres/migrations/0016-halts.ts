// The sixteenth step: what follows a latch. The halts themselves are of the third step.
// `halt_told` is what makes the halt manager tell of a halt once, however often it hears of it and whoever latched it.
import type { Migration } from "../migrate.ts";

const sql = `
create table halt_told (
  halt_id  text not null collate "C",
  teller   text not null check (teller in ('riskengine', 'operations')),
  event_id uuid not null,
  primary key (halt_id, teller)
);
comment on table halt_told is 'Which event told of a halt, by the service that told it. Append only for everybody.';

create table halt_step (
  halt_id   text   not null collate "C",
  step      text   not null check (step in ('BLOCKED', 'CANCELLED', 'NOTIFIED')),
  detail    text   not null,
  proven_us bigint not null,
  primary key (halt_id, step)
);
comment on table halt_step is 'What follows a latch and was proven. Append only for everybody.';

create trigger append_only before update or delete or truncate on halt_told
  for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on halt_step
  for each statement execute function refuse_rewriting();

grant select, insert on halt_told, halt_step to portcullis_app;
`;

export const haltsMigration: Migration = { number: 16, name: "halts", sql };
