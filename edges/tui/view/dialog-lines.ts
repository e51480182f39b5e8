// A dialog as lines: what it is about, what was answered, the question that stands, and in the end what the server proved.
import type { Dialog, Step } from "../model/dialog.ts";
import { isAsked } from "../model/dialog.ts";
import { type Line, span, wrapped } from "./text.ts";

export function dialogLines(dialog: Dialog, width: number, room: number): readonly Line[] {
  const about: Line[] = [[span(dialog.title, "strong")], ...texts(dialog.facts, width)];
  if (dialog.phase !== "asking") {
    const tone = dialog.phase === "outcome" ? dialog.tone : "plain";
    const proven = dialog.outcome.flatMap((text) => wrapped(text, width - 2));
    const shownLines = proven.slice(0, Math.max(1, room - 3));
    const more = proven.length - shownLines.length;
    return [
      [span(dialog.title, "strong")],
      [],
      ...shownLines.map((text, at): Line => [span(`  ${text}`, at === 0 ? tone : "plain")]),
      ...(more > 0 ? [[span(`  and ${more} more lines`)]] : []),
    ];
  }
  const answered = dialog.steps.slice(0, dialog.at).filter((step) => isAsked(dialog, step));
  const step = dialog.steps[dialog.at];
  const head = [...about, [], ...answered.map(answeredLine)];
  const left = Math.max(3, room - head.length - 2);
  return [
    ...head,
    ...(step === undefined ? [] : questionLines(step, left)),
    ...(dialog.complaint === undefined ? [] : [[span(dialog.complaint, "bad")]]),
  ];
}

function texts(lines: readonly string[], width: number): Line[] {
  return lines.flatMap((text) => wrapped(text, width)).map((text) => [span(text)]);
}

function answeredLine(step: Step): Line {
  if (step.kind === "choose") return [span(`${step.label}: `), span(step.choices[step.index]?.label ?? "", "strong")];
  if (step.kind === "reason") return [span(`${step.label}: `), span(step.value)];
  return [span(step.kind === "word" ? `${step.word}: ` : "Code: "), span(step.kind === "word" ? step.value : "******")];
}

function questionLines(step: Step, room: number): readonly Line[] {
  switch (step.kind) {
    case "choose": {
      const top = Math.max(0, Math.min(step.index - Math.floor(room / 2), step.choices.length - room));
      return [
        [span(`${step.label} (arrows, then Enter):`)],
        ...step.choices
          .slice(top, top + room)
          .map(
            ({ label }, at): Line => (top + at === step.index ? [span(`> ${label}`, "inverse")] : [span(`  ${label}`)]),
          ),
      ];
    }
    case "reason":
      return [[span(`${step.label}: `), span(`${step.value}_`, "strong")]];
    case "word":
      return [[span(`Type ${step.word} and press Enter: `), span(`${step.value}_`, "strong")]];
    case "code":
      return [[span("Code of your authenticator (six digits): "), span(`${step.value}_`, "strong")]];
  }
}
