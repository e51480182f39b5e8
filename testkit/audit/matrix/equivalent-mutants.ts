// Checks of the core's verifier whose absence nobody can notice in a verdict, and why they stand there all the same.

export interface EquivalentMutant {
  readonly file: string;
  readonly check: string;
  readonly why: string;
}

const says = (file: string, check: string, why: string): EquivalentMutant => ({ file, check, why });

export const equivalentMutants: readonly EquivalentMutant[] = [
  // What was checked before, and is checked again because the function has other callers.
  says("entry-layout.ts", "end - start > textBytesMax", "The chain checks the length before it copies the text."),
  says("entry-layout.ts", "text.length > textBytesMax", "The chain has checked the text before."),
  says(
    "entry-layout.ts",
    "read(room, 0, fillRoom(room, text, 0), layout) < 0",
    "The chain has checked the text before.",
  ),
  says("key-entry.ts", "record === undefined", "The chain has checked the text before."),
  says("bundle.ts", "from > size", "The tree does not close then either; here it is said before the entries are read."),
  says("frontier.ts", "!isSize(size)", "The size was read as one."),
  says("frontier.ts", "frontier.size > size", "The header was refused before."),
  says("frontier.ts", "subtrees.length !== right.length", "The header was refused before."),
  says("verify-bundle.ts", "root === undefined", "The header was refused before."),
  says("proof.ts", "!isSize(index)", "The index was read as one."),
  says("proof.ts", "!isSize(size)", "The size was read as one."),
  says(
    "genesis.ts",
    "!isKeyName(origin)",
    "It must be the checkpoint's origin, which is a name; who makes entry 0 has none.",
  ),
  says(
    "trusted-checkpoint.ts",
    "checkpoint.origin !== origin",
    "Bundles and proofs have looked; the database asks here.",
  ),
  says("cosignature.ts", "witness.type !== cosignatureType", "A policy has no other keys."),
  // What another rule of the same place refuses as well.
  says(
    "base64.ts",
    "text.length !== Math.ceil(byteCount / 3) * 4",
    "The count of bytes is compared; this bounds the work.",
  ),
  says("checkpoint.ts", 'rest[0] !== ""', "The text of a note ends in a line feed."),
  says("genesis.ts", 'typeof vkey === "string"', "What is read is compared with what was given, strictly."),
  says("key-ring.ts", 'typeof vkey === "string"', "What is read is compared with what was given, strictly."),
  says("key-ring.ts", 'typeof trustedSize !== "number"', "Only numbers are safe integers."),
  says("signed-note.ts", "hasLoneSurrogate(name)", "Names come out of UTF-8."),
  says(
    "signed-note.ts",
    "!hasControlCharacter(name)",
    "A note has none; another key than one of this origin is refused.",
  ),
  says("signed-note.ts", "!isKeyName(name)", "Another key than one of this origin is refused, and that is a name."),
  says("signed-note.ts", "type !== ed25519Type && type !== cosignatureType", "Who reads a key asks for its type."),
  says("signed-note.ts", "hasLoneSurrogate(content)", "Notes come out of UTF-8."),
  says("signed-note.ts", "hasControlCharacter(content)", "Every line has a stricter rule of its own."),
  says("signed-note.ts", "split <= 0", "What is left has not three lines."),
  says("signed-note.ts", "space < 0", "What is left is no base64."),
  says("signed-note.ts", "fits", "Ed25519 refuses other lengths as well; one that is handed in might not."),
  says(
    "chain-check.ts",
    "hash.length !== hashLength",
    "SHA-256 has one length; a function that is handed in might not.",
  ),
  // What changes the work and not the answer.
  says("chain-check.ts", "bytes.length > textBytesMax", "Room is made a second time, as large as the first."),
  says("key-entry.ts", "text[at] !== keyEntryStart[at]", "Every entry is then read to see that it changes no key."),
  says("key-entry.ts", "!isKeyEntry(text)", "Every entry is then read to see that it changes no key."),
  says("verify-bundle.ts", "fault !== undefined", "The first fault stays the answer; this only ends the reading."),
  says("verify-bundle.ts", "entries === 0", "It is a figure of the report, not of the verdict."),
  // What the caller decides.
  says(
    "tlog-proof.ts",
    "first !== firstLine",
    "The test that asks both verifiers looks at the first line; core/audit/tlog-proof.test.ts has others.",
  ),
  says(
    "tlog-proof.ts",
    "proof.entry !== undefined && encodeBase64(proof.entry) !== encodeBase64(entry)",
    "An entry that the caller brings is not in a file; core/audit/tlog-proof.test.ts brings one.",
  ),
  says("trusted-checkpoint.ts", "policy !== undefined", "A policy without a key is wrong usage and never asked."),
];
