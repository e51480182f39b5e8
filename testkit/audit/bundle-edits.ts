// A bundle that somebody had in hands: other entries under the same header, another header over the same entries, another history.
import { type SampleLog, sampleLog } from "./sample-log.ts";

/** The bundle with other texts of entries under the same header. */
export function withEntries(bundle: string, change: (lines: string[]) => string[]): string {
  const [first, header, ...rest] = bundle.split("\n");
  const lines = change(rest.slice(0, -1));
  return `${[first, header, ...lines].join("\n")}\n`;
}

/** The bundle with another header. */
export function withHeader(bundle: string, change: Readonly<Record<string, unknown>>): string {
  const [first, header = "", ...rest] = bundle.split("\n");
  const fields = { ...(JSON.parse(header) as Record<string, unknown>), ...change };
  return [first, JSON.stringify(fields), ...rest].join("\n");
}

/** The log with entry `at` edited and everything after it chained again: no key needed. */
export function rechained(at: number, count = 12): SampleLog {
  const forged = sampleLog(at);
  forged.append({ data: { quantity: "1000000.00" } });
  while (forged.entries.length < count) forged.append();
  return forged;
}
