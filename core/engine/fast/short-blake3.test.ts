// The hash of short contents against the library's, and against what the hash's own authors publish.
import { blake3 } from "@noble/hashes/blake3.js";
import { expect, test } from "vitest";
import { contentMax, createShortBlake3 } from "./short-blake3.ts";

const short = createShortBlake3();

function hexOf(content: Uint8Array): string {
  // What a longer content left behind must not be seen.
  short.content.fill(0xff);
  short.content.set(content);
  short.hash(content.length);
  const bytes = new DataView(new ArrayBuffer(32));
  for (const [index, word] of short.words.entries()) bytes.setInt32(index * 4, word, true);
  return Buffer.from(bytes.buffer).toString("hex");
}

test("every length that is taken gives the library's hash", () => {
  for (let length = 0; length <= contentMax; length += 1) {
    const content = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 251);
    expect(hexOf(content), String(length)).toBe(Buffer.from(blake3(content)).toString("hex"));
  }
});

test("nothing hashes to what the authors say", () => {
  expect(hexOf(new Uint8Array(0))).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
});
