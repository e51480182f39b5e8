// What a dangerous action asks before it acts, as data. Its target is fixed when the dialog opens; the lists may move below it.
import type { Acting } from "../../words/act.ts";
import type { FieldGroup } from "../../words/fields.ts";

/** What somebody typed. */
export interface Typed {
  readonly reason: string;
  readonly word: string;
  readonly code: string;
}

export interface DangerAsk {
  readonly title: string;
  /** What it is done to, in words. */
  readonly scope: string;
  /** Which funds and strategies that is; "" is everything, undefined none of them. */
  readonly scopeId: string | undefined;
  readonly paperOnly?: boolean;
  /** Where no fund of the list is meant, and all the same it is known. */
  readonly mode?: "PAPER";
  /** What will happen, said before the word is typed. */
  readonly facts: readonly string[];
  /** What others wrote about it: who, what, since and why. */
  readonly about?: readonly FieldGroup[];
  /** The word that the server checks; none when absent. */
  readonly word?: string;
  readonly reason: "required" | "optional" | "none";
  /** "maybe": only when the server asks for it. */
  readonly code: "required" | "maybe" | "none";
  /** The same on the command line. */
  readonly command: string;
  /** Reports what the server proved, never that something was sent. */
  run(typed: Typed, acting: Acting): Promise<void>;
}
