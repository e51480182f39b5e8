// The thirty-fourth step: lifts are found by their epoch, which the public stream of halts asks for four times a second.
import type { Migration } from "../migrate.ts";

const sql = `
create index halt_lifted on halt (lifted_epoch) where lifted_epoch is not null;
`;

export const haltLiftsMigration: Migration = { number: 34, name: "halt-lifts", sql };
