// A command line in, an exit code out. stdout gets exactly one answer, or nothing when the command failed; stderr gets the talk and, under
// --json, one last line with the error as JSON.

import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { createContext } from "./context.ts";
import { type Failure, failureOf, startHere } from "./failure.ts";
import { writePaged } from "./lists/pager.ts";
import { watch, watchSeconds } from "./lists/watch.ts";
import { asksForJson, parseCommandLine } from "./program.ts";
import { hintFor, profileNamed } from "./settings.ts";
import { createTerminal, type Streams, type Terminal } from "./terminal.ts";
import { clean, jsonText } from "./text/text.ts";
import { inTypedWords } from "./text/typed-names.ts";
import { groupsOf } from "./verb-groups.ts";
import { verbs } from "./verbs/index.ts";
import type { Answer, Context, Surroundings, Verb } from "./verbs/verb.ts";

interface CtlSurroundings extends Omit<Surroundings, "terminal" | "verbs"> {
  readonly streams: Streams;
}

export async function runCtl(argv: readonly string[], { streams, ...surroundings }: CtlSurroundings): Promise<number> {
  const terminal = createTerminal(streams, surroundings.environment);
  const json = asksForJson(argv);
  // Until it is known which profile is used, hints are as they were written.
  let hint = (text: string): string => text;
  let verb: Verb | undefined;
  try {
    const parsed = parseCommandLine(argv, { verbs, groups: groupsOf(verbs) }, terminal.paintAnswer);
    switch (parsed.kind) {
      case "help":
        return printed(terminal, json ? jsonText({ help: parsed.text }) : parsed.text);
      case "version":
        return printed(terminal, json ? jsonText({ version: surroundings.version() }) : surroundings.version());
      case "wrong":
        if (parsed.help !== undefined && !json) terminal.say(parsed.help);
        throw parsed.refusal;
      case "verb": {
        verb = parsed.verb;
        const context = createContext({ ...surroundings, terminal, verbs }, parsed.typed);
        const offered = (text: string) => (surroundings.repository === undefined ? text.replace(startHere, "") : text);
        hint = (text) => hintFor(offered(text), profileNameOf(context));
        const seconds = watchSeconds(context);
        if (seconds !== undefined) return await watch(context, parsed.verb, seconds);
        return await answered(context, await parsed.verb.run(context), hint);
      }
    }
  } catch (error) {
    const found = await failureOf(error);
    const failure = verb === undefined ? found : inTypedWords(found, verb);
    return failed(terminal, failure.hint === undefined ? failure : { ...failure, hint: hint(failure.hint) }, json);
  }
}

function printed(terminal: Terminal, text: string): number {
  terminal.write(text.endsWith("\n") ? text : `${text}\n`);
  return exitCodes.ok;
}

/** For hints: a name that cannot be used is refused elsewhere. */
function profileNameOf({ flags, environment }: Context): string {
  try {
    return profileNamed(flags, environment).value;
  } catch {
    // The refusal that this would be is what the verb itself ends with.
    return "default";
  }
}

async function answered(context: Context, answer: Answer, hint: (text: string) => string): Promise<number> {
  const { terminal, json } = context;
  if (json && answer.data !== undefined) terminal.write(`${jsonText(answer.data)}\n`);
  else if (answer.isList === true) await writePaged(terminal, context.environment, answer.text, context.signal);
  else if (answer.text !== "") terminal.write(`${answer.text}\n`);
  if (!json && answer.next !== undefined && answer.next.length > 0) {
    terminal.say(`\n${terminal.paint.bold("Next:")}`);
    for (const line of answer.next) terminal.say(`  ${hint(line)}`);
  }
  return answer.exit ?? exitCodes.ok;
}

function failed(terminal: Terminal, failure: Failure, json: boolean): number {
  const { exit, code, hint } = failure;
  if (json) {
    const reported = { ...failure.problem, code, detail: failure.detail, ...(hint === undefined ? {} : { hint }) };
    terminal.say(JSON.stringify(parseJson(jsonText({ ...reported, exit_code: exit }))));
    return exit;
  }
  terminal.say(`${terminal.paint.red("ctl:")} ${clean(failure.detail)}`);
  if (hint !== undefined) terminal.say(clean(hint));
  return exit;
}
