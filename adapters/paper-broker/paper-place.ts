// Where the paper broker and the paper market have what outlives a process: the broker's books, the faults, and how and when the market
// began. In PostgreSQL here; the simulator has its own.
import type pg from "pg";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import { type Wake, whenPublished } from "../postgres/bus/wake.ts";
import { storeFault } from "../postgres/store-fault.ts";
import { type PaperBeginnings, type PaperRequests, paperBeginnings } from "./paper-beginnings.ts";
import type { PaperBooks } from "./paper-books.ts";
import { postgresPaperBooks } from "./postgres-books.ts";

/** What broker and market follow. */
export interface PaperOutside {
  readonly faults: PaperWeather | undefined;
  /** Corporate actions that are under way or were applied, in the order in which they were. */
  readonly actions: readonly StoredAction[];
}

export interface PaperPlace {
  readonly books: PaperBooks;
  /** When prices were those of the listings: when the database was made. */
  beganAt(): Promise<Instant>;
  /** What the first start decided for good; decides it when this is the first. */
  beginnings(requests: PaperRequests): Promise<PaperBeginnings>;
  readOutside(): Promise<PaperOutside>;
  /** Calls back when that may have changed. */
  onChange(run: () => void): () => void;
}

const outsideText = `
select (select content from paper_weather) as faults,
  array(select content from corporate_action where state <> 'ABORTED'
        order by applied_us nulls last, announced_us, action_id) as actions`;
const tellingOfChanges = [subjects.paperFaults.name, subjects.corporateActionChanged.name];

export function postgresPaperPlace(pool: pg.Pool, wake: Pick<Wake, "onPoke">): PaperPlace {
  const ask = async (text: string): Promise<pg.QueryResult["rows"]> => {
    try {
      return (await pool.query(text)).rows;
    } catch (thrown) {
      throw storeFault(thrown, "reading the paper market");
    }
  };
  return {
    books: postgresPaperBooks(pool),
    beganAt: async () => fromMicroseconds(Number((await ask("select began_us from paper_market"))[0]?.began_us)),
    beginnings: (requests) => paperBeginnings(pool, requests),
    async readOutside() {
      const [row] = await ask(outsideText);
      return { faults: row?.faults ?? undefined, actions: row?.actions ?? [] };
    },
    onChange: (run) => whenPublished(wake, tellingOfChanges, run),
  };
}
