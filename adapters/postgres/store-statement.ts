// A unit of work that is one statement: it stands by itself, is sent without a transaction around it, and costs the server a third of what it would cost
// within one. A second statement or an event is a mistake of ours.
import type pg from "pg";
import { Defect, type Fault } from "../../contracts/src/fault.ts";
import { storeFault } from "./store-fault.ts";
import type { StoreTransaction } from "./store-transaction.ts";

export function openStatement({ pool, name }: { readonly pool: pg.Pool; readonly name: string }): StoreTransaction {
  let asked: Promise<unknown> | undefined;
  let failed: Fault | undefined;
  let ended = false;

  async function ask(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (ended) throw new Defect(`${name}: a statement came after the end of its work`);
    if (asked !== undefined) throw new Defect(`${name} is said to be one statement, and this is its second`);
    const answer = pool.query(statement);
    asked = answer;
    try {
      return await answer;
    } catch (thrown) {
      failed = storeFault(thrown, name);
      throw failed;
    }
  }

  return {
    idle: async () => void (await asked?.catch(() => undefined)),
    begun: () => true,
    failure: () => failed,
    read: ask,
    write: ask,
    async commit(entries) {
      ended = true;
      if (entries.length > 0) throw new Defect(`${name} is said to be one statement, and it published an event`);
    },
    async rollback() {
      ended = true;
    },
  };
}
