// A dialog as lines: what it is about, what was answered, the question that stands, and in the end what the server proved.

import { wrapped } from "../../words/wrapped.ts";
import type { Dialog, Step } from "../model/dialog.ts";
import { aboutLines, isAsked } from "../model/dialog.ts";
import { type Line, span } from "./text.ts";

export function dialogLines(dialog: Dialog, width: number, room: number): readonly Line[] {
  const title: Line = [span(dialog.title, "strong")];
  if (dialog.phase !== "asking") {
    const tone = dialog.phase === "outcome" ? dialog.tone : "plain";
    const proven = dialog.outcome.flatMap((text) => wrapped(text, width - 2));
    const shownLines = proven.slice(0, Math.max(1, room - 3));
    const more = proven.length - shownLines.length;
    return [
      title,
      [],
      ...shownLines.map((text, at): Line => [span(`  ${text}`, at === 0 ? tone : "plain")]),
      ...(more > 0 ? [[span(`  and ${more} more lines`)]] : []),
    ];
  }
  const answered = dialog.steps.slice(0, dialog.at).filter((step) => isAsked(dialog, step));
  const step = dialog.steps[dialog.at];
  const complaint: readonly Line[] = dialog.complaint === undefined ? [] : [[span(dialog.complaint, "bad")]];
  const left = room - 2 - answered.length - complaint.length;
  const about = aboutWindow(dialog, { width, room: Math.max(2, left - questionRoom(step, left)) });
  return [
    title,
    ...about,
    [],
    ...answered.map(answeredLine),
    ...(step === undefined ? [] : questionLines(step, Math.max(3, left - about.length - 1))),
    ...complaint,
  ];
}

/** A choice needs some of its entries in sight; every other question is one line. */
function questionRoom(step: Step | undefined, left: number): number {
  return step?.kind === "choose" ? Math.min(step.choices.length + 1, Math.max(4, Math.floor(left / 2))) : 1;
}

/** As much of it as there is room for, and which part that is. */
function aboutWindow(
  dialog: Dialog,
  { width, room }: { readonly width: number; readonly room: number },
): readonly Line[] {
  const lines = aboutLines(dialog, width);
  const all = lines.map((text): Line => [span(text)]);
  if (all.length <= room) return all;
  const shownMax = room - 1;
  const top = Math.min(dialog.top, all.length - shownMax);
  const where = `Lines ${top + 1} to ${top + shownMax} of ${all.length}`;
  const how =
    dialog.steps[dialog.at]?.kind === "choose" ? "the rest is shown with the next question" : "arrows show the rest";
  return [...all.slice(top, top + shownMax), [span(`${where}; ${how}.`, "warn")]];
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
