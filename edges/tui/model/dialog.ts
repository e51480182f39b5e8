// A dialog as data: what is to be done, to what, and the questions that stand before it. What it is for is fixed when it opens; the lists may move below it.
import type { Choice, Request } from "../../words/act.ts";
import { fieldLines } from "../../words/field-lines.ts";
import type { FieldGroup } from "../../words/fields.ts";
import { wrapped } from "../../words/wrapped.ts";

export type Act = Request["act"] | "unlock";

export type Step =
  | { readonly kind: "choose"; readonly label: string; readonly choices: readonly Choice[]; readonly index: number }
  | { readonly kind: "reason"; readonly label: string; readonly value: string; readonly required: boolean }
  | { readonly kind: "word"; readonly word: string; readonly value: string }
  | { readonly kind: "code"; readonly value: string };

export interface Dialog {
  readonly act: Act;
  readonly title: string;
  /** What will happen, said before the word is typed. */
  readonly facts: readonly string[];
  /** What others wrote about it: who, what, since and why. */
  readonly about: readonly FieldGroup[];
  /** The first line of all that which is shown, where there is no room for the whole. */
  readonly top: number;
  readonly steps: readonly Step[];
  readonly at: number;
  readonly phase: "asking" | "sending" | "outcome";
  /** Of what was sent. */
  readonly asked: number;
  readonly outcome: readonly string[];
  readonly tone: "plain" | "good" | "bad";
  /** Under which request a second person signs. */
  readonly requestId?: string;
  /** Why an entry was not taken. */
  readonly complaint: string | undefined;
}

/** What a dialog says before it asks, whole. */
export function aboutLines({ facts, about }: Pick<Dialog, "facts" | "about">, width: number): readonly string[] {
  return [...facts.flatMap((text) => wrapped(text, width)), ...fieldLines(about, width)];
}

/** Steps that are not asked for are passed over: a code, where the choice needs none. */
export function isAsked(dialog: Dialog, step: Step): boolean {
  return step.kind !== "code" || targetOf(dialog).needsCode === true;
}

function targetOf({ steps }: Pick<Dialog, "steps">): Choice {
  for (const step of steps) {
    if (step.kind === "choose") return step.choices[step.index] ?? everything;
  }
  return everything;
}

const everything: Choice = { label: "", id: "", needsCode: true };

export function requestOf(dialog: Dialog): Request | undefined {
  const { act, steps, requestId } = dialog;
  if (act === "unlock") return undefined;
  const typedIn = (kind: "reason" | "word" | "code"): string => {
    for (const step of steps) if (step.kind === kind) return step.value.trim();
    return "";
  };
  return {
    act,
    target: targetOf(dialog),
    reason: typedIn("reason"),
    confirmation: typedIn("word"),
    code: typedIn("code"),
    ...(requestId === undefined ? {} : { requestId }),
  };
}
