// `ctl tui`: the terminal desk. Only this verb loads it, and only after it is known that there is a terminal and a login.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { interrupted, interruptedExit, loginRefusal, usageRefusal } from "../failure.ts";
import { lastingBearer } from "../login/bearer.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const tui: Verb = {
  name: "tui",
  heading: "Trading",
  sentence: "Open the terminal desk: positions, orders, funds, risk and halts, live.",
  about:
    "Keys: p positions, o orders, f funds, r risk, h halts, q quit, ? all of them. It starts READ-ONLY; inside the halt menu H halts, and everything else needs u with a reason first. --plain prints what changes as lines instead, for a screen reader or a pipe. docs/tui.md shows every screen.",
  arguments: [],
  options: [
    { name: "ascii", sentence: "Draw with ASCII signs only, as where the locale is not UTF-8." },
    { name: "plain", sentence: "Print what changes as lines; needs no terminal." },
  ],
  examples: [
    { command: "ctl tui", sentence: "Open the desk." },
    { command: "ctl tui --plain", sentence: "What changes, line by line." },
  ],
  operation: "ListPositions",
  changesState: false,
  run,
};

/** A list that takes longer is not waited for: the desk would look fresh and not be. */
const readMsMax = 4_000;
/** What acts is waited for as ctl waits. */
const callMsMax = 15_000;
/** Between two tries to reach the server; whoever waits for it watches the screen. */
const reconnectMsMax = 2_000;

async function run(context: Context): Promise<Answer> {
  const { terminal, environment, clock, timers, signal } = context;
  const { stdin, stdout } = terminal.streams;
  const isPlain = context.switched("plain");
  if (context.json) {
    throw usageRefusal("The desk is for people and prints no JSON.", "The lists of ctl have --json, each of them.");
  }
  if (!isPlain && (stdin.isTTY !== true || stdout.isTTY !== true || environment["TERM"] === "dumb")) {
    throw usageRefusal("The desk needs a terminal.", "`ctl tui --plain` prints what changes as lines.");
  }
  const { actor } = await (await context.client()).getIdentity();
  // A client of its own: ctl's says on the terminal that it waits, in the middle of what is drawn there.
  const { createClient } = await import("../../client/src/client.ts");
  const settings = context.settings();
  const client = createClient({
    baseUrl: settings.server.value,
    token: lastingBearer(settings, context),
    timeoutMs: callMsMax,
    retry: { pauseMsMax: reconnectMsMax },
  });
  const { liveSource } = await import("../../tui/live-source.ts");
  const { lookOf } = await import("../../tui/look.ts");
  const source = liveSource({ client, clock, timeoutMs: readMsMax }, timers);
  if (isPlain) {
    const { runPlain } = await import("../../tui/plain.ts");
    const say = (line: string): void => terminal.write(`${line}\n`);
    await runPlain({ source, clock, timers, signal, who: actor, profile: context.settings().profile.value, say });
    // Whoever reads along hears why it ended; Ctrl-C is the only other way.
    throw signal.aborted ? interrupted() : loginRefusal("The login is over.");
  }
  const look = lookOf(environment, context.switched("ascii"));
  const { runTui } = await import("../../tui/run.ts");
  const profile = context.settings().profile.value;
  const ending = await runTui({
    client,
    source,
    clock,
    timers,
    signal,
    streams: terminal.streams,
    look,
    who: actor,
    profile,
  });
  if (ending === interruptedExit) throw interrupted();
  // Ended by a signal, and now by it alone: whoever waits for us sees which.
  if (typeof ending === "string") process.kill(process.pid, ending);
  return { data: null, text: "", exit: exitCodes.ok };
}
