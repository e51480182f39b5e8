// What a bar of the chart covers, as the address says it.
import { barLengthUs } from "../../../contracts/src/bar-intervals.ts";

export type Interval = keyof typeof barLengthUs;

export const intervals = Object.keys(barLengthUs) as readonly Interval[];

export function intervalOf(text: string | undefined): Interval {
  return intervals.find((one) => one === text) ?? "1m";
}
