// Factors of one's own, as a small CSV: a day and a return per factor in every line. Nothing in it is guessed: a line that does not fit is refused by number.
import type { ReportFacts } from "./facts.ts";
import { compareText } from "./metrics/dates.ts";
import { ReportRefused } from "./shape.ts";

const factorsMax = 20;
const linesMax = 10_000;

export function factorsFromCsv(text: string): NonNullable<ReportFacts["factors"]> {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const [head = "", ...rest] = lines;
  const [first = "", ...names] = head.split(",").map((cell) => cell.trim());
  if (first !== "day" || names.length === 0 || names.some((name) => name === "" || name.length > 40)) {
    throw new ReportRefused(`Line 1 must be "day" and a name of at most 40 characters per factor: day,value,size.`);
  }
  if (names.length > factorsMax || rest.length > linesMax) {
    throw new ReportRefused(
      `At most ${factorsMax} factors and ${linesMax} days are taken; there are ${names.length} and ${rest.length}.`,
    );
  }
  const days = rest.map((line, index) => {
    const [day = "", ...cells] = line.split(",").map((cell) => cell.trim());
    const returns = cells.map(Number);
    const isWhole =
      /^\d{4}-\d{2}-\d{2}$/.test(day) && cells.length === names.length && cells.every((cell) => cell !== "");
    if (!isWhole || returns.some((each) => !Number.isFinite(each) || each <= -1)) {
      throw new ReportRefused(
        `Line ${index + 2} is not a day such as 2026-11-18 and ${names.length} returns above -1, such as 0.0012.`,
      );
    }
    return { day, returns };
  });
  const sorted = [...days].sort((one, other) => compareText(one.day, other.day));
  const twice = sorted.find(({ day }, index) => sorted[index + 1]?.day === day);
  if (twice !== undefined) throw new ReportRefused(`${twice.day} stands there twice.`);
  return { names, days: sorted };
}
