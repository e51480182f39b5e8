// The newest prices from outside, as quotes: what the stops of LIVE funds are judged by. A mark without bid and ask is both at its price. What the
// simulated market says is not heard here.
import { format, type Instant } from "../../contracts/src/instant.ts";
import { isSimulated, type Mark, type Quote } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { createNewestMarks } from "../shared/newest-marks.ts";
import type { ServicePorts } from "../shared/service.ts";

/** Marks that may wait; newer ones of the same symbol take the place of older ones. */
const marksQueueMax = 10_000;

interface OutsideQuotes {
  readonly newest: ReadonlyMap<string, Quote>;
  stop(): Promise<void>;
}

export async function hearOutsideQuotes({ bus, clock }: Pick<ServicePorts, "bus" | "clock">): Promise<OutsideQuotes> {
  const marks = createNewestMarks(quoteOf);
  const listening = await bus.listen(
    { subjects: [subjects.marketMarks.name], queueMax: marksQueueMax, overflow: "keep-newest-per-key" },
    async ({ payload }) => {
      const mark = payload as Mark;
      if (!isSimulated(mark)) marks.hear(mark, clock.now());
    },
  );
  return { newest: marks.live, stop: () => listening.close() };
}

function quoteOf({ symbol, price, bid = price, ask = price }: Mark, at: Instant): Quote & { readonly at: Instant } {
  return { symbol, bid, ask, last: price, quoted_at: format(at), at };
}
