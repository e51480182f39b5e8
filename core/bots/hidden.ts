// What a page of GitHub does not show and a program reads: HTML comments and characters that nobody can see. People judge what they see, so that is all
// that a persona gets.
import { replaceUnseen } from "../../contracts/src/text/clean.ts";

const kept: ReadonlySet<string> = new Set(["\n", "\t"]);

/** Letters of alphabets that show nothing, which are no controls: fillers, selectors and tags. */
const blank =
  /\u034f|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u200b-\u200f]|[\u2060-\u206f]|\u3164|[\ufe00-\ufe0f]|\uffa0|[\u{e0000}-\u{e0fff}]/gu;

/** Without HTML comments, also one that does not end, and without hidden characters. Once is enough: what removing one joins is looked at again. */
export function withoutHidden(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const seen = replaceUnseen(lines, (character) => (kept.has(character) ? character : "")).replaceAll(blank, "");
  return withoutComments(seen);
}

/** One pass with a stack's worth of memory: an opening mark that only appears once a comment is gone opens one too. */
function withoutComments(text: string): string {
  let out = "";
  let from = 0;
  while (from < text.length) {
    const open = text.indexOf("<!--", from);
    if (open < 0) return joined(out, text.slice(from));
    out = joined(out, text.slice(from, open));
    const close = text.indexOf("-->", open + 4);
    if (close < 0) return out;
    from = close + 3;
  }
  return out;
}

/** A space keeps two halves from becoming a mark. */
function joined(left: string, right: string): string {
  if (left === "" || right === "") return left + right;
  const seam = `${left.slice(-3)}${right.slice(0, 3)}`;
  return seam.includes("<!--") ? `${left} ${right}` : left + right;
}

/** Whether text holds characters that a reader of a change cannot see. */
export function hasHidden(text: string): boolean {
  return replaceUnseen(text, (character) => (kept.has(character) ? character : "")).replaceAll(blank, "") !== text;
}
