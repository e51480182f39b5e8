// The one form a time has in the log, `2026-11-15T09:30:00.000000Z`, read from bytes. Because every time has it, times compare as their bytes do.
import { asciiBytes, failedAt, type ScanRoom } from "./canonical/canonical-scan.ts";

const form = "0000-00-00T00:00:00.000000Z";
export const timestampLength = form.length;
const digit0 = 0x30;
const monthDays: readonly number[] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Four bytes at a time; the last four once more, because 27 is not a multiple of four. */
const places: readonly number[] = [0, 4, 8, 12, 16, 20, timestampLength - 4];
const formView = new DataView(asciiBytes(form).buffer);
const fours: readonly number[] = places.map((place) => formView.getInt32(place, true));
// What must be added to the difference from the form so that the highest bit shows what is too much: a digit differs by up to 9, all else by nothing.
const roomView = new DataView(Uint8Array.from(form, (character) => (character === "0" ? 0x76 : 0x7f)).buffer);
const rooms: readonly number[] = places.map((place) => roomView.getInt32(place, true));

/** The position after it, or -1 minus the position where it is not such a time. Days that do not exist and leap seconds are none. */
export function scanTimestamp({ bytes, view }: ScanRoom, start: number): number {
  for (let index = 0; index < places.length; index += 1) {
    const place = start + (places[index] ?? 0);
    const difference = view.getInt32(place, true) ^ (fours[index] ?? 0);
    if (((difference | (difference + (rooms[index] ?? 0))) & 0x80808080) !== 0) return failedAt(place);
  }
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  if (day < 1 || day > (monthDays[month - 1] ?? 0)) return failedAt(start + 5);
  if (month === 2 && day === 29 && !isLeap(twoDigits(bytes, start), twoDigits(bytes, start + 2))) {
    return failedAt(start + 8);
  }
  if (twoDigits(bytes, start + 11) > 23) return failedAt(start + 11);
  if (twoDigits(bytes, start + 14) > 59) return failedAt(start + 14);
  if (twoDigits(bytes, start + 17) > 59) return failedAt(start + 17);
  return start + timestampLength;
}

/** Whether the time at one position is earlier than that at another; both were scanned. */
export function isEarlier({ view }: ScanRoom, position: number, other: number): boolean {
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index] ?? 0;
    // The first byte in the highest place, so that the numbers compare as the texts do.
    const difference = view.getUint32(position + place) - view.getUint32(other + place);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const timestampText =
  /^([0-9]{2})([0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$/;

/** The same of a string. */
export function isTimestamp(text: string): boolean {
  const [, century, yearOfCentury, month, day] = timestampText.exec(text) ?? [];
  if (century === undefined || Number(day) > (monthDays[Number(month) - 1] ?? 0)) return false;
  return month !== "02" || day !== "29" || isLeap(Number(century), Number(yearOfCentury));
}

function isLeap(century: number, yearOfCentury: number): boolean {
  return yearOfCentury === 0 ? century % 4 === 0 : yearOfCentury % 4 === 0;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - digit0) * 10 + ((bytes[at + 1] ?? 0) - digit0);
}
