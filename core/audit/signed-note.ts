// C2SP signed notes: a text, an empty line, and one line per signature. Ed25519 comes in as functions; what is decided here is which bytes are
// signed and whose signature counts.
//
// Invariants:
//  1. A note has one reading: what is not exactly the format is malformed, and nothing of it is used.
//  2. Name and key id together name a key. A signature of an unknown key is passed over; one of a known key must verify, or the note is refused.
//  3. A note that no known key signed says nothing.
import { decodeBase64, decodeBase64Of, encodeBase64, encodeHex, hasLoneSurrogate, utf8Of } from "./base64.ts";
import { asHash, hexOfHash, type Sha256OfBytes } from "./hash.ts";

/** Whether an Ed25519 signature of 64 bytes is that key's over that message. */
export type VerifySignature = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/** The Ed25519 signature of a message, under a key that the caller chose. */
export type SignMessage = (message: Uint8Array) => Uint8Array;

export interface Malformed {
  readonly malformed: string;
}

/** The signature types that we know. */
export const ed25519Type = 1;
export const cosignatureType = 4;

/** A public key with its name, as a vkey says it. */
export interface VerifierKey {
  readonly name: string;
  /** Eight hex digits. */
  readonly id: string;
  readonly type: typeof ed25519Type | typeof cosignatureType;
  readonly publicKey: Uint8Array;
  readonly vkey: string;
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  /** What follows the key id: for Ed25519 the 64 bytes, for a cosignature the time and the 64 bytes. */
  readonly signature: Uint8Array;
}

export interface Note {
  /** With the line feed at its end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** How many signatures one note may carry, and how many characters it may have: far more than any policy needs. */
const signaturesMax = 100;
export const noteLengthMax = 524_288;
const nameLengthMax = 256;

const publicKeyBytes = 32;
const keyIdBytes = 4;
export const ed25519SignatureBytes = 64;
const dash = "\u2014 ";

/** Whether a text can name a key: not empty, no white space of any script, no plus sign, no control characters. */
export function isKeyName(name: string): boolean {
  if (name.length === 0 || name.length > nameLengthMax || hasLoneSurrogate(name)) return false;
  return !/[\p{White_Space}+]/u.test(name) && !hasControlCharacter(name);
}

/** Control characters below the space, other than the line feed. */
function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 && unit !== 0x0a) return true;
  }
  return false;
}

/** A key from its parts; the id is computed. */
export function makeVerifierKey(
  name: string,
  type: VerifierKey["type"],
  publicKey: Uint8Array,
  sha256: Sha256OfBytes,
): VerifierKey {
  if (!isKeyName(name)) throw new RangeError(`${JSON.stringify(name)} cannot name a key`);
  if (publicKey.length !== publicKeyBytes) throw new RangeError(`a public key has ${publicKeyBytes} bytes`);
  const typed = new Uint8Array(1 + publicKeyBytes);
  typed[0] = type;
  typed.set(publicKey, 1);
  const id = hexOfHash(asHash(sha256(joined(utf8Of(`${name}\n`), typed)))).slice(0, keyIdBytes * 2);
  return { name, id, type, publicKey: typed.slice(1), vkey: `${name}+${id}+${encodeBase64(typed)}` };
}

/** The key that a vkey says; undefined when it is not one, is of a type that we do not know, or its id is not that of its key. */
export function readVerifierKey(vkey: string, sha256: Sha256OfBytes): VerifierKey | undefined {
  const parts = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(vkey);
  const name = parts?.[1] ?? "";
  const typed = decodeBase64Of(1 + publicKeyBytes, parts?.[3] ?? "");
  if (!isKeyName(name) || typed === undefined) return undefined;
  const type = typed[0];
  if (type !== ed25519Type && type !== cosignatureType) return undefined;
  const key = makeVerifierKey(name, type, typed.subarray(1), sha256);
  return key.vkey === vkey ? key : undefined;
}

/** Parts a note into text and signatures; nothing is verified yet. */
export function readNote(content: string): Note | Malformed {
  if (content.length > noteLengthMax) return { malformed: `a note of more than ${noteLengthMax} characters` };
  if (hasLoneSurrogate(content)) return { malformed: "not UTF-8" };
  if (hasControlCharacter(content)) return { malformed: "a control character" };
  if (!content.endsWith("\n")) return { malformed: "no line feed at the end" };
  const split = content.lastIndexOf("\n\n");
  // At 0 there would be no text before the empty line but a lone line feed, which is a text of one empty line: nobody signs that.
  if (split <= 0) return { malformed: "no empty line between text and signatures" };
  const lines = content.slice(split + 2, -1).split("\n");
  if (lines.length > signaturesMax) return { malformed: `more than ${signaturesMax} signatures` };
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const signature = readSignatureLine(line);
    if (signature === undefined) return { malformed: "a line that is not a signature" };
    signatures.push(signature);
  }
  return { text: content.slice(0, split + 1), signatures };
}

/** One signature line without its line feed. */
export function readSignatureLine(line: string): NoteSignature | undefined {
  if (!line.startsWith(dash)) return undefined;
  const space = line.indexOf(" ", dash.length);
  if (space < 0) return undefined;
  const name = line.slice(dash.length, space);
  const bytes = decodeBase64(line.slice(space + 1));
  if (!isKeyName(name) || bytes === undefined || bytes.length <= keyIdBytes) return undefined;
  return { name, keyId: encodeHex(bytes.subarray(0, keyIdBytes)), signature: bytes.slice(keyIdBytes) };
}

/** One signature line with its line feed. */
export function signatureLine(key: VerifierKey, signature: Uint8Array): string {
  const id = new Uint8Array(keyIdBytes);
  for (let at = 0; at < keyIdBytes; at += 1) id[at] = Number.parseInt(key.id.slice(at * 2, at * 2 + 2), 16);
  return `${dash}${key.name} ${encodeBase64(joined(id, signature))}\n`;
}

/** A text that can be signed: lines, each ended, without control characters. */
function isNoteText(text: string): boolean {
  return text.length > 1 && text.endsWith("\n") && !hasLoneSurrogate(text) && !hasControlCharacter(text);
}

/** A note with the Ed25519 signatures of these keys. */
export function signNote(
  text: string,
  signers: readonly { readonly key: VerifierKey; readonly sign: SignMessage }[],
): string {
  if (!isNoteText(text)) throw new RangeError("not a text that a note can carry");
  if (signers.length === 0) throw new RangeError("a note has at least one signature");
  const message = utf8Of(text);
  return `${text}\n${signers.map(({ key, sign }) => signatureLine(key, sign(message))).join("")}`;
}

type Opened =
  | { readonly kind: "opened"; readonly signedBy: readonly VerifierKey[] }
  | { readonly kind: "bad signature"; readonly by: string }
  | { readonly kind: "no known key" };

/** Which of the known keys (of type 1) signed the note; one bad signature of a known key refuses it whole. */
export function openNote(note: Note, known: readonly VerifierKey[], verifySignature: VerifySignature): Opened {
  const message = utf8Of(note.text);
  const signedBy = new Set<VerifierKey>();
  for (const { name, keyId, signature } of note.signatures) {
    const candidates = known.filter((key) => key.type === ed25519Type && key.name === name && key.id === keyId);
    if (candidates.length === 0) continue;
    const fits = signature.length === ed25519SignatureBytes;
    const signer = fits ? candidates.find((key) => verifySignature(key.publicKey, message, signature)) : undefined;
    if (signer === undefined) return { kind: "bad signature", by: `${name}+${keyId}` };
    signedBy.add(signer);
  }
  return signedBy.size === 0 ? { kind: "no known key" } : { kind: "opened", signedBy: [...signedBy] };
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}
