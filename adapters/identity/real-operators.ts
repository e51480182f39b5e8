// Whether anybody beside the development operators can log in at the embedded provider.
import type { PostgresStore } from "../postgres/store.ts";

export async function hasRealOperators(store: PostgresStore): Promise<boolean> {
  return store.transactSql("identity.people_look", async (_unit, sql) => {
    const found = await sql.read({
      text: "select 1 from operator where not development and disabled_us is null limit 1",
    });
    return found.rows.length > 0;
  });
}
