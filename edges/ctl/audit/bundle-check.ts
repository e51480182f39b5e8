// Checks a bundle while it is written: every entry is what its hash says and a link to the one before, and all of them together with the head's
// hashes have the root that the checkpoint names. Who signed the checkpoint is not asked here: that is for whoever has the log's key, with
// verifier/audit-verify.js.
import { createHash } from "node:crypto";
import type { IntegrityError } from "./audit-pages.ts";

export interface BundleCheck {
  /** One entry after another, as texts; answers what is wrong with it. */
  entry(text: string): IntegrityError | undefined;
  /** After the last one. */
  end(): IntegrityError | undefined;
}

export interface BundleHeader {
  readonly from: number;
  readonly entries: number;
  readonly checkpoint: string;
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** A perfect subtree: the hash of 2^height leaves. */
interface Subtree {
  readonly height: number;
  readonly hash: Buffer;
}

const zeros = "0".repeat(64);
/** The two hashes stand before the last three members; no text that comes after them can look like this. */
const hashes = /^,"hash":"([0-9a-f]{64})","prev_hash":"([0-9a-f]{64})",/;

export function checkBundle({ from, entries, checkpoint, left, right }: BundleHeader): BundleCheck {
  const [, sizeLine = "", rootLine = ""] = checkpoint.split("\n");
  const size = Number(sizeLine);
  const stack: Subtree[] = [];
  let position = 0;
  let previous = from === 0 ? zeros : undefined;

  /** Two neighbours of one height are the parent of both. */
  function push(next: Subtree): void {
    let { height, hash } = next;
    position += 2 ** height;
    for (let top = stack.at(-1); top?.height === height; top = stack.at(-1)) {
      hash = sha256(Buffer.concat([Buffer.of(1), top.hash, hash]));
      height += 1;
      stack.pop();
    }
    stack.push({ height, hash });
  }

  function pushAll(given: readonly string[], end: number): void {
    for (const hash of given) push({ height: heightAt(position, end), hash: Buffer.from(hash, "base64") });
  }

  pushAll(left, from);
  return {
    entry(text) {
      const sequence = position;
      const at = text.lastIndexOf(`,"hash":"`);
      const [run, hash = "", prevHash = ""] = hashes.exec(text.slice(Math.max(0, at))) ?? [];
      if (run === undefined)
        return { code: "ENTRY_MALFORMED", sequence, expected: "an entry", actual: "something else" };
      const six = text.slice(0, at) + text.slice(at + run.length - 1);
      const found = sha256(Buffer.from(prevHash + six)).toString("hex");
      if (found !== hash) return { code: "HASH_MISMATCH", sequence, expected: found, actual: hash };
      if (previous !== undefined && prevHash !== previous) {
        return { code: "LINK_MISMATCH", sequence, expected: previous, actual: prevHash };
      }
      previous = hash;
      push({ height: 0, hash: sha256(Buffer.concat([Buffer.of(0), Buffer.from(text)])) });
      return undefined;
    },
    end() {
      if (position !== from + entries || position > size) {
        return { code: "TRUNCATED", sequence: position, expected: `${size} entries`, actual: `${position}` };
      }
      pushAll(right, size);
      const root = stack
        .map(({ hash }) => hash)
        .reduceRight((below, hash) => sha256(Buffer.concat([Buffer.of(1), hash, below])));
      const actual = root.toString("base64");
      if (position === size && actual === rootLine) return undefined;
      return { code: "ROOT_MISMATCH", sequence: size, expected: rootLine, actual };
    },
  };
}

/** The largest perfect subtree that begins there and does not reach beyond the end. */
function heightAt(position: number, end: number): number {
  let height = 0;
  while (position % 2 ** (height + 1) === 0 && position + 2 ** (height + 1) <= end) height += 1;
  return height;
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
