// A mind of the repository bot: a process for one plan, which has nothing but the material of one thread and somebody to put questions to. What it says is a
// stranger's word.
//
// What every adapter promises:
//  1. A mind ends with its plan, at its deadline, or when the signal aborts; it never outlives `think`.
//  2. It asks two questions at most, and gets an answer to each or nothing.
//  3. What it says is bounded, and is a value read from JSON, whatever it is.

export interface MindWork {
  readonly material: unknown;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Undefined where nobody answers. */
  ask(text: string): Promise<unknown>;
}

export type MindEnd =
  | { readonly kind: "said"; readonly said: unknown }
  | { readonly kind: "failed"; readonly why: string };

export type Isolation = "namespaces" | "process";

export interface Mind {
  /** How far a mind is kept apart, as was tried at the start; undefined where none may be started, and `think` fails. */
  readonly isolation: Isolation | undefined;
  think(work: MindWork): Promise<MindEnd>;
}
