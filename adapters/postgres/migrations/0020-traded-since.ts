// The twentieth step: trades of a fund by their own time, for whoever asks what was held at the end of a day.
import type { Migration } from "../migrate.ts";

const index = `
create index treasury_entry_by_time on treasury_entry (fund_id, at_us) where kind = 'FILL';
`;

export const tradedSinceMigration: Migration = { number: 20, name: "traded-since", sql: index };
