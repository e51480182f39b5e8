// Keys inside a dialog: every letter is a letter there, `q` included. Enter goes on, Esc leaves with nothing sent, and what confirms is a typed word, never the
// key that opened the dialog.
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { KeyEvent } from "../keys.ts";
import { aboutLines, type Dialog, isAsked, requestOf, type Step } from "./dialog.ts";
import { type Step as Done, just } from "./events.ts";
import type { State } from "./state.ts";

/** How long an unlocked desk stays so. */
const unlockedMs = 5 * 60_000;
const reasonLengthMax = 500;
const wordLengthMax = 100;
const codeLengthMax = 6;

export function dialogKey(state: State, dialog: Dialog, input: KeyEvent): Done {
  if (dialog.phase === "sending") {
    // What was sent cannot be called back: only its outcome ends this.
    return just(state);
  }
  if (dialog.phase === "outcome") {
    const closes = input.kind === "key" && (input.key === "enter" || input.key === "escape");
    return just(closes ? { ...state, dialog: undefined } : state);
  }
  if (input.kind === "key" && input.key === "escape") {
    return just({ ...state, dialog: undefined, message: { text: "Nothing was sent.", tone: "plain" } });
  }
  const step = dialog.steps[dialog.at];
  if (step === undefined) return just({ ...state, dialog: undefined });
  if (input.kind === "key" && input.key === "enter") return entered(state, dialog, step);
  const scrolled = step.kind === "choose" ? undefined : scrolledTo(dialog, input, state.size.columns);
  return just({ ...state, dialog: scrolled ?? changed(dialog, step, input) });
}

/** What does not fit is read line by line before the word is typed. */
const moves: Partial<Record<(KeyEvent & { kind: "key" })["key"], number>> = {
  up: -1,
  down: 1,
  pageUp: -8,
  pageDown: 8,
};

function scrolledTo(dialog: Dialog, input: KeyEvent, width: number): Dialog | undefined {
  const move = input.kind === "key" ? moves[input.key] : undefined;
  if (move === undefined) return undefined;
  const last = aboutLines(dialog, width).length - 1;
  return { ...dialog, top: Math.max(0, Math.min(last, dialog.top + move)) };
}

function changed(dialog: Dialog, step: Step, input: KeyEvent): Dialog {
  if (step.kind === "choose") return withStep(dialog, chosen(step, input));
  if (input.kind === "paste" && step.kind === "word") {
    return { ...dialog, complaint: `Type ${step.word} yourself: a paste is not taken.` };
  }
  if (input.kind === "key") {
    if (input.key !== "backspace") return dialog;
    return withStep(dialog, { ...step, value: [...step.value].slice(0, -1).join("") });
  }
  const added = input.kind === "paste" ? input.text : input.letter;
  return withStep(dialog, { ...step, value: accepted(step, `${step.value}${added}`) });
}

function accepted(step: Exclude<Step, { kind: "choose" }>, text: string): string {
  if (step.kind === "code") return text.replaceAll(/[^0-9]/g, "").slice(0, codeLengthMax);
  return text.replaceAll(/\s/g, " ").slice(0, step.kind === "word" ? wordLengthMax : reasonLengthMax);
}

function chosen(step: Step & { kind: "choose" }, input: KeyEvent): Step {
  if (input.kind !== "key") return step;
  const last = step.choices.length - 1;
  const moves: Partial<Record<typeof input.key, number>> = {
    up: step.index - 1,
    down: step.index + 1,
    pageUp: step.index - 10,
    pageDown: step.index + 10,
    home: 0,
    end: last,
  };
  return { ...step, index: Math.max(0, Math.min(last, moves[input.key] ?? step.index)) };
}

function withStep(dialog: Dialog, step: Step): Dialog {
  return {
    ...dialog,
    complaint: undefined,
    steps: dialog.steps.map((each, at) => (at === dialog.at ? step : each)),
  };
}

function entered(state: State, dialog: Dialog, step: Step): Done {
  const complaint = complaintOf(step);
  if (complaint !== undefined) return just({ ...state, dialog: { ...dialog, complaint } });
  const next = dialog.steps.findIndex((each, at) => at > dialog.at && isAsked(dialog, each));
  if (next !== -1) return just({ ...state, dialog: { ...dialog, at: next, complaint: undefined } });
  return sent(state, dialog);
}

/** Whether a word is the right one is the server's to say; it records a wrong one. */
function complaintOf(step: Step): string | undefined {
  if (step.kind === "reason" && step.required && step.value.trim() === "") return "This is not done without a reason.";
  if (step.kind === "word" && step.value === "") return `Type ${step.word}, then Enter. Esc sends nothing.`;
  if (step.kind === "code" && step.value.length !== codeLengthMax) return "A code of an authenticator has six digits.";
  return undefined;
}

function sent(state: State, dialog: Dialog): Done {
  const request = requestOf(dialog);
  if (request === undefined) return just(unlocked(state, dialog));
  if (request.act !== "halt" && state.unlocked === undefined) {
    const message = { text: "Locked again meanwhile, nothing was sent: press u first.", tone: "bad" as const };
    return just({ ...state, dialog: undefined, message });
  }
  const asked = state.asked + 1;
  // A code is used up by being sent; nothing keeps it.
  const steps = dialog.steps.map((step) => (step.kind === "code" ? { ...step, value: "" } : step));
  const waiting: Dialog = { ...dialog, steps, phase: "sending", asked, outcome: ["Waiting for the server."] };
  return { state: { ...state, asked, dialog: waiting }, effects: [{ kind: "act", asked, request }] };
}

function unlocked(state: State, { steps }: Dialog): State {
  const reason = steps.flatMap((step) => (step.kind === "reason" ? [step.value.trim()] : []))[0] ?? "";
  return {
    ...state,
    dialog: undefined,
    unlocked: { until: plusMilliseconds(state.now, unlockedMs), reason },
    message: { text: "UNLOCKED for 5 minutes; u locks again.", tone: "good" },
  };
}
