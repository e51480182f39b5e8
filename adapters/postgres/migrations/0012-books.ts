// The twelfth step: the trades of a fund in their own order, for the job that adds up what is new since it last looked.
import type { Migration } from "../migrate.ts";

const sql = `
create index oms_fill_by_sequence on oms_fill (fund_id, sequence);
`;

export const booksMigration: Migration = { number: 12, name: "books", sql };
