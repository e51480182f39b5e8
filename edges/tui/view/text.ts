// Text that fits a terminal: how wide it is there, cut and padded to a width, and in plain ASCII where nothing else can be shown. Whatever came from
// elsewhere is cleaned as ctl cleans it before its width is taken.

import { clean } from "../../../contracts/src/text/clean.ts";
import { graphemes, simple, widthOf } from "../../words/wrapped.ts";

export type Tone = "plain" | "good" | "bad" | "warn" | "dim" | "strong" | "inverse";

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** One row of the terminal. */
export type Line = readonly Span[];

export interface Look {
  readonly ascii: boolean;
  readonly colour: boolean;
}

export function span(text: string, tone: Tone = "plain"): Span {
  return { text, tone };
}

/** At most so wide; what was cut off leaves a mark. */
export function cut(text: string, width: number, look: Pick<Look, "ascii">): string {
  if (widthOf(text) <= width) return text;
  const mark = look.ascii ? "~" : "…";
  let kept = "";
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    const next = widthOf(segment);
    if (used + next > width) break;
    kept += segment;
    used += next;
  }
  return width < 1 ? "" : `${kept}${mark}`;
}

export function pad(text: string, width: number, side: "left" | "right" = "right"): string {
  const room = " ".repeat(Math.max(0, width - widthOf(text)));
  return side === "right" ? `${text}${room}` : `${room}${text}`;
}

/** Safe for this terminal. */
export function shown(text: string, { ascii }: Pick<Look, "ascii">): string {
  const safe = clean(text);
  return ascii && !simple.test(safe) ? toAscii(safe) : safe;
}

const plainSigns: Readonly<Record<string, string>> = {
  "…": "...",
  "–": "-",
  "—": "-",
  "−": "-",
  "’": "'",
  "“": '"',
  "”": '"',
  µ: "u",
  "⟨": "<",
  "⟩": ">",
  "│": "|",
};

function toAscii(text: string): string {
  const spelt = [...text].map((sign) => plainSigns[sign] ?? sign).join("");
  return spelt
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^ -~]/gu, "?");
}

/** Cut at the terminal's edge, span by span. */
export function fitLine(line: Line, width: number, look: Look): Line {
  const fitted: Span[] = [];
  let left = width;
  for (const { text, tone } of line) {
    const safe = cut(shown(text, look), left, look);
    if (safe === "") continue;
    fitted.push({ text: safe, tone });
    left -= widthOf(safe);
    if (left <= 0) break;
  }
  return fitted;
}

const codes: Readonly<Record<Tone, { readonly colour: readonly number[]; readonly plain: readonly number[] }>> = {
  plain: { colour: [], plain: [] },
  good: { colour: [32], plain: [] },
  bad: { colour: [1, 31], plain: [1] },
  warn: { colour: [33], plain: [1] },
  dim: { colour: [2], plain: [2] },
  strong: { colour: [1], plain: [1] },
  inverse: { colour: [7], plain: [7] },
};

/** With the terminal's own codes; NO_COLOR takes the colours away and leaves weight and inverse video. */
export function painted(line: Line, { colour }: Pick<Look, "colour">): string {
  return line
    .map(({ text, tone }) => {
      const chosen = codes[tone][colour ? "colour" : "plain"];
      return chosen.length === 0 ? text : `\u001b[${chosen.join(";")}m${text}\u001b[0m`;
    })
    .join("");
}

export function plainText(line: Line): string {
  return line.map(({ text }) => text).join("");
}
