// `--watch`: asks a list again and again. On a terminal it is drawn over the one before, without clearing the screen; elsewhere each answer follows the last, and
// with --json each is one line. A server that does not answer for a while is reported and asked again; whatever will not pass ends it.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf, interrupted, usageRefusal } from "../failure.ts";
import type { Terminal } from "../terminal.ts";
import { countOf } from "../text/numbers.ts";
import { age, clean, jsonText, shortTime } from "../text/text.ts";
import type { Answer, Context, Verb } from "../verbs/verb.ts";

const secondsMax = 3_600;

/** Undefined when nobody asked for it. */
export function watchSeconds(context: Context): number | undefined {
  const typed = context.option("watch");
  if (typed === undefined) return undefined;
  if (context.option("format") === "csv") {
    throw usageRefusal("--watch has no csv: a second table under the first is no csv.", "Use --json for a program.");
  }
  const seconds = countOf("watch", typed, 1);
  if (seconds > secondsMax) throw usageRefusal(`--watch is at most ${secondsMax} seconds.`);
  return seconds;
}

/** Ends by Ctrl-C, or by what asking again does not mend. */
export async function watch(context: Context, verb: Verb, seconds: number): Promise<never> {
  const drawing = createDrawing(context.terminal);
  let last: { readonly lines: readonly string[]; readonly at: string } | undefined;
  while (!context.signal.aborted) {
    const said: string[] = [];
    const quiet: Terminal = {
      ...context.terminal,
      size: context.terminal.size,
      say: (line) => said.push(...line.split("\n")),
    };
    const round = await asked({ ...context, terminal: quiet }, verb, last !== undefined);
    if (context.signal.aborted) break;
    const now = context.clock.now();
    const at = shortTime(now);
    if (typeof round === "string") {
      const since = last === undefined ? "" : `The figures are from ${age(last.at, now)}. `;
      if (context.json) context.terminal.say(round);
      else drawing.draw([`STALE  ${at}  ${since}${round}`, "", ...(last?.lines ?? [])], []);
    } else if (context.json) {
      for (const line of said) context.terminal.say(line);
      context.terminal.write(`${jsonText(round.data).replaceAll(/\n */g, "")}\n`);
    } else {
      last = { lines: round.text.split("\n"), at };
      drawing.draw([`${at}  every ${seconds} s, Ctrl-C ends it`, "", ...last.lines], said);
    }
    await context.timers.sleep(seconds * 1_000, context.signal);
  }
  throw interrupted();
}

/** A sentence when nobody answered, which may pass; what will not pass is thrown, and so is everything the first time. */
async function asked(context: Context, verb: Verb, isGoing: boolean): Promise<Answer | string> {
  try {
    return await verb.run(context);
  } catch (thrown) {
    const { exit, detail } = await failureOf(thrown);
    if (!isGoing || exit !== exitCodes.unavailable) throw thrown;
    return clean(detail);
  }
}

interface Drawing {
  draw(lines: readonly string[], foot: readonly string[]): void;
}

function createDrawing(terminal: Terminal): Drawing {
  let drawnRows = 0;
  return {
    draw: (lines, foot) => {
      const { size } = terminal;
      if (size === undefined) {
        terminal.write(`${lines.join("\n")}\n\n`);
        for (const line of foot) terminal.say(line);
        return;
      }
      // One row less than there are, so that the terminal never scrolls and the cursor finds its way back.
      const room = size.rows - 1 - foot.length;
      const cut =
        lines.length > room ? [...lines.slice(0, room - 1), `... ${lines.length - room + 1} lines more`] : lines;
      const frame = [...cut, ...foot].map((line) => line.slice(0, size.columns));
      const up = drawnRows === 0 ? "" : `\u001b[${drawnRows}A\r`;
      terminal.write(`${up}${frame.map((line) => `${line}\u001b[K\n`).join("")}\u001b[J`);
      drawnRows = frame.length;
    },
  };
}
