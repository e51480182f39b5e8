// A1 in full: every bit of a log of 50 entries, flipped one at a time. The chain says at which entry, and the root of the whole tree is another one.
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { createChainCheck } from "./chain-check.ts";
import { makeEntry } from "./entry.ts";
import { rootOfParts } from "./frontier.ts";
import { makeGenesis } from "./genesis.ts";
import { type Hash, zeroHex } from "./hash.ts";
import { createTreeHash, perfectSubtrees, spanHash } from "./merkle.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const tree = createTreeHash(sha256);
const incarnation = "8f14e45f-ceea-467f-a0e6-2d9c1b7f3a55";
const origin = `portcullis/audit/${incarnation}`;
const keys = [`${origin}+a3d2837f+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea`];
const timestamp = "2026-11-15T09:30:00.000000Z";
const count = 50;

const log = [makeGenesis({ origin, incarnation, keys, timestamp }, sha256)];
while (log.length < count) {
  const [sequence, prev_hash] = [log.length, log.at(-1)?.hash ?? zeroHex];
  const data =
    sequence % 2 === 0 ? { n: sequence, text: 'a "b" \\ c' } : { é: ["\n", null, true, -1, { "\u{1F600}": {} }] };
  const fields = { sequence, timestamp, actor: "operator:ada", action: "order.decided", subject_id: "order", data };
  log.push(makeEntry({ ...fields, prev_hash }, sha256));
}
const leaves = log.map(({ leaf }) => leaf);
const hashAt = (level: number, index: number): Hash =>
  level === 0
    ? (leaves[index] ?? tree.empty)
    : tree.node(hashAt(level - 1, 2 * index), hashAt(level - 1, 2 * index + 1));
const root = spanHash(tree, { start: 0, end: count }, hashAt);

it("A1 every bit of 50 entries, flipped: found at that entry, and the root is another", () => {
  let flips = 0;
  for (const [sequence, { text }] of log.entries()) {
    const flipped = Uint8Array.from(text);
    const left = perfectSubtrees({ start: 0, end: sequence }).map(({ level, index }) => hashAt(level, index));
    const right = perfectSubtrees({ start: sequence + 1, end: count }).map(({ level, index }) => hashAt(level, index));
    const rootNow = (): Hash | undefined =>
      rootOfParts(tree, { from: sequence, left, leaves: [tree.leaf(flipped)], right, size: count });
    const prevHash = log[sequence - 1]?.hash ?? zeroHex;
    const faultNow = () => createChainCheck({ sha256, from: sequence, prevHash, origin }).next(flipped);
    expect([faultNow(), rootNow()]).toEqual([undefined, root]);
    for (let bit = 0; bit < text.length * 8; bit += 1) {
      const byte = text[bit >> 3] ?? 0;
      flipped[bit >> 3] = byte ^ (1 << (bit & 7));
      if (faultNow()?.sequence !== sequence) expect.fail(`bit ${bit} of entry ${sequence} was not found`);
      if (rootNow() === root) expect.fail(`bit ${bit} of entry ${sequence} leaves the root`);
      flipped[bit >> 3] = byte;
      flips += 1;
    }
  }
  expect(flips).toBeGreaterThan(100_000);
});
