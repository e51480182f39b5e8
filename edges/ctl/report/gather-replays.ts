// How the orders of a fall would have been decided with half the limit on a position: recorded orders, run again by the risk engine's own code.
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { ReportFacts } from "../../../reports/facts.ts";
import type { Client } from "../../client/src/types.ts";
import { isApiError } from "../failure.ts";

type Replays = NonNullable<ReportFacts["replays"]>;

const dayMs = 86_400_000;
/** A day of decisions is a lot to run again. */
const timeoutMs = 30_000;
const countMax = 1_000;
const limit = "max_position_pct";

/** None for whoever may not ask, where there is no envelope, and where it takes longer than is waited for: the report says so. */
export async function replaysOf(
  client: Client,
  fundId: string,
  { start, end }: { readonly start: string; readonly end: string },
  asOf: Instant,
): Promise<Replays> {
  const until = Math.min(asOf, plusMilliseconds(parse(`${end}T00:00:00Z`), 2 * dayMs)) as Instant;
  try {
    const {
      updated_by: _by,
      updated_at: _at,
      loosening: _loosening,
      hash: _hash,
      reason: _reason,
      fund_id: _fund,
      ...rest
    } = await client.getEnvelope({ fundId });
    const from = rest[limit];
    const proposed = { ...rest, version: rest.version + 1, [limit]: from / 2 };
    const period = { from: `${start}T00:00:00Z`, to: format(until) };
    const replay = await client.replayEnvelope({ fundId, proposed, ...period, countMax }, { timeoutMs });
    const denied = replay.changes.filter((one) => one.approved_before && !one.approved_after);
    const text = (value: number): string => decimal.format(decimal.fromNumber(value));
    return [
      {
        limit,
        from: text(from),
        to: text(from / 2),
        replayed: replay.replayed,
        denied: denied.map(({ order_id }) => order_id),
        unnamed: Math.max(replay.newly_denied - denied.length, 0),
      },
    ];
  } catch (thrown) {
    if (isApiError(thrown)) return [];
    throw thrown;
  }
}
