// Protobuf's wire format, written straight into one buffer that is used again and again. The generated codecs need an object for every part
// of a message and a list of bytes for every nested one; a decision has forty parts, and every order pays for them.
import * as decimal from "../../../contracts/src/decimal.ts";
import { type Amount, toDecimal } from "../../money/amount.ts";
import type { Notional } from "../../money/exact.ts";
import { digitsOf, placeOf, unitsBetween } from "../../money/plain.ts";
import { pieceBytes } from "./byte-columns.ts";

const codeOfZero = 48;
const codeOfMinus = 45;
const codeOfPoint = 46;
const replacement = 0xfffd;
/** A number of eight digits after the point is kept whole by this unit, and at this place of a plain one. */
const eighthDigit = 10n ** 10n;
const eighthDigitPlace = 4;
const hundredMillion = 100_000_000;
const exactUnitPerCent = 10n ** 34n;
const almostACent = exactUnitPerCent - 1n;
const numberMax = BigInt(Number.MAX_SAFE_INTEGER);
const integerMax = 0x7fff_ffff;
const powersOfTen: readonly number[] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/** What fields are made of; a tag is the field's number and its kind, as the wire has them. */
export interface WireWriter {
  reset(): void;
  text(tag: number, value: string): void;
  bool(tag: number, value: boolean): void;
  /** A whole number that is not negative. */
  whole(tag: number, value: number): void;
  double(tag: number, value: number): void;
  /** As `decimal.format` writes it. */
  decimal(tag: number, value: Amount): void;
  /** A product of two amounts, rounded up to the cent, with two places. */
  cents(tag: number, value: Notional): void;
  /** Begins a nested message whose length will probably need so many bytes, 1 or 2; what it answers goes to `end`, with the same. */
  begin(tag: number, lengthBytes: number): number;
  end(began: number, lengthBytes: number): void;
  /** What was written since the last was taken; nobody writes there again. */
  take(): Uint8Array;
}

/** How many hundred-millionths it is, without its sign; NaN when that is no whole number, or more than a number keeps. */
function eighthDigitsOf(value: Amount): number {
  if (typeof value === "number") {
    const place = placeOf(value);
    const count = place > eighthDigitPlace ? Number.NaN : digitsOf(value) * unitsBetween(place, eighthDigitPlace);
    return Math.abs(count) <= Number.MAX_SAFE_INTEGER ? Math.abs(count) : Number.NaN;
  }
  const count = value / eighthDigit;
  if (count > numberMax || count < -numberMax || count * eighthDigit !== value) return Number.NaN;
  return Math.abs(Number(count));
}

/** How many cents it is, rounded away from zero and without its sign. */
function centsOf(value: Notional): number | bigint {
  if (typeof value === "number") {
    const place = placeOf(value);
    const digits = Math.abs(digitsOf(value));
    if (place > 0) return Math.ceil(digits / unitsBetween(1, place));
    return digits * 100 <= Number.MAX_SAFE_INTEGER ? digits * 100 : BigInt(digits) * 100n;
  }
  const count = ((value < 0n ? -value : value) + almostACent) / exactUnitPerCent;
  return count > numberMax ? count : Number(count);
}

// tidy: long because every part writes into the same buffer, which only a closure keeps to itself.
export function createWireWriter(): WireWriter {
  // Messages stand behind each other in one piece of memory, and leave as parts of it: a piece for each would cost more than writing it.
  let content = new Uint8Array(pieceBytes);
  let view = new DataView(content.buffer);
  /** Where the message begins, and where its next byte goes. */
  let start = 0;
  let size = 0;

  /** A full piece belongs to those who hold parts of it; the message goes on in a new one. */
  function room(count: number): void {
    if (size + count <= content.length) return;
    const next = new Uint8Array(Math.max(pieceBytes, (size - start + count) * 2));
    next.set(content.subarray(start, size));
    content = next;
    view = new DataView(content.buffer);
    size -= start;
    start = 0;
  }

  function varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      content[size] = (rest % 0x80) | 0x80;
      size += 1;
      rest = Math.floor(rest / 0x80);
    }
    content[size] = rest;
    size += 1;
  }

  /** At least so many digits of a whole number. */
  function digits(value: number, least: number): void {
    const bytes = content;
    let length = least;
    for (let bound = powersOfTen[least] ?? 1; value >= bound; bound *= 10) length += 1;
    let rest = value;
    let place = size + length - 1;
    // A division of machine integers is cheaper than one of numbers, so the long ones are cut down to that first.
    for (; rest > integerMax; place -= 1) {
      const tenth = Math.floor(rest / 10);
      bytes[place] = codeOfZero + rest - tenth * 10;
      rest = tenth;
    }
    for (let short = rest | 0; place >= size; place -= 1) {
      const tenth = (short / 10) | 0;
      bytes[place] = codeOfZero + short - tenth * 10;
      short = tenth;
    }
    size += length;
  }

  /** Leaves room for a length of so many bytes; what turns out longer or shorter is moved. */
  function begin(tag: number, lengthBytes: number): number {
    room(12);
    varint(tag);
    size += lengthBytes;
    return size - start;
  }

  function end(began: number, lengthBytes: number): void {
    room(8);
    const from = start + began;
    const length = size - from;
    if (length <= 0x7f && lengthBytes === 1) {
      content[from - 1] = length;
      return;
    }
    let needed = 1;
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) needed += 1;
    if (needed !== lengthBytes) content.copyWithin(from + needed - lengthBytes, from, size);
    size = from - lengthBytes;
    varint(length);
    size += length;
  }

  /** From the first character that is not ASCII on; half of a pair by itself is no character. */
  function wideText(value: string, from: number): void {
    for (let index = from; index < value.length; index += 1) {
      let code = value.codePointAt(index) ?? replacement;
      if (code > 0xffff) index += 1;
      else if (code >= 0xd800 && code <= 0xdfff) code = replacement;
      if (code < 0x80) content[size++] = code;
      else {
        if (code < 0x800) content[size++] = 0xc0 | (code >> 6);
        else {
          if (code < 0x10000) content[size++] = 0xe0 | (code >> 12);
          else {
            content[size++] = 0xf0 | (code >> 18);
            content[size++] = 0x80 | ((code >> 12) & 0x3f);
          }
          content[size++] = 0x80 | ((code >> 6) & 0x3f);
        }
        content[size++] = 0x80 | (code & 0x3f);
      }
    }
  }

  function text(tag: number, value: string): void {
    const began = begin(tag, 1);
    const { length } = value;
    room(length * 3);
    // The loop has the buffer to itself: what all parts share would be looked up for every letter.
    const bytes = content;
    const from = size;
    let index = 0;
    for (; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) break;
      bytes[from + index] = code;
    }
    size = from + index;
    if (index < length) wideText(value, index);
    end(began, 1);
  }

  /** False when its digits are more than a plain number keeps; then nothing was written. */
  function plainDecimal(tag: number, value: Amount): boolean {
    const magnitude = eighthDigitsOf(value);
    if (Number.isNaN(magnitude)) return false;
    const began = begin(tag, 1);
    room(32);
    if (value < 0) content[size++] = codeOfMinus;
    const whole = Math.floor(magnitude / hundredMillion);
    const fraction = magnitude - whole * hundredMillion;
    digits(whole, 1);
    if (fraction !== 0) {
      content[size++] = codeOfPoint;
      digits(fraction, 8);
      while (content[size - 1] === codeOfZero) size -= 1;
    }
    end(began, 1);
    return true;
  }

  function cents(tag: number, value: Notional): void {
    const count = centsOf(value);
    // Also of a plain number only one that is below zero is below zero.
    const sign = value < 0 ? "-" : "";
    if (typeof count === "bigint") {
      const shown = count.toString();
      text(tag, `${sign}${shown.slice(0, -2)}.${shown.slice(-2)}`);
      return;
    }
    const began = begin(tag, 1);
    room(32);
    if (sign !== "") content[size++] = codeOfMinus;
    const whole = Math.floor(count / 100);
    digits(whole, 1);
    content[size++] = codeOfPoint;
    digits(count - whole * 100, 2);
    end(began, 1);
  }

  return {
    reset() {
      size = start;
    },
    text,
    bool(tag, value) {
      room(12);
      varint(tag);
      varint(value ? 1 : 0);
    },
    whole(tag, value) {
      room(20);
      varint(tag);
      varint(value);
    },
    double(tag, value) {
      room(20);
      varint(tag);
      view.setFloat64(size, value, true);
      size += 8;
    },
    decimal(tag, value) {
      if (!plainDecimal(tag, value)) text(tag, decimal.format(toDecimal(value)));
    },
    cents,
    begin,
    end,
    take() {
      const taken = content.subarray(start, size);
      start = size;
      return taken;
    },
  };
}
