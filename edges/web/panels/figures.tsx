// Figures as they stand on the desks: the sign always, groups of thousands, gain and loss by arrow and sign and only then by colour.

import * as decimal from "../../../contracts/src/decimal.ts";
import { amount, percent } from "../../tui/view/figures.ts";

export function Profit({ text }: { readonly text: string | undefined }) {
  const value = decimal.tryParse(text ?? "");
  if (text === undefined || value === undefined) return <span className="quiet">not known</span>;
  const sign = decimal.sign(value);
  const [kind, arrow, plus] =
    sign > 0 ? (["gain", "▲", "+"] as const) : sign < 0 ? (["loss", "▼", ""] as const) : (["", "", ""] as const);
  return (
    <span className={kind}>
      {arrow !== "" && <span aria-hidden="true">{arrow} </span>}
      {plus}
      {amount(text)}
    </span>
  );
}

export function Amount({ text }: { readonly text: string | undefined }) {
  return <span className={text === undefined ? "quiet" : undefined}>{text === undefined ? "?" : amount(text)}</span>;
}

export function Percent({ fraction, digits = 1 }: { readonly fraction: number | undefined; readonly digits?: number }) {
  if (fraction === undefined) return <span className="quiet">?</span>;
  return <>{percent(fraction, digits).replace(" %", "")}</>;
}

export type Grade = "info" | "warning" | "critical";

const icons: Readonly<Record<Grade, string>> = { info: "○", warning: "△", critical: "■" };

/** A state as a word with a shape; the colour only repeats it. */
export function StateWord({ word, grade }: { readonly word: string; readonly grade: Grade | undefined }) {
  if (grade === undefined) return <>{word}</>;
  return (
    <span className={`state ${grade}`}>
      <span aria-hidden="true">{icons[grade]}</span> {word}
    </span>
  );
}

/** From 90 % of a limit on critical, from 75 % a warning. */
export function gradeOfBand(band: number): Grade | undefined {
  return band >= 90 ? "critical" : band >= 75 ? "warning" : undefined;
}
