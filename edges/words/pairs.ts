// Labels on the left, values on the right: how a terminal shows what belongs together.
import { clean } from "../../contracts/src/text/clean.ts";

export function pairs(rows: readonly (readonly [string, string | undefined])[]): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${clean(value)}`).join("\n");
}
