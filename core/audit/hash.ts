// A SHA-256 as a value: a string of 32 characters with a byte in each, branded so that it cannot be taken for its own hex digits. Such
// strings compare with ===, serve as keys, cannot be changed behind anybody's back, and cost half of what bytes of their own would.

declare const hashBrand: unique symbol;
export type Hash = string & { readonly [hashBrand]: "sha-256" };

/** SHA-256 of bytes, handed in; the answer is a string of 32 characters with a byte in each. */
export type Sha256OfBytes = (content: Uint8Array) => string;

export const hashLength = 32;
export const hexLength = 64;

/** What stands in `prev_hash` of entry 0. */
export const zeroHex = "0".repeat(hexLength);

const hexText = /^[0-9a-f]{64}$/;
const hexCodes: readonly number[] = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Marks what a hash function answered; anything but 32 characters with a byte in each is a RangeError. */
export function asHash(binary: string): Hash {
  if (binary.length !== hashLength) throw new RangeError(`a SHA-256 has 32 bytes, not ${binary.length}`);
  for (let at = 0; at < hashLength; at += 1) {
    if (binary.charCodeAt(at) > 0xff) throw new RangeError("a character of a SHA-256 holds one byte");
  }
  return binary as Hash;
}

export function hashOfBytes(bytes: Uint8Array): Hash {
  if (bytes.length !== hashLength) throw new RangeError(`a SHA-256 has 32 bytes, not ${bytes.length}`);
  return String.fromCharCode(...bytes) as Hash;
}

export function bytesOfHash(hash: Hash): Uint8Array {
  const bytes = new Uint8Array(hashLength);
  for (let at = 0; at < hashLength; at += 1) bytes[at] = hash.charCodeAt(at);
  return bytes;
}

/** The 64 lower-case hex digits, as ASCII. */
function hexBytesOfHash(hash: Hash): Uint8Array {
  const digits = new Uint8Array(hexLength);
  writeHex(hash, digits);
  return digits;
}

/** The same, into bytes that are there. */
export function writeHex(hash: Hash, digits: Uint8Array): void {
  for (let at = 0; at < hashLength; at += 1) {
    const byte = hash.charCodeAt(at);
    digits[2 * at] = hexCodes[byte >> 4] ?? 0;
    digits[2 * at + 1] = hexCodes[byte & 15] ?? 0;
  }
}

/** A character for each byte; a decoder takes three times as long for so few. */
export function textOfBytes(bytes: Uint8Array): string {
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}

/** 64 lower-case hex digits. */
export function hexOfHash(hash: Hash): string {
  // As bytes first: a string that grows by two characters is a chain of pieces, slow for whoever reads it.
  return textOfBytes(hexBytesOfHash(hash));
}

export function isHashHex(text: string): boolean {
  return hexText.test(text);
}

/** The hash of 64 lower-case hex digits; anything else is a RangeError. */
export function hashOfHex(hex: string): Hash {
  if (!isHashHex(hex)) throw new RangeError("a SHA-256 in hex has 64 lower-case digits");
  let binary = "";
  for (let at = 0; at < hexLength; at += 2) binary += String.fromCharCode(Number.parseInt(hex.slice(at, at + 2), 16));
  return binary as Hash;
}
