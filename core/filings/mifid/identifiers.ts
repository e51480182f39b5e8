// Identifiers that regulators in Europe know firms, instruments and venues by, and whether one can be such.
const leiForm = /^[A-Z0-9]{18}[0-9]{2}$/;
const isinForm = /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/;
const micForm = /^[A-Z0-9]{4}$/;
const countryForm = /^[A-Z]{2}$/;
const leiModulus = 97n;

/** ISO 17442: letters count from 10, and what that spells leaves 1 when it is divided by 97. */
export function isLei(text: string): boolean {
  return leiForm.test(text) && BigInt(digitsOf(text)) % leiModulus === 1n;
}

/** ISO 6166: the last digit makes the sum of the others, every second one doubled from the right, a multiple of ten. */
export function isIsin(text: string): boolean {
  if (!isinForm.test(text)) return false;
  const digits = [...digitsOf(text)].map(Number).reverse();
  const sum = digits.reduce((total, digit, index) => total + (index % 2 === 0 ? digit : crossSum(2 * digit)), 0);
  return sum % 10 === 0;
}

export function isMic(text: string): boolean {
  return micForm.test(text);
}

export function isCountry(text: string): boolean {
  return countryForm.test(text);
}

/** A is 10, Z is 35. */
function digitsOf(text: string): string {
  return [...text].map((character) => String(Number.parseInt(character, 36))).join("");
}

function crossSum(number: number): number {
  return number > 9 ? number - 9 : number;
}

/** Hashes are written in capitals and digits, five bits a character. */
const lettersOfBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const bitsOfHex = 4n;
const bitsOfLetter = 5n;

/** Of hexadecimal digits; what is left over at the end is filled with zeros. 64 digits are 52 characters. */
export function base32(hex: string): string {
  const bits = BigInt(hex.length) * bitsOfHex;
  const padded = (bitsOfLetter - (bits % bitsOfLetter)) % bitsOfLetter;
  let rest = BigInt(`0x${hex}`) << padded;
  let text = "";
  for (let left = (bits + padded) / bitsOfLetter; left > 0n; left -= 1n) {
    text = `${lettersOfBase32[Number(rest & 31n)] ?? ""}${text}`;
    rest >>= bitsOfLetter;
  }
  return text;
}
