// The shape of an attack on a bundle or a proof, as data: bytes, what the auditor trusts, and what a verifier must answer; and the log that
// most attacks start from. A name starts with the attack's number in the threat list where it has one.
import {
  bundle,
  canonical,
  chain,
  checkpointOf,
  type Entry,
  type Fields,
  hashOf,
  type Json,
  log,
  logKey,
  type Signer,
  type Trust,
  witnessKey,
} from "../test-log.ts";
export interface Attack {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly trust: Trust;
  /** The level when the answer is yes, "usage", or a code. */
  readonly answer: string;
  readonly sequence: number;
  /** What the same entries and notes as rows of the platform's database give, where that differs; or why there is no such thing. */
  readonly database?: { readonly answer: string; readonly sequence?: number } | { readonly none: string };
  /** What the verdict's `expected` (or the usage sentence) must contain, where the code alone would not tell checks apart. */
  readonly says: string;
}

export const first = logKey("first");
export const second = logKey("second");
export const third = logKey("third");
export const stranger = logKey("stranger");
export const [w1, w2, w3] = ["w1", "w2", "w3"].map((name) => witnessKey(name, `${name}.example`)) as [
  Signer,
  Signer,
  Signer,
];
export const trustFirst: Trust = { vkeys: [first.vkey] };
export const twoOfThree: Trust = { vkeys: [first.vkey], policy: `2 of ${w1.vkey},${w2.vkey},${w3.vkey}` };

export const fifty = log(50, first);
export const fiftyCheckpoint = checkpointOf(fifty, 50, [first, w1, w2]);

/** What is wrong with a checkpoint is said at its size, and most of them are of this one; what has no place is said at 0. */
const sizeSaid: readonly string[] = ["ROOT_MISMATCH", "SIGNATURE_INVALID", "KEY_OUT_OF_FORCE", "WITNESSES_MISSING"];

export function attack(name: string, bytes: Uint8Array, answer: string, rest: Partial<Attack> = {}): Attack {
  const sequence = sizeSaid.includes(answer) ? fifty.length : 0;
  return { name, bytes, trust: trustFirst, answer, sequence, says: "", ...rest };
}

/** The honest bundle's header over other lines. */
export const headerOf = (
  entries: readonly Entry[],
  checkpoint: string,
  bend: Readonly<Record<string, Json>> = {},
): string => canonical({ checkpoint, entries: entries.length, from: 0, handovers: [], left: [], right: [], ...bend });

export const entryAt = (entries: readonly Entry[], i: number): Entry => {
  const entry = entries[i];
  if (entry === undefined) throw new Error(`no entry ${i}`);
  return entry;
};

export const replaced = (i: number, change: Partial<Entry>, entries = fifty): readonly Entry[] =>
  entries.map((entry, at) => (at === i ? { ...entry, ...change } : entry));

export const ownHash = (i: number, change: Partial<Entry>, entries = fifty): readonly Entry[] =>
  replaced(i, { ...change, hash: hashOf({ ...entryAt(entries, i), ...change }) }, entries);

export const rechained = (fields: readonly Fields[], keep: number, entries = fifty): readonly Entry[] => [
  ...entries.slice(0, keep),
  ...chain(fields, entries[keep - 1]),
];

export const forged = (entries: readonly Entry[]): Uint8Array => bundle(entries, fiftyCheckpoint);
export const resigned = (entries: readonly Entry[], signers: readonly Signer[] = [first]): Uint8Array =>
  bundle(entries, checkpointOf(entries, entries.length, signers));
