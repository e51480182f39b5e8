// Figures as they stand on the desks: the sign always, groups of thousands, gain and loss by arrow and sign and only then by colour.

import { Fragment } from "react";
import * as decimal from "../../../contracts/src/decimal.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import { amount, percent } from "../../words/figures.ts";
import { Theirs } from "./theirs.tsx";

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

/** Every digit that the server sent, in groups of thousands. */
export function grouped(text: string | undefined): string {
  const [whole = "", rest] = (text ?? "").split(".");
  const [, sign = "", digits = ""] = /^(\D*)(.*)$/.exec(whole) ?? [];
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return `${sign}${groups.join(",")}${rest === undefined ? "" : `.${rest}`}`;
}

/** What may be below zero says so either way. */
export function signed(text: string | undefined): string {
  const value = decimal.tryParse(text ?? "");
  return `${value !== undefined && decimal.sign(value) > 0 ? "+" : ""}${grouped(text)}`;
}

export function Percent({
  fraction,
  digits = 1,
  isSigned = false,
}: {
  readonly fraction: number | undefined;
  readonly digits?: number;
  readonly isSigned?: boolean;
}) {
  if (fraction === undefined) return <span className="quiet">?</span>;
  const text = percent(fraction, digits).replace(" %", "");
  return <>{isSigned ? signed(text) : text}</>;
}

/** Ids, times and names with hyphens stay on one line where they fit: half of one cannot be compared or copied. */
export function Unbroken({ text }: { readonly text: string }) {
  const words = clean(text).split(" ");
  const shown = words.map((word, index, { length }) => (
    // Words of one sentence may repeat; their place is what they are.
    // biome-ignore lint/suspicious/noArrayIndexKey: the place is the identity
    <Fragment key={index}>
      {word.includes("-") && word.length <= unbrokenMax ? <span className="unbroken">{word}</span> : word}
      {index < length - 1 && " "}
    </Fragment>
  ));
  return <bdi>{shown}</bdi>;
}

const unbrokenMax = 38;

type Grade = "info" | "warning" | "critical";

const icons: Readonly<Record<Grade, string>> = { info: "○", warning: "△", critical: "■" };

/** A state as a word with a shape; the colour only repeats it. */
export function StateWord({ word, grade }: { readonly word: string; readonly grade: Grade | undefined }) {
  if (grade === undefined) return <Theirs text={word} />;
  return (
    <span className={`state ${grade}`}>
      <span aria-hidden="true">{icons[grade]}</span> <Theirs text={word} />
    </span>
  );
}

/** From 90 % of a limit on critical, from 75 % a warning. */
export function gradeOfBand(band: number): Grade | undefined {
  return band >= 90 ? "critical" : band >= 75 ? "warning" : undefined;
}
