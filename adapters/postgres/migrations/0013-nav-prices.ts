// The thirteenth step: beside every value the prices that it is made of, so that it can be recomputed.
import type { Migration } from "../migrate.ts";

const sql = `
alter table treasury_nav add column prices json;
comment on column treasury_nav.prices is 'By symbol: quantity, price, and when the price was true. Null where nobody kept them.';
`;

export const navPricesMigration: Migration = { number: 13, name: "nav-prices", sql };
