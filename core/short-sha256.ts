// SHA-256 of short texts, in plain arithmetic: for the hundred bytes of an order the way into the machine's own library and back costs
// more than the hashing. It takes ASCII only and not much of it; whoever has more asks the library (short-sha256.test.ts compares the two).

const blockBytes = 64;
/** The end of the last block has the length of the whole, after at least one byte of padding. */
const tailBytes = 9;
const contentMax = 8 * blockBytes - tailBytes;

export interface ShortSha256 {
  /** Begins a new content. */
  begin(): void;
  byte(value: number): void;
  /** What is not a text of ASCII letters, or no longer short, makes the whole content one that is not taken. */
  text(value: unknown): void;
  /** False when the content was not taken; else the words of its hash stand in `words`, each of four bytes, the first byte highest. */
  end(): boolean;
  readonly words: Int32Array;
}

/** The first 32 bits behind the point of the square or cube roots of the first primes, as the standard has them. */
function rootWords(count: number, root: (prime: number) => number): Int32Array {
  const words = new Int32Array(count);
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.some((prime) => number % prime === 0)) continue;
    words[primes.length] = Math.floor((root(number) % 1) * 2 ** 32);
    primes.push(number);
  }
  return words;
}

const beginning = rootWords(8, Math.sqrt);
const constants = rootWords(64, Math.cbrt);

/** Takes one block into the hash, as the standard has it. */
function compress(words: Int32Array, schedule: Int32Array, view: DataView, from: number): void {
  for (let index = 0; index < 16; index += 1) schedule[index] = view.getInt32(from + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const x = schedule[index - 15] ?? 0;
    const y = schedule[index - 2] ?? 0;
    const small = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const large = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    schedule[index] = (schedule[index - 16] ?? 0) + small + (schedule[index - 7] ?? 0) + large;
  }
  let a = words[0] ?? 0;
  let b = words[1] ?? 0;
  let c = words[2] ?? 0;
  let d = words[3] ?? 0;
  let e = words[4] ?? 0;
  let f = words[5] ?? 0;
  let g = words[6] ?? 0;
  let h = words[7] ?? 0;
  for (let round = 0; round < 64; round += 1) {
    const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + turned + (g ^ (e & (f ^ g))) + (constants[round] ?? 0) + (schedule[round] ?? 0)) | 0;
    const spun = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (spun + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  words[0] = (words[0] ?? 0) + a;
  words[1] = (words[1] ?? 0) + b;
  words[2] = (words[2] ?? 0) + c;
  words[3] = (words[3] ?? 0) + d;
  words[4] = (words[4] ?? 0) + e;
  words[5] = (words[5] ?? 0) + f;
  words[6] = (words[6] ?? 0) + g;
  words[7] = (words[7] ?? 0) + h;
}

export function createShortSha256(): ShortSha256 {
  const content = new Uint8Array(contentMax + tailBytes);
  const view = new DataView(content.buffer);
  const schedule = new Int32Array(64);
  const words = new Int32Array(8);
  let size = 0;
  let isTaken = true;

  return {
    words,
    begin() {
      size = 0;
      isTaken = true;
    },
    byte(value) {
      if (value > 0x7f || size === contentMax) isTaken = false;
      else content[size++] = value;
    },
    text(value) {
      if (typeof value !== "string" || value.length > contentMax - size) {
        isTaken = false;
        return;
      }
      const start = size;
      let all = 0;
      for (let index = 0; index < value.length; index += 1) {
        const code = value.charCodeAt(index);
        all |= code;
        content[start + index] = code;
      }
      size = start + value.length;
      if (all > 0x7f) isTaken = false;
    },
    end() {
      if (!isTaken) return false;
      const end = Math.ceil((size + tailBytes) / blockBytes) * blockBytes;
      content.fill(0, size, end);
      content[size] = 0x80;
      view.setInt32(end - 4, size * 8);
      words.set(beginning);
      for (let from = 0; from < end; from += blockBytes) compress(words, schedule, view, from);
      return true;
    },
  };
}
