// The rules that every secrets adapter keeps: what a path may look like and what a value may be. They live in one place so
// that a store can be exchanged for another without a path or a value suddenly being refused.
//
// A refused path or value is never repeated in the complaint: whoever mixed up the two arguments must not find a secret in
// the log.
import { Fault } from "../../contracts/src/fault.ts";

export const defaultPrefix = "portcullis";
const pathLengthMax = 512;
const segmentLengthMax = 128;
const segmentCountMax = 16;
const valueBytesMax = 64 * 1024;

// Vault answers "unsupported path" when a parameter ends in a period, and "." and ".." are traversal: no segment ends in one.
const segmentPattern = /^[A-Za-z0-9._-]*[A-Za-z0-9_-]$/;
// With the u flag this matches only a surrogate without its partner, which no encoding of text can carry.
const loneSurrogate = /\p{Surrogate}/u;

/** What is wrong with these segments, or undefined. */
function complaintAbout(segments: readonly string[]): string | undefined {
  if (segments.length > segmentCountMax) return `it has more than ${segmentCountMax} segments`;
  for (const segment of segments) {
    if (segment.length === 0) return "it has an empty segment";
    if (segment.length > segmentLengthMax) return `it has a segment of more than ${segmentLengthMax} characters`;
    if (!segmentPattern.test(segment)) {
      return "a segment may only have letters, digits, '.', '_' and '-', and may not end in '.'";
    }
  }
  return undefined;
}

function badPath(complaint: string): Fault {
  return new Fault("SECRETS_BAD_PATH", `This is not a secret's path: ${complaint}.`, { retry: "never" });
}

/** The folder that holds everything of ours, `secret/<prefix>`; the prefix itself may have several segments. */
export function rootFolder(prefix: string): string {
  const complaint = complaintAbout(prefix.split("/"));
  if (complaint !== undefined) throw badPath(`the prefix is wrong, ${complaint}`);
  return `secret/${prefix}`;
}

function checkBelow(path: string, root: string): void {
  if (path.length > pathLengthMax) throw badPath(`it has more than ${pathLengthMax} characters`);
  if (path !== root && !path.startsWith(`${root}/`)) throw badPath(`it does not begin with ${root}/`);
  const complaint = complaintAbout(path.split("/"));
  if (complaint !== undefined) throw badPath(complaint);
}

/** Throws SECRETS_BAD_PATH unless the path names one secret below the root folder. */
export function checkPath(path: string, root: string): void {
  checkBelow(path, root);
  if (path === root) throw badPath("it names the root folder, not a secret");
}

/** The folder without its optional trailing slash; throws SECRETS_BAD_PATH when it is not ours. */
export function checkFolder(folder: string, root: string): string {
  const bare = folder.endsWith("/") ? folder.slice(0, -1) : folder;
  checkBelow(bare, root);
  return bare;
}

/** True for a path that the rules allow; for names that a foreign program may have left in a shared store. */
export function isPathBelow(path: string, root: string): boolean {
  return path.length <= pathLengthMax && path.startsWith(`${root}/`) && complaintAbout(path.split("/")) === undefined;
}

/** An empty secret is refused because it would equal an empty guess. */
export function checkValue(path: string, value: string): void {
  const bytes = Buffer.byteLength(value, "utf8");
  const complaint =
    bytes === 0
      ? "it is empty"
      : bytes > valueBytesMax
        ? `it has ${bytes} bytes, and ${valueBytesMax} is the most`
        : loneSurrogate.test(value)
          ? "it is not well-formed Unicode"
          : undefined;
  if (complaint === undefined) return;
  throw new Fault("INVALID_ARGUMENT", `The value for ${path} cannot be kept: ${complaint}.`, {
    retry: "never",
    facts: { path, bytes },
  });
}

/** A version that nobody could have read (negative, fractional, not a number) is answered like any other stale one. */
export function isVersion(version: number): boolean {
  return Number.isSafeInteger(version) && version >= 0;
}

export function conflict(path: string, expectedVersion: number, actualVersion: number | undefined): Fault {
  const actual = actualVersion === undefined ? "it is another one by now" : `it is ${actualVersion} by now`;
  return new Fault("SECRETS_CONFLICT", `${path} is not at version ${expectedVersion}: ${actual}.`, {
    retry: "now",
    facts: { path, expectedVersion, actualVersion: actualVersion ?? null },
  });
}

export function closedFault(): Fault {
  return new Fault("SECRETS_UNAVAILABLE", "The secrets store is closed.", {
    retry: "never",
    facts: { reason: "closed" },
  });
}
