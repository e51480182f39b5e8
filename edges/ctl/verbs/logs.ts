// `ctl logs`: what a service has logged, also its last words before it died. With --follow it asks again every second and prints what is new.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { type LoggedService, loggedServices } from "../../../contracts/src/platform-services.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { failureOf, interruptedExit, Refusal, usageRefusal } from "../failure.ts";
import { countOf } from "../text/numbers.ts";
import { clean, jsonText, secondsOf } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const levels = ["debug", "info", "warn", "error"] as const;

export const logs: Verb = {
  name: "logs",
  heading: "Reading",
  sentence: "Print what a service has logged, also while it is dead.",
  about:
    "What is kept is bounded and masked as it was written. With --follow it prints what comes until Ctrl-C (exit 130); under --json each line is one JSON object.",
  arguments: [{ name: "SERVICE", sentence: `One of ${loggedServices.join(", ")}.`, values: [...loggedServices] }],
  options: [
    { name: "follow", sentence: "Go on with what is written." },
    { name: "since", value: "TIME", sentence: "Only the newest so long: 90s, 10m, 2h." },
    { name: "level", value: "LEVEL", sentence: "This level and graver ones.", values: [...levels], closed: true },
    { name: "count", value: "N", sentence: "At most this many, the newest; 200 when absent, at most 5000." },
    { name: "grep", value: "TEXT", sentence: "Only lines that hold this text, in whichever case." },
  ],
  examples: [
    { command: "ctl logs research --count 20", sentence: "Its last words." },
    { command: "ctl logs gateway --follow --level warn", sentence: "Watch for trouble." },
    { command: "ctl logs oms --since 10m --grep timeout --json", sentence: "For a program." },
  ],
  operation: "ReadLogs",
  changesState: false,
  run,
};

type Line = AnswerOf<"readLogs">[number];

interface Wanted {
  readonly service: LoggedService;
  readonly level?: (typeof levels)[number];
  readonly since?: string;
  readonly countMax?: number;
}

const followedCountMax = 5_000;

async function run(context: Context): Promise<Answer> {
  const wanted = wantedOf(context);
  const client = await context.client();
  const read = (asked: Wanted) => client.readLogs(asked);
  const first = await read(wanted);
  print(context, first);
  if (!context.switched("follow")) return { text: "", data: undefined };
  return follow(context, first, (since) => {
    const { countMax: _, since: __, ...rest } = wanted;
    return read({ ...rest, countMax: followedCountMax, ...(since === undefined ? {} : { since }) });
  });
}

function wantedOf(context: Context): Wanted {
  const service = context.argument("SERVICE");
  if (!isLogged(service)) {
    throw usageRefusal(`There is no service "${clean(service)}".`, `Name one of ${loggedServices.join(", ")}.`);
  }
  const [level, typed, count] = [context.option("level"), context.option("since"), context.option("count")];
  const seconds = typed === undefined ? undefined : secondsOf(typed);
  if (typed !== undefined && seconds === undefined) {
    throw usageRefusal(`--since is a time such as 90s, 10m or 2h; "${clean(typed)}" is not.`);
  }
  return {
    service,
    ...(level === undefined ? {} : { level: level as (typeof levels)[number] }),
    ...(seconds === undefined ? {} : { since: format(plusMilliseconds(context.clock.now(), -seconds * 1_000)) }),
    ...(count === undefined ? {} : { countMax: countOf("count", count, 1) }),
  };
}

function isLogged(name: string): name is LoggedService {
  return (loggedServices as readonly string[]).includes(name);
}

function print(context: Context, lines: readonly Line[]): void {
  const sought = context.option("grep")?.toLowerCase();
  const text = lines
    .map((line) => (context.json ? jsonText(line).replaceAll(/\n */g, "") : lineText(line)))
    .filter((shown) => sought === undefined || shown.toLowerCase().includes(sought))
    .map((shown) => `${shown}\n`)
    .join("");
  if (text !== "") context.terminal.write(text);
}

function lineText({ at, level, service: _, message, ...fields }: Line): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return clean(`${at === "" ? "-" : at} ${level.toUpperCase().padEnd(5)} ${message}${rest.join("")}`);
}

const waitMs = 1_000;

/** The newest line's time is asked for again, so lines of that very moment come twice and are printed once. */
async function follow(
  context: Context,
  first: readonly Line[],
  read: (since: string | undefined) => Promise<readonly Line[]>,
): Promise<never> {
  const { signal, timers } = context;
  let since = newestOf(first);
  let printed = new Set(first.filter(({ at }) => at === since).map((line) => JSON.stringify(line)));
  let isLost = false;
  for (;;) {
    if (!signal.aborted) await timers.sleep(waitMs, signal);
    if (signal.aborted) throw new Refusal(interruptedExit, "CANCELLED", "Stopped by Ctrl-C.");
    const lines = await linesOrNothing(context, () => read(since));
    if (lines === undefined && !isLost) context.terminal.say("Trying again.");
    if (lines !== undefined && isLost) context.terminal.say("The server answers again.");
    isLost = lines === undefined;
    const fresh = (lines ?? []).filter((line) => !printed.has(JSON.stringify(line)));
    if (fresh.length === 0) continue;
    print(context, fresh);
    since = newestOf(fresh) ?? since;
    printed = new Set((lines ?? []).filter(({ at }) => at === since).map((line) => JSON.stringify(line)));
  }
}

function newestOf(lines: readonly Line[]): string | undefined {
  return lines.findLast(({ at }) => at !== "")?.at;
}

/** Undefined when nobody answers now, which may pass; what will not pass is thrown. */
async function linesOrNothing(
  context: Context,
  read: () => Promise<readonly Line[]>,
): Promise<readonly Line[] | undefined> {
  try {
    return await read();
  } catch (thrown) {
    if (context.signal.aborted) return undefined;
    const { exit, detail } = await failureOf(thrown);
    if (exit !== exitCodes.unavailable) throw thrown;
    context.terminal.say(clean(detail));
    return undefined;
  }
}
