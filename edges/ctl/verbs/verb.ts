// What a verb is: a name, one human sentence, what it takes, and one function. Help, completion scripts and docs/ctl.md are made from
// the list of them, and so will the terminal desk and the bots be: a verb says what it did as data and as text, and prints nothing.
import type { Operation } from "../../../contracts/src/authority.ts";
import type { ExitCode } from "../../../contracts/src/codes/shape.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { ReportDocument } from "../../../reports/document.ts";
import type { NumberedFact, WrittenNarrative } from "../../../reports/postmortem/narrative.ts";
import type { Client } from "../../client/src/types.ts";
import type { Flags, Settings } from "../settings.ts";
import type { Environment, Terminal } from "../terminal.ts";

interface VerbArgument {
  /** Lower case, as it stands in help: `<operator>`. */
  readonly name: string;
  readonly sentence: string;
  readonly optional?: boolean;
  /** Takes all the words that are left. */
  readonly many?: boolean;
  /** The words that make sense, for completion; with `closed` any other is a usage error. */
  readonly values?: readonly string[];
  readonly closed?: boolean;
}

export interface VerbOption {
  /** Without the dashes. One that begins with `no-` switches off what is on by default. */
  readonly name: string;
  readonly sentence: string;
  /** What its value is called in help; absent for a switch. */
  readonly value?: string;
  /** What it means without a value, for one that may be left out. */
  readonly preset?: string;
  /** May be given several times, or once with commas. */
  readonly repeats?: boolean;
  readonly required?: boolean;
  readonly standard?: string;
  /** Values that make sense, for completion; with `closed` any other is a usage error. */
  readonly values?: readonly string[];
  readonly closed?: boolean;
}

interface Example {
  /** As typed, from `ctl` on. */
  readonly command: string;
  readonly sentence: string;
}

export interface Answer {
  /** What `--json` prints: one document, fields in snake_case; undefined when the verb has printed its lines itself. */
  readonly data: unknown;
  /** What a person reads on stdout; empty prints nothing. Text from elsewhere has been cleaned by whoever put it in. */
  readonly text: string;
  readonly exit?: ExitCode;
  /** A table: where it is longer than the terminal it is shown page by page. */
  readonly isList?: true;
  /** What to do next, said on stderr. */
  readonly next?: readonly string[];
}

export interface Verb {
  /** The words as typed, for example "auth login". */
  readonly name: string;
  /** Under which heading it stands in the help above it. */
  readonly heading: string;
  readonly sentence: string;
  /** Of a verb that is the first in its group: the group, where edges/ctl/verb-groups.ts does not have it. */
  readonly group?: { readonly heading: string; readonly sentence: string };
  /** More, for its own help page. */
  readonly about?: string;
  readonly arguments: readonly VerbArgument[];
  readonly options: readonly VerbOption[];
  readonly examples: readonly Example[];
  /** What the caller must be allowed to do on the server; absent when the server decides nothing. */
  readonly operation?: Operation;
  readonly changesState: boolean;
  run(context: Context): Promise<Answer>;
}

export interface Context extends Surroundings {
  readonly json: boolean;
  readonly flags: Flags;
  settings(): Settings;
  argument(name: string): string;
  argumentsOf(name: string): readonly string[];
  switched(name: string): boolean;
  option(name: string): string | undefined;
  optionsOf(name: string): readonly string[];
  /** Calls as whoever is logged in. */
  client(timeoutMs?: number): Promise<Client>;
  /** Calls as nobody, or with a token that is not kept yet. */
  clientWith(token: string | undefined, timeoutMs?: number): Promise<Client>;
}

/** What the world outside hands in. */
export interface Surroundings {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly folder: string;
  /** The checkout that this ctl belongs to: where `up` finds the platform. Undefined for one that is installed without it. */
  readonly repository: string | undefined;
  version(): string;
  readonly verbs: readonly Verb[];
  /** A report as PDF, by a compiler that is loaded when it is asked for. */
  renderPdf(document: ReportDocument): Promise<Uint8Array>;
  /** Has the words of a post-mortem written by a language model; absent where there is none to ask. */
  writeNarrative?(facts: readonly NumberedFact[]): Promise<WrittenNarrative | undefined>;
  /** Runs a witness in this process until the signal aborts. */
  runWitness(request: WitnessRequest, say: (line: string) => void, signal: AbortSignal): Promise<void>;
}

export interface WitnessRequest {
  /** The vkeys of the logs it cosigns. */
  readonly logs: readonly string[];
  readonly name: string;
  readonly folder: string;
  readonly host: string;
  readonly port: number;
}
