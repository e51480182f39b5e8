// The list of verbs as a commander program: parsing, help at every level and the nearest verb for one that does not exist. Parsing ends
// in data; nothing runs here.
import { Argument, Command, CommanderError, Option } from "commander";
import type { Typed } from "./context.ts";
import { type Refusal, usageRefusal } from "./failure.ts";
import type { Grammar } from "./grammar.ts";
import { groupTyped, placeOf, suggestions } from "./suggest.ts";
import type { Paint } from "./terminal.ts";
import type { Verb, VerbOption } from "./verbs/verb.ts";

type Parsed =
  | { readonly kind: "verb"; readonly verb: Verb; readonly typed: Typed }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "version" }
  | { readonly kind: "wrong"; readonly refusal: Refusal; readonly help: string | undefined };

/** What every command takes. */
export const globalOptions: readonly VerbOption[] = [
  { name: "server", value: "URL", sentence: "Talk to this server (or PORTCULLIS_URL; else the profile's)." },
  { name: "profile", value: "NAME", sentence: "Use the login kept under this name (or PORTCULLIS_PROFILE)." },
  { name: "json", sentence: "Answer with one JSON document on stdout; an error is JSON on stderr." },
];

const introduction = `The command line of Portcullis: see, halt and run a trading platform.

Answers go to stdout, talk goes to stderr. Settings: a flag beats the environment, the environment beats the profile file.`;

const ending = `
First steps:
  ctl up --detach            start a platform on this machine, from its repository
  ctl auth login --dev duty  log in as its development operator
  ctl doctor                 see whether everything is in order

\`ctl help <command>\` explains one command, \`ctl help exit-codes\` what the exit codes mean.`;

export function parseCommandLine(argv: readonly string[], grammar: Grammar, paint: Paint): Parsed {
  const output = { out: "", err: "" };
  const found: { verb?: Verb; command?: Command } = {};
  const program = buildProgram(grammar, paint, output, (verb, command) => Object.assign(found, { verb, command }));
  if (!namesVersionedVerb(argv, grammar)) program.version("", "--version", "Show the version.");
  if (argv.length === 0) return { kind: "help", text: pageOf(program) };
  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return fromCommander(error, output, argv, grammar);
  }
  if (found.verb === undefined || found.command === undefined) throw new Error("a command line ended without a verb");
  const typed = typedOf(found.verb, found.command);
  const format = formatTyped(typed);
  if (typed.json && format !== undefined && format !== "json") {
    const refusal = usageRefusal(`--json and --format ${format} contradict each other.`, "Give one of them.");
    return { kind: "wrong", refusal, help: undefined };
  }
  return { kind: "verb", verb: found.verb, typed: { ...typed, json: typed.json || format === "json" } };
}

/** A verb that is about versions has an option of that name, and the library would take it for its own. */
function namesVersionedVerb(argv: readonly string[], { verbs }: Grammar): boolean {
  const versioned = verbs.filter(({ options }) => options.some(({ name }) => name === "version"));
  return versioned.some(({ name }) => name.split(" ").every((word) => argv.includes(word)));
}

/** The option of every list; --json says the same as one of its words. */
function formatTyped({ options }: Typed): string | undefined {
  const { format } = options;
  return format === undefined || format === true ? undefined : format.at(-1);
}

/** Known before parsing, because a command line that cannot be parsed must fail in the form that was asked for. */
export function asksForJson(argv: readonly string[]): boolean {
  const words = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);
  return words.some((word, at) => {
    return word === "--json" || word === "--format=json" || (word === "json" && words[at - 1] === "--format");
  });
}

/** The help page of a verb or a group; undefined when there is none of that name. */
export function helpPage(words: readonly string[], grammar: Grammar, paint: Paint): string | undefined {
  const program = buildProgram(grammar, paint, { out: "", err: "" }, () => undefined);
  program.version("", "--version", "Show the version.");
  let at: Command | undefined = program;
  for (const word of words) at = at?.commands.find((command) => command.name() === word);
  return at === undefined ? undefined : pageOf(at);
}

/** As `--help` prints it, with what stands after the options. */
function pageOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

function buildProgram(
  { verbs, groups }: Grammar,
  paint: Paint,
  output: { out: string; err: string },
  chosen: (verb: Verb, command: Command) => void,
): Command {
  const program = new Command("ctl").description(introduction).addHelpText("after", ending);
  program
    .exitOverride()
    .helpCommand(false)
    .helpOption("-h, --help", "Show this help.")
    .configureOutput({ writeOut: (text) => (output.out += text), writeErr: (text) => (output.err += text) })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: paint.bold,
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" "),
      visibleGlobalOptions: (command) =>
        command.parent === null ? [] : program.options.filter((option) => option.long !== "--version"),
    });
  for (const option of globalOptions) program.addOption(optionOf(option));
  const places = new Map<string, Command>([["", program]]);
  for (const verb of verbs) {
    const words = verb.name.split(" ");
    const command = placeFor(words.slice(0, -1), places, groups).command(words.at(-1) ?? "");
    places.set(
      verb.name,
      fill(command, verb).action(() => chosen(verb, command)),
    );
  }
  return program;
}

function placeFor(words: readonly string[], places: Map<string, Command>, groups: Grammar["groups"]): Command {
  const name = words.join(" ");
  const known = places.get(name);
  if (known !== undefined) return known;
  const group = groups[name];
  if (group === undefined) throw new Error(`"${name}" groups verbs and has no sentence`);
  const parent = placeFor(words.slice(0, -1), places, groups);
  const command = parent
    .command(words.at(-1) ?? "")
    .description(group.sentence)
    .helpGroup(`${group.heading}:`)
    .helpCommand(false);
  command.addHelpText("after", `\n\`ctl help ${name} <command>\` explains one of them.`);
  places.set(name, command);
  return command;
}

function fill(command: Command, verb: Verb): Command {
  const about = verb.about === undefined ? "" : `\n\n${verb.about}`;
  command.summary(verb.sentence).description(`${verb.sentence}${about}`).helpGroup(`${verb.heading}:`);
  for (const { name, sentence, optional, many, values, closed } of verb.arguments) {
    const word = `${name}${many === true ? "..." : ""}`;
    const argument = new Argument(optional === true ? `[${word}]` : `<${word}>`, sentence);
    command.addArgument(closed === true && values !== undefined ? argument.choices(values) : argument);
  }
  for (const option of verb.options) command.addOption(optionOf(option));
  const width = Math.max(...verb.examples.map((example) => example.command.length));
  const examples = verb.examples.map((example) => `  ${example.command.padEnd(width)}  ${example.sentence}`);
  return command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
}

function optionOf({ name, value, preset, sentence, repeats, required, standard, values, closed }: VerbOption): Option {
  const description = required === true ? `${sentence} (required)` : sentence;
  const word = preset === undefined ? `<${value}>` : `[${value}]`;
  const option = new Option(`--${name}${value === undefined ? "" : ` ${word}`}`, description);
  if (preset !== undefined) option.preset(preset);
  if (closed === true && values !== undefined) anyCase(option.choices([...values]), values);
  if (standard !== undefined) option.default(standard);
  if (repeats === true) {
    option.argParser((next: string, before: unknown) => [...(Array.isArray(before) ? before : []), ...next.split(",")]);
  }
  return option.makeOptionMandatory(required === true);
}

/** `--side buy` is BUY: the words of the API stay as they are, and nobody has to shout. */
function anyCase(option: Option, values: readonly string[]): void {
  const { parseArg } = option;
  if (parseArg === undefined) return;
  option.argParser((typed: string, before: unknown) => {
    const meant = values.includes(typed) ? typed : values.find((value) => value.toLowerCase() === typed.toLowerCase());
    return parseArg(meant ?? typed, before);
  });
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function typedOf(verb: Verb, command: Command): Typed {
  const given: unknown[] = command.processedArgs;
  const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);
  const typedArguments = verb.arguments.map(({ name }, at) => [name, given[at] === undefined ? [] : texts(given[at])]);
  const options = verb.options.flatMap(({ name, value }): [string, true | readonly string[]][] => {
    const off = name.startsWith("no-");
    const found: unknown = command.getOptionValue(camelCase(off ? name.slice(3) : name));
    if (value === undefined) return found === !off ? [[name, true]] : [];
    return found === undefined ? [] : [[name, texts(found)]];
  });
  const all = command.optsWithGlobals<{ server?: string; profile?: string; json?: boolean }>();
  return {
    arguments: Object.fromEntries(typedArguments),
    options: Object.fromEntries(options),
    flags: { server: all.server, profile: all.profile },
    json: all.json === true,
  };
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}

function fromCommander(
  error: CommanderError,
  output: { readonly out: string; readonly err: string },
  argv: readonly string[],
  grammar: Grammar,
): Parsed {
  if (error.code === "commander.version") return { kind: "version" };
  if (error.code === "commander.helpDisplayed") return { kind: "help", text: output.out };
  if (error.code === "commander.help") {
    const refusal = usageRefusal("There is a word missing: this one only groups others.");
    return { kind: "wrong", refusal, help: output.err };
  }
  const [said = "", nearest] = error.message.replace(/^error: /, "").split("\n");
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}${/[.?]$/.test(said) ? "" : "."}`;
  if (error.code !== "commander.unknownCommand") {
    const meant = nearest?.replace(/^\(|\)$/g, "") ?? longerOption(said, argv, grammar);
    return {
      kind: "wrong",
      refusal: usageRefusal(sentence, meant ?? "Add --help to see what it takes."),
      help: undefined,
    };
  }
  const near = suggestions(argv, grammar);
  const group = groupTyped(
    argv.filter((word) => !word.startsWith("-")),
    grammar.groups,
  );
  const hint =
    near.length === 0
      ? `\`ctl ${group === undefined ? "" : `${group} `}--help\` lists what there is.`
      : `Did you mean ${near.map((name) => `\`ctl ${withRest(name, argv)}\``).join(" or ")}?`;
  return { kind: "wrong", refusal: usageRefusal(sentence, hint), help: undefined };
}

/** `ctl halt alpha` means `ctl cmd halt alpha`, and `ctl riskengine why ID` means `ctl why ID`: what follows the verb's own word goes with it. */
function withRest(name: string, argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith("-"));
  const parts = name.split(" ");
  const place = placeOf(words, parts);
  if (place !== -1) return [name, ...words.slice(place + parts.length)].join(" ");
  const isOwnWord = words.length > 1 && parts.length > 1 && words[0] === parts.at(-1);
  return isOwnWord ? [name, ...words.slice(1)].join(" ") : name;
}

/** `--fund` for `--fund-id`: too far for spelling, and the usual slip. */
function longerOption(said: string, argv: readonly string[], { verbs }: Grammar): string | undefined {
  if (!/^(unknown|required) option /.test(said)) return undefined;
  const verb = verbs.find(({ name }) => argv.join(" ").startsWith(`${name} `));
  const names = verb?.options.map(({ name }) => `--${name}`) ?? [];
  const typed = argv.map((word) => word.split("=", 1)[0] ?? "").filter((word) => /^--[a-z]/.test(word));
  const meant = names.find((name) => typed.some((word) => !names.includes(word) && name.startsWith(`${word}-`)));
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}
