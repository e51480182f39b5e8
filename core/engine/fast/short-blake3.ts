// BLAKE3 of short texts, in plain arithmetic: for the hundred bytes of an order the way into the machine's own library and back costs more
// than the hashing, and SHA-256 costs two and a half times as much here. It takes what fits into a few blocks; whoever has more asks a library
// (short-blake3.test.ts compares the two).

const blockBytes = 64;
const blocksMax = 8;
/** The longest content that is taken: within one of the chunks that the hash cuts longer contents into. */
export const contentMax = blocksMax * blockBytes;
const chunkStart = 1;
const chunkEnd = 2;
const root = 8;

export interface ShortBlake3 {
  /** The bytes of the content, from the first; whoever asks for a hash has written them there. */
  readonly content: Uint8Array;
  /** The words of the hash, each of four bytes, the first byte lowest. */
  readonly words: Int32Array;
  /** Sets the words to the hash of the first so many bytes of the content; what stands behind them in their last block is written over. */
  hash(size: number): void;
}

/** The first 32 bits behind the point of the square roots of the first primes. */
const beginning = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

/** Takes one block of so many bytes into the hash, with the block's words and the sixteen of the state where the machine keeps them best. */
// tidy: long because the rounds are written out; the words of the block are taken in another order in each.
// biome-ignore format: a step to a line.
function compress(words: Int32Array, block: DataView, from: number, size: number, flags: number): void {
  const w0 = block.getInt32(from + 0, true);
  const w1 = block.getInt32(from + 4, true);
  const w2 = block.getInt32(from + 8, true);
  const w3 = block.getInt32(from + 12, true);
  const w4 = block.getInt32(from + 16, true);
  const w5 = block.getInt32(from + 20, true);
  const w6 = block.getInt32(from + 24, true);
  const w7 = block.getInt32(from + 28, true);
  const w8 = block.getInt32(from + 32, true);
  const w9 = block.getInt32(from + 36, true);
  const w10 = block.getInt32(from + 40, true);
  const w11 = block.getInt32(from + 44, true);
  const w12 = block.getInt32(from + 48, true);
  const w13 = block.getInt32(from + 52, true);
  const w14 = block.getInt32(from + 56, true);
  const w15 = block.getInt32(from + 60, true);
  let a = words[0] ?? 0;
  let b = words[1] ?? 0;
  let c = words[2] ?? 0;
  let d = words[3] ?? 0;
  let e = words[4] ?? 0;
  let f = words[5] ?? 0;
  let g = words[6] ?? 0;
  let h = words[7] ?? 0;
  let i = 0x6a09e667 | 0;
  let j = 0xbb67ae85 | 0;
  let k = 0x3c6ef372 | 0;
  let l = 0xa54ff53a | 0;
  // The number of the chunk, in two words, is always 0.
  let m = 0;
  let n = 0;
  let o = size;
  let p = flags;
  a = (a + e + w0) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w1) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w2) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w3) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w4) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w5) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w6) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w7) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w8) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w9) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w10) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w11) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w12) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w13) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w14) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w15) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w2) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w6) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w3) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w10) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w7) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w0) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w4) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w13) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w1) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w11) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w12) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w5) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w9) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w14) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w15) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w8) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w3) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w4) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w10) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w12) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w13) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w2) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w7) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w14) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w6) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w5) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w9) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w0) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w11) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w15) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w8) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w1) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w10) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w7) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w12) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w9) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w14) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w3) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w13) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w15) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w4) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w0) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w11) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w2) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w5) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w8) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w1) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w6) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w12) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w13) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w9) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w11) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w15) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w10) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w14) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w8) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w7) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w2) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w5) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w3) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w0) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w1) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w6) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w4) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w9) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w14) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w11) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w5) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w8) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w12) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w15) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w1) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w13) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w3) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w0) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w10) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w2) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w6) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w4) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w7) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  a = (a + e + w11) | 0; m ^= a; m = (m >>> 16) | (m << 16); i = (i + m) | 0; e ^= i; e = (e >>> 12) | (e << 20);
  a = (a + e + w15) | 0; m ^= a; m = (m >>> 8) | (m << 24); i = (i + m) | 0; e ^= i; e = (e >>> 7) | (e << 25);
  b = (b + f + w5) | 0; n ^= b; n = (n >>> 16) | (n << 16); j = (j + n) | 0; f ^= j; f = (f >>> 12) | (f << 20);
  b = (b + f + w0) | 0; n ^= b; n = (n >>> 8) | (n << 24); j = (j + n) | 0; f ^= j; f = (f >>> 7) | (f << 25);
  c = (c + g + w1) | 0; o ^= c; o = (o >>> 16) | (o << 16); k = (k + o) | 0; g ^= k; g = (g >>> 12) | (g << 20);
  c = (c + g + w9) | 0; o ^= c; o = (o >>> 8) | (o << 24); k = (k + o) | 0; g ^= k; g = (g >>> 7) | (g << 25);
  d = (d + h + w8) | 0; p ^= d; p = (p >>> 16) | (p << 16); l = (l + p) | 0; h ^= l; h = (h >>> 12) | (h << 20);
  d = (d + h + w6) | 0; p ^= d; p = (p >>> 8) | (p << 24); l = (l + p) | 0; h ^= l; h = (h >>> 7) | (h << 25);
  a = (a + f + w14) | 0; p ^= a; p = (p >>> 16) | (p << 16); k = (k + p) | 0; f ^= k; f = (f >>> 12) | (f << 20);
  a = (a + f + w10) | 0; p ^= a; p = (p >>> 8) | (p << 24); k = (k + p) | 0; f ^= k; f = (f >>> 7) | (f << 25);
  b = (b + g + w2) | 0; m ^= b; m = (m >>> 16) | (m << 16); l = (l + m) | 0; g ^= l; g = (g >>> 12) | (g << 20);
  b = (b + g + w12) | 0; m ^= b; m = (m >>> 8) | (m << 24); l = (l + m) | 0; g ^= l; g = (g >>> 7) | (g << 25);
  c = (c + h + w3) | 0; n ^= c; n = (n >>> 16) | (n << 16); i = (i + n) | 0; h ^= i; h = (h >>> 12) | (h << 20);
  c = (c + h + w4) | 0; n ^= c; n = (n >>> 8) | (n << 24); i = (i + n) | 0; h ^= i; h = (h >>> 7) | (h << 25);
  d = (d + e + w7) | 0; o ^= d; o = (o >>> 16) | (o << 16); j = (j + o) | 0; e ^= j; e = (e >>> 12) | (e << 20);
  d = (d + e + w13) | 0; o ^= d; o = (o >>> 8) | (o << 24); j = (j + o) | 0; e ^= j; e = (e >>> 7) | (e << 25);
  words[0] = a ^ i;
  words[1] = b ^ j;
  words[2] = c ^ k;
  words[3] = d ^ l;
  words[4] = e ^ m;
  words[5] = f ^ n;
  words[6] = g ^ o;
  words[7] = h ^ p;
}

export function createShortBlake3(): ShortBlake3 {
  const content = new Uint8Array(contentMax);
  const view = new DataView(content.buffer);
  const words = new Int32Array(beginning.length);
  return {
    content,
    words,
    hash(size) {
      const lastAt = size === 0 ? 0 : Math.floor((size - 1) / blockBytes) * blockBytes;
      clear(content, view, size, lastAt + blockBytes);
      for (let index = 0; index < beginning.length; index += 1) words[index] = beginning[index] ?? 0;
      let flags = chunkStart;
      for (let from = 0; from < lastAt; from += blockBytes) {
        compress(words, view, from, blockBytes, flags);
        flags = 0;
      }
      compress(words, view, lastAt, size - lastAt, flags | chunkEnd | root);
    },
  };
}

function clear(content: Uint8Array, view: DataView, from: number, to: number): void {
  let at = from;
  for (; at % 4 !== 0; at += 1) content[at] = 0;
  for (; at < to; at += 4) view.setInt32(at, 0);
}
