// Writes a hash in capitals and digits, five bits a character.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const bitsOfHex = 4n;
const bitsOfLetter = 5n;

/** Of hexadecimal digits; what is left over at the end is filled with zeros. 64 digits are 52 characters. */
export function base32(hex: string): string {
  const bits = BigInt(hex.length) * bitsOfHex;
  const padded = (bitsOfLetter - (bits % bitsOfLetter)) % bitsOfLetter;
  let rest = BigInt(`0x${hex}`) << padded;
  let text = "";
  for (let left = (bits + padded) / bitsOfLetter; left > 0n; left -= 1n) {
    text = `${letters[Number(rest & 31n)] ?? ""}${text}`;
    rest >>= bitsOfLetter;
  }
  return text;
}
