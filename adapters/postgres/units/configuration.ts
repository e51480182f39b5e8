// The configuration of the last start in a transaction.
import type { ConfigurationRecords } from "../../../ports/store.ts";
import type { Sql } from "../store-transaction.ts";

interface ValueRow {
  readonly path: string;
  readonly shown: string;
  readonly digest: string;
}

export function configurationRecords(sql: Sql): ConfigurationRecords {
  return {
    async lock(service) {
      const found = await sql.write({
        text: `select path, shown, digest from configuration_value where service = $1 order by path for update`,
        values: [service],
      });
      return (found.rows as readonly ValueRow[]).map(({ path, shown, digest }) => ({ path, shown, digest }));
    },
    async put(service, values) {
      await sql.write({
        text: `insert into configuration_value as stored (service, path, shown, digest)
               select $1, one.path, one.shown, one.digest
               from unnest($2::text[], $3::text[], $4::text[]) as one (path, shown, digest)
               on conflict (service, path) do update set shown = excluded.shown, digest = excluded.digest`,
        values: [
          service,
          values.map(({ path }) => path),
          values.map(({ shown }) => shown),
          values.map(({ digest }) => digest),
        ],
      });
    },
    async remove(service, paths) {
      await sql.write({
        text: "delete from configuration_value where service = $1 and path = any($2::text[])",
        values: [service, [...paths]],
      });
    },
  };
}
