// Times on the desks: always UTC, to the second, and how long ago.
import { format, type Instant, toUnixMs, tryParse } from "../../../contracts/src/instant.ts";

/** "2026-11-17 21:40:02Z". */
export function utc(at: Instant): string {
  return `${format(at).slice(0, 19).replace("T", " ")}Z`;
}

/** The same of a text of the API; what is no moment as it is. */
export function utcText(text: string | null | undefined): string {
  if (text === null || text === undefined) return "";
  const at = tryParse(text);
  return at === undefined ? text : utc(at);
}

/** "21:40:02Z", for columns. */
export function clockText(text: string | null | undefined): string {
  return utcText(text).slice(11);
}

export function msOf(at: Instant): number {
  return toUnixMs(at);
}
