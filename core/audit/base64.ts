// Bytes as text and back, strictly: base64 (RFC 4648 section 4, padded), lower-case hex and UTF-8. Every sequence of bytes has exactly one text
// here, because a second spelling of a signed or hashed thing is a second thing to somebody.
import { bytesOfHash, type Hash, hashLength, hashOfBytes } from "./hash.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const outside = 255;
const sextets = new Uint8Array(128).fill(outside);
for (let index = 0; index < alphabet.length; index += 1) sextets[alphabet.charCodeAt(index)] = index;

/** The base64 of bytes, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += alphabet.charAt(group >> 18) + alphabet.charAt((group >> 12) & 63);
    text += left > 1 ? alphabet.charAt((group >> 6) & 63) : "=";
    text += left > 2 ? alphabet.charAt(group & 63) : "=";
  }
  return text;
}

/** The bytes of a base64 text; undefined for anything that `encodeBase64` would not write. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const digits = text.length - padding;
  let bits = 0;
  let group = 0;
  let filled = 0;
  for (let at = 0; at < digits; at += 1) {
    const sextet = sextets[text.charCodeAt(at)] ?? outside;
    if (sextet === outside) return undefined;
    group = ((group << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[filled] = (group >> bits) & 0xff;
      filled += 1;
    }
  }
  // What is left over of the last digit must be zero: otherwise several texts would stand for the same bytes.
  return (group & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

/** The bytes of a base64 text of exactly so many bytes. */
export function decodeBase64Of(byteCount: number, text: string): Uint8Array | undefined {
  if (text.length !== Math.ceil(byteCount / 3) * 4) return undefined;
  const bytes = decodeBase64(text);
  return bytes?.length === byteCount ? bytes : undefined;
}

/** A hash as checkpoints and proofs write it. */
export function base64OfHash(hash: Hash): string {
  return encodeBase64(bytesOfHash(hash));
}

export function hashOfBase64(text: string): Hash | undefined {
  const bytes = decodeBase64Of(hashLength, text);
  return bytes === undefined ? undefined : hashOfBytes(bytes);
}

const hexDigits = "0123456789abcdef";

/** Lower-case hex. */
export function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hexDigits.charAt(byte >> 4) + hexDigits.charAt(byte & 15);
  return text;
}

const utf8 = new TextEncoder();

export function utf8Of(text: string): Uint8Array {
  return utf8.encode(text);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of UTF-8 bytes; undefined when they are not UTF-8. A byte order mark stays: it is a character like any other here. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Whether a text has half a character in it, which no UTF-8 can say. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udfff]/u.test(text);
}

/** A whole number of a size or an index as it is written: decimal, no leading zero, no sign. */
export function readDecimal(text: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
