// `ctl operations audit show`: everything that was done to one subject, in the order in which it happened.
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { shortData } from "../audit/audit-pages.ts";
import { wholeRecordId } from "../id-prefix.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditShow: Verb = {
  name: "operations audit show",
  heading: "Reading",
  sentence: "Show everything that was done to one subject, oldest first.",
  about:
    "A table cuts long data; CSV and JSON have all of it, and the hashes. When it is not proven yet that nothing was left out, a line on stderr says so.",
  arguments: [],
  options: [
    {
      name: "subject-id",
      value: "ID",
      required: true,
      sentence: "What it was done to: an order id, a fund id, a path.",
    },
    ...listOptions,
  ],
  examples: [
    { command: "ctl operations audit show --subject-id o-1042", sentence: "The life of an order." },
    { command: "ctl operations audit show --subject-id alpha --format csv", sentence: "Of a fund, for a spreadsheet." },
  ],
  operation: "GetAuditTrail",
  changesState: false,
  run,
};

type Entry = AnswerOf<"getAuditTrail">[number];

const columns: readonly Column<Entry>[] = [
  {
    name: "sequence",
    key: true,
    of: (one) => one.sequence,
    shown: (one) => `${one.sequence}${one.log === undefined ? "" : ` of log ${one.log}`}`,
  },
  { name: "timestamp", head: "when", of: (one) => one.timestamp, time: true },
  { name: "actor", minor: 1, of: (one) => one.actor },
  { name: "action", key: true, of: (one) => one.action },
  { name: "subject_id", of: (one) => one.subject_id, onlyCsv: true },
  { name: "what", onlyTable: true, text: true, of: (one) => whatText(one.data) },
  { name: "data", text: true, minor: 3, of: (one) => JSON.stringify(one.data), shown: (one) => shortData(one.data) },
  { name: "prev_hash", of: (one) => one.prev_hash, onlyCsv: true },
  { name: "hash", of: (one) => one.hash, onlyCsv: true },
];

/** Only where there is one. */
const logColumn: Column<Entry> = { name: "log", of: (one) => one.log ?? "", onlyCsv: true };

const notProven =
  "Not proven yet that this is complete: since its start the platform has not compared the index with every entry. It does so by itself within minutes; `ctl operations audit fsck` does it now.";

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const subjectId = await wholeRecordId(client, context.option("subject-id") ?? "");
  const { rows, isProven } = await trailOf(client, subjectId);
  if (!isProven) context.terminal.say(notProven);
  const all = rows.some(({ log }) => log !== undefined) ? [...columns, logColumn] : columns;
  return listing(context, { columns: all, rows, none: "Nothing is on record about it." });
}

/** So few that the longest entries fit into one answer: a page that is not full was the last. */
const pageEntries = 100;

/** With how many were read before, the last page proves that none was left out. */
async function trailOf(
  client: Client,
  subjectId: string,
): Promise<{ readonly rows: readonly Entry[]; readonly isProven: boolean }> {
  const rows: Entry[] = [];
  let isProven = true;
  const onHeaders = (headers: Headers): void => {
    isProven = !headers.has("portcullis-completeness");
  };
  // Closed logs come first, and prove nothing about the one that is written.
  for (let [fromSequence, log] = [0, undefined as number | undefined]; ; ) {
    const countBefore = rows.filter((row) => row.log === undefined).length;
    const asked = { subjectId, fromSequence, countMax: pageEntries, countBefore, ...(log !== undefined && { log }) };
    const page = await client.getAuditTrail(asked, { onHeaders });
    rows.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageEntries) return { rows, isProven };
    [fromSequence, log] = [last.sequence + 1, last.log];
  }
}

const reported = ["state", "severity", "side", "quantity", "symbol", "code", "verb", "outcome", "reason"] as const;
const whatLengthMax = 160;

/** What happened, in the words of the entry itself: its state, code and reason before everything else that it holds. */
function whatText(data: Entry["data"]): string {
  const of = (data ?? {}) as Readonly<Record<string, unknown>>;
  const inner = (typeof of["order"] === "object" && of["order"] !== null ? of["order"] : {}) as typeof of;
  const words = reported
    .map((name) => of[name] ?? inner[name])
    .filter((word) => typeof word === "string" && word !== "");
  return words.join(" ").slice(0, whatLengthMax);
}
