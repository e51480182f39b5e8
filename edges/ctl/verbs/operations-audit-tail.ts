// `ctl operations audit tail`: the log line by line as it grows. It asks again and again, less often while nothing happens or nobody answers,
// and says from where to go on when it is stopped.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { entries, entryLine, entryOf, type Page, pageSize, pagesOf, sizeOf } from "../audit/audit-pages.ts";
import { failureOf, interruptedExit, Refusal, usageRefusal } from "../failure.ts";
import { countOf } from "../text/numbers.ts";
import { clean, jsonText } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const countDefault = 20;

export const operationsAuditTail: Verb = {
  name: "operations audit tail",
  heading: "Reading",
  sentence: "Print the audit log, one line per entry, and follow it.",
  about:
    "Without --from-sequence it begins with the newest entries. With --follow it prints what comes until Ctrl-C (exit 130), under --json one JSON object per line. A line cuts long data; --json has all of it.",
  arguments: [],
  options: [
    { name: "from-sequence", value: "N", sentence: "Begin with this entry, for example where another run ended." },
    {
      name: "count",
      value: "N",
      sentence: `At most this many; else the newest ${countDefault}, or all from --from-sequence on.`,
    },
    { name: "follow", sentence: "Go on with what is appended." },
  ],
  examples: [
    { command: "ctl operations audit tail --follow", sentence: "Watch what happens." },
    { command: "ctl operations audit tail --from-sequence 1042 --count 10", sentence: "A part of the past." },
    { command: "ctl operations audit tail --from-sequence 1042 --follow --json", sentence: "Feed a program." },
  ],
  operation: "ReadAudit",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const isFollowing = context.switched("follow");
  const from = numberOf(context, "from-sequence", 0);
  const count = numberOf(context, "count", 1);
  if (isFollowing && from !== undefined && count !== undefined) {
    throw usageRefusal(
      "--follow has no end, and --from-sequence with --count has one.",
      "Leave one of the three options out.",
    );
  }
  const client = await context.client();
  const size = await sizeOf(client);
  const start = from ?? Math.max(0, size - (count ?? countDefault));
  const end = from === undefined || count === undefined ? size : Math.min(size, from + count);
  if (from !== undefined && from >= size) {
    context.terminal.say(beyondText(from, size, isFollowing));
  }
  if (isFollowing) return follow(context, client, start);
  const data: unknown[] = [];
  for await (const page of pagesOf(client, start, end)) {
    if (context.json) data.push(...page.texts.map(entryOf));
    else printPage(context, page);
  }
  return { data, text: "" };
}

function beyondText(from: number, size: number, isFollowing: boolean): string {
  const there = `The log has ${entries(size)}, so there is no entry ${from} yet`;
  return isFollowing ? `${there}: waiting for it.` : `${there}; --follow would wait for it.`;
}

function numberOf(context: Context, option: string, min: number): number | undefined {
  const typed = context.option(option);
  return typed === undefined ? undefined : countOf(option, typed, min);
}

function printPage({ json, terminal }: Context, { texts }: Pick<Page, "texts">): void {
  // Line ends inside texts are written as escapes, so those that are left only lay the document out.
  const line = json ? (text: string) => jsonText(entryOf(text)).replaceAll(/\n */g, "") : entryLine;
  terminal.write(texts.map((text) => `${line(text)}\n`).join(""));
}

const waitMsMin = 1_000;
const waitMsIdleMax = 8_000;
const waitMsFailingMax = 30_000;

async function follow(context: Context, client: Client, start: number): Promise<never> {
  const { signal, timers } = context;
  let next = start;
  let waitMs = waitMsMin;
  let isLost = false;
  for (;;) {
    const page = await pageFrom(context, client, next);
    if (page !== undefined && isLost) context.terminal.say("The server answers again.");
    if (page === undefined && !isLost) context.terminal.say(`Trying again; the next entry is ${next}.`);
    isLost = page === undefined;
    if (page !== undefined && page.texts.length > 0) {
      printPage(context, page);
      next += page.texts.length;
      waitMs = waitMsMin;
      if (next < page.size && !signal.aborted) continue;
    }
    if (!signal.aborted) await timers.sleep(waitMs, signal);
    if (signal.aborted) throw stopped(next);
    waitMs = Math.min(waitMs * 2, isLost ? waitMsFailingMax : waitMsIdleMax);
  }
}

/** Undefined when nobody answers now, which may pass; what will not pass is thrown. */
async function pageFrom(context: Context, client: Client, from: number): Promise<Omit<Page, "from"> | undefined> {
  try {
    return await client.readAudit({ fromSequence: from, countMax: pageSize });
  } catch (thrown) {
    if (context.signal.aborted) throw stopped(from);
    const { exit, detail } = await failureOf(thrown);
    if (exit !== exitCodes.unavailable) throw thrown;
    context.terminal.say(clean(detail));
    return undefined;
  }
}

function stopped(next: number): Refusal {
  const hint = `\`ctl operations audit tail --from-sequence ${next} --follow\` goes on from here.`;
  return new Refusal(interruptedExit, "CANCELLED", "Stopped by Ctrl-C.", hint);
}
