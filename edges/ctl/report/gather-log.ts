// What a post-mortem reads beside the books: entries of the audit log in the days of the fall, and the values of every minute, which are kept for a week.
import { z } from "zod";
import {
  format,
  type Instant,
  minusMilliseconds,
  parse,
  plusMicroseconds,
  plusMilliseconds,
} from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ReportFacts } from "../../../reports/facts.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { pagesOf, sizeOf } from "../audit/audit-pages.ts";
import { usageRefusal } from "../failure.ts";
import { followPages } from "../follow-pages.ts";

type Audit = NonNullable<ReportFacts["audit"]>;
type Minutes = NonNullable<ReportFacts["minutes"]>;

const entry = z.object({
  sequence: z.number(),
  timestamp: z.string(),
  action: z.string(),
  actor: z.string(),
  subject_id: z.string(),
  data: z.unknown(),
});

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const minutesMax = 20_000;
const entriesMax = 200_000;

/** Of the fund and of nothing that is another fund's; a day more on both sides, because days are the market's. */
export async function auditOf(
  client: Client,
  fundId: string,
  { start, end }: { readonly start: string; readonly end: string },
  asOf: Instant,
): Promise<Audit> {
  const size = await sizeOf(client);
  if (size === 0) return { began_at: null, entries: [] };
  const [first] = await entriesFrom(client, 0, 1);
  const from = await firstSince(client, size, minusMilliseconds(parse(`${start}T00:00:00Z`), dayMs));
  const until = Math.min(asOf, plusMilliseconds(parse(`${end}T00:00:00Z`), 2 * dayMs));
  const entries: Audit["entries"] = [];
  for await (const page of pagesOf(client, from, size)) {
    const rows = page.texts.map((text) => entry.parse(parseJson(text)));
    entries.push(...rows.filter((row) => parse(row.timestamp) <= until && isOf(row.data, fundId)).map(auditFact));
    if (entries.length > entriesMax)
      throw usageRefusal(`The log has more than ${entriesMax} entries in those days: name fewer days.`);
    if (rows.some((row) => parse(row.timestamp) > until)) break;
  }
  return { began_at: first?.timestamp ?? null, entries };
}

const auditFact = ({
  sequence,
  timestamp,
  action,
  actor,
  subject_id,
}: z.infer<typeof entry>): Audit["entries"][number] => ({
  sequence,
  at: timestamp,
  action,
  actor,
  subject_id,
});

function isOf(data: unknown, fundId: string): boolean {
  const named = z.object({ payload: z.object({ fund_id: z.string() }) }).safeParse(data);
  return !named.success || named.data.payload.fund_id === fundId || named.data.payload.fund_id === "";
}

async function entriesFrom(client: Client, from: number, count: number) {
  const { texts } = await client.readAudit({ fromSequence: from, countMax: count });
  return texts.map((text) => entry.parse(parseJson(text)));
}

/** The log is in the order of time: halves find the first entry at or after a moment. */
async function firstSince(client: Client, size: number, since: Instant): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = await entriesFrom(client, middle, 1);
    if (found === undefined || parse(found.timestamp) >= since) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The log's last entry at that moment, or its last one; null before there was any. */
export async function lastEntryAt(client: Client, asOf: Instant | undefined): Promise<number | null> {
  const { size } = await client.getAuditStatus();
  const entries = asOf === undefined ? size : await firstSince(client, size, plusMicroseconds(asOf, 1));
  return entries > 0 ? entries - 1 : null;
}

type Nav = AnswerOf<"listNavs">[number];

export async function minutesOf(client: Client, fundId: string, asOf: Instant): Promise<Minutes> {
  const asked = { fundId, from: format(minusMilliseconds(asOf, weekMs)), to: format(asOf), every: "minute" } as const;
  const { rows } = await followPages(
    minutesMax,
    (one: Nav) => one.as_of,
    async (page) => [...(await client.listNavs({ ...asked, ...page }))].reverse(),
  );
  return [...rows].reverse().map(({ as_of, nav, net_flows }) => ({ at: as_of, nav, net_flows }));
}
