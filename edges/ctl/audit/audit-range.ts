// Which entries somebody means: by number, or by date. Entries are in the order of their time, so the first of a date is found by halving.
import { type Instant, tryParse } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { momentOf } from "../text/moments.ts";
import { countOf } from "../text/numbers.ts";
import type { Context } from "../verbs/verb.ts";
import { entryOf, sizeOf } from "./audit-pages.ts";

type Log = Parameters<typeof sizeOf>[1];

interface Range {
  readonly fromSequence: number;
  readonly count?: number;
}

export async function rangeOf(context: Context, client: Client, log: Log): Promise<Range> {
  const [from, to] = [context.option("from"), context.option("to")];
  const count = context.option("count");
  const typed = countOf("from-sequence", context.option("from-sequence") ?? "");
  if (from === undefined && to === undefined) {
    return { fromSequence: typed, ...(count !== undefined && { count: countOf("count", count, 1) }) };
  }
  if (count !== undefined) throw usageRefusal("Dates and --count contradict each other.", "Give one of them.");
  if (from !== undefined && typed > 0) throw usageRefusal("--from and --from-sequence contradict each other.");
  const size = await sizeOf(client, log);
  const first = from === undefined ? typed : await firstAt(client, log, size, momentOf("from", from, "start"));
  const end = to === undefined ? size : await firstAt(client, log, size, momentOf("to", to, "end"));
  if (end <= first) throw usageRefusal("No entry is of that time.", "`ctl operations audit tail` shows the newest.");
  // Up to the newest checkpoint when no end was named, as without dates.
  return { fromSequence: first, ...(to !== undefined && { count: end - first }) };
}

/** The first entry of that moment or later; the size when all are before it. */
async function firstAt(client: Client, log: Log, size: number, at: Instant): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const written = await timeOf(client, log, middle);
    if (written === undefined || written >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function timeOf(client: Client, log: Log, sequence: number): Promise<Instant | undefined> {
  const { texts } = await client.readAudit({ fromSequence: sequence, countMax: 1, ...log });
  const entry = entryOf(texts[0] ?? "") as { readonly timestamp?: unknown } | null;
  return typeof entry?.timestamp === "string" ? tryParse(entry.timestamp) : undefined;
}
