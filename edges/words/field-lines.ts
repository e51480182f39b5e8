// Labelled fields on a terminal. Every line of what somebody wrote stands behind a bar, so that no line of it can be taken for one of ours.
import { clean } from "../../contracts/src/text/clean.ts";
import type { FieldGroup } from "./fields.ts";
import { wrapped } from "./wrapped.ts";

const bar = " │ ";

export function fieldLines(groups: readonly FieldGroup[], width: number): readonly string[] {
  const labels = groups.flatMap(({ fields }) => fields.map(({ label }) => label.length));
  const labelWidth = Math.max(0, ...labels);
  const room = Math.max(10, width - labelWidth - bar.length);
  return groups.flatMap(({ title, fields }) => [
    title,
    ...fields.flatMap(({ label, value }) =>
      wrapped(clean(value), room, "").map((line, at) => `${(at === 0 ? label : "").padEnd(labelWidth)}${bar}${line}`),
    ),
  ]);
}
