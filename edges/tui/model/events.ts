// What can happen to the desk, and what it asks to be done about it. Both are data, so that a test can play any night.

import type { Instant } from "../../../contracts/src/instant.ts";
import type { Request } from "../../words/act.ts";
import type { KeyEvent } from "../keys.ts";
import type { ListName, Lists } from "../lists.ts";
import type { State } from "./state.ts";
import type { Target } from "./target.ts";

export type ListEvent = {
  [Name in ListName]: {
    readonly kind: "list";
    readonly name: Name;
    readonly value: Lists[Name];
    readonly at: Instant;
  };
}[ListName];

export type Event =
  | { readonly kind: "input"; readonly input: KeyEvent }
  | ListEvent
  /** One list could not be read; the others may be. */
  | { readonly kind: "list failed"; readonly name: ListName; readonly detail: string }
  /** The server said something, be it that nothing happened. */
  | {
      readonly kind: "heard";
      readonly at: Instant;
      readonly mode: State["link"]["mode"];
      /** Lists that are still as they were read, because the stream would have said otherwise. */
      readonly current?: readonly ListName[];
    }
  | { readonly kind: "unreachable"; readonly at: Instant; readonly detail: string }
  | { readonly kind: "login over"; readonly detail: string }
  | { readonly kind: "tick"; readonly now: Instant }
  | { readonly kind: "resized"; readonly columns: number; readonly rows: number }
  | { readonly kind: "detail"; readonly asked: number; readonly lines: readonly string[]; readonly at: Instant }
  | {
      readonly kind: "outcome";
      readonly asked: number;
      readonly lines: readonly string[];
      readonly tone: "plain" | "good" | "bad";
      /** More may follow until it is done. */
      readonly done: boolean;
    };

export type Effect =
  | { readonly kind: "load detail"; readonly asked: number; readonly target: Target }
  | { readonly kind: "act"; readonly asked: number; readonly request: Request }
  | { readonly kind: "copy"; readonly text: string }
  | { readonly kind: "suspend" };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export function just(state: State): Step {
  return { state, effects: [] };
}
