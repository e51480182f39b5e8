// How the command line is written, as the program parses it.
import type { Verb } from "./verbs/verb.ts";

export interface Grammar {
  readonly verbs: readonly Verb[];
  /** The words that only group others, such as "auth tokens". */
  readonly groups: Readonly<Record<string, VerbGroup>>;
}

export interface VerbGroup {
  readonly sentence: string;
  readonly heading: string;
}
