// The range of time that all panels of a desk share, as the address has it: "7d" back from now, or a moment. Where it says nothing, each panel shows what it
// is for: the newest, or the last day.
import { format, fromUnixMs } from "../../../contracts/src/instant.ts";
import { utcText } from "./moments.ts";

export const ranges = ["1h", "1d", "7d", "30d", "90d", "365d"] as const;

export interface Range {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

const spans: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** "7d" back from now, or the moment itself; undefined for what is neither. */
export function rangeStartMs(text: string | undefined, nowMs: number): number | undefined {
  const [, count, unit = ""] = /^(\d{1,4})([hd])$/.exec(text ?? "") ?? [];
  if (count !== undefined) return nowMs - Number(count) * (spans[unit] ?? 0);
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}

export function rangeOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): Range {
  return { fromMs: rangeStartMs(from, nowMs), toMs: rangeStartMs(to, nowMs) };
}

/** What has no time of its own belongs to every range. */
export function isWithin(text: string | undefined, { fromMs, toMs }: Range): boolean {
  const at = Date.parse(text ?? "");
  if (Number.isNaN(at)) return true;
  return (fromMs === undefined || at >= fromMs) && (toMs === undefined || at <= toMs);
}

const hourMs = 3_600_000;
/** The longest that the server looks back. */
const hoursMax = 8_784;

/** For lists that are asked for by how far back; at least a minute. */
export function hoursOf({ fromMs }: Range, nowMs: number, absent: number): number {
  if (fromMs === undefined) return absent;
  return Math.min(hoursMax, Math.max(1 / 60, (nowMs - fromMs) / hourMs));
}

export function momentText(ms: number): string {
  return format(fromUnixMs(ms));
}

/** For a panel's title: ", last 7 d", ", from … to …", or what it shows without a range. */
export function rangeText(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  absent: string,
): string {
  const shown = (text: string): string => {
    const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
    return count === undefined ? utcText(text) : `${count} ${unit} ago`;
  };
  if (from === undefined && to === undefined) return absent;
  if (to === undefined && from !== undefined) {
    const [, count, unit] = /^(\d{1,4})([hd])$/.exec(from) ?? [];
    return count === undefined ? `since ${utcText(from)}` : `last ${count} ${unit}`;
  }
  return `${from === undefined ? "" : `from ${shown(from)} `}to ${shown(to ?? "")}`;
}
