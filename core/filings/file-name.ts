// How a submission file is called where it is handed in, by its reporter, its date, a group that stands for the fund, and its number; and which of a day's files
// the next record is a part of.
//
//  1. A group is letters and digits alone, at most 20 of them, and no two funds share one.
//  2. Another number, date or fund is another name.
//  3. A file that was sealed takes nothing more; a file has one mode; a file's lines have so many bytes at most.
//  4. Numbers of a day's lines never go down, so that a file is one range of lines.
import { firstNumber, hashedName, isSafeName } from "./names.ts";
import type { HexSha256 } from "./regulatory-event.ts";

const groupLengthMax = 20;
const numberDigits = 6;

/** The fund's letters and digits; where they would not do or are another fund's too, what of them there is and a hash that tells it apart. */
export function groupOf(fundId: string, fundIds: readonly string[], sha256: HexSha256): string {
  const letters = lettersOf(fundId);
  const same = letters.toLowerCase();
  const isShared = fundIds.some((other) => other !== fundId && lettersOf(other).toLowerCase() === same);
  const isPlain = isSafeName(fundId) && letters !== "" && letters.length <= groupLengthMax;
  return isPlain && !isShared ? letters : hashedName(fundId, sha256);
}

export function numberText(number: number): string {
  return String(number).padStart(numberDigits, "0");
}

function lettersOf(fundId: string): string {
  return fundId.replace(/[^A-Za-z0-9]/g, "");
}

/** The last record of the day's lines. */
interface LastLine {
  readonly line: number;
  readonly number: number;
  readonly mode: "LIVE" | "PAPER";
  /** Bytes of its file up to the end of its line. */
  readonly endsAt: number;
}

export interface Place {
  readonly line: number;
  readonly number: number;
  readonly endsAt: number;
}

/** Bytes of a file before it is compressed. */
export const fileBytesMax = 100_000_000;

/** `sealedNumber` is that of the last sealed file, 0 before there is one. `bytes` are the line's own, its end among them. */
export function placeOf(
  last: LastLine | undefined,
  sealedNumber: number,
  { mode, bytes }: { readonly mode: LastLine["mode"]; readonly bytes: number },
): Place {
  if (last === undefined) return { line: 0, number: Math.max(firstNumber, sealedNumber + 1), endsAt: bytes };
  const line = last.line + 1;
  const fits = last.mode === mode && last.number > sealedNumber && last.endsAt + bytes <= fileBytesMax;
  if (fits) return { line, number: last.number, endsAt: last.endsAt + bytes };
  return { line, number: Math.max(last.number, sealedNumber) + 1, endsAt: bytes };
}
