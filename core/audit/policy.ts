// Which witnesses must have cosigned a checkpoint: k of n named ones. An Ed25519 cosignature does not say under which name it was made, so one
// public key under two names is one witness, and a policy that names it twice is refused.
import { parseJson } from "../../contracts/src/parse-json.ts";
import { encodeHex } from "./base64.ts";
import { type CosignatureClock, judgeCosignature } from "./cosignature.ts";
import type { Sha256OfBytes } from "./hash.ts";
import {
  cosignatureType,
  type Malformed,
  type Note,
  readVerifierKey,
  type VerifierKey,
  type VerifySignature,
} from "./signed-note.ts";

export interface Policy {
  readonly k: number;
  readonly witnesses: readonly VerifierKey[];
}

const witnessesMax = 64;
const policyLengthMax = 65_536;

/** A policy from `2 of <vkey>,<vkey>,<vkey>` or from `{"k":2,"witnesses":["<vkey>",…]}`. */
export function readPolicy(text: string, sha256: Sha256OfBytes): Policy | Malformed {
  if (text.length > policyLengthMax) return { malformed: "a policy that is too long" };
  const parts = text.startsWith("{") ? partsOfJson(text) : partsOfText(text);
  if (parts === undefined) return { malformed: "neither `k of <vkey>,<vkey>` nor an object of k and witnesses" };
  const witnesses: VerifierKey[] = [];
  for (const vkey of parts.vkeys) {
    const key = readVerifierKey(vkey, sha256);
    if (key === undefined) return { malformed: `${JSON.stringify(vkey)} is not a vkey` };
    witnesses.push(key);
  }
  return makePolicy(parts.k, witnesses);
}

/** A policy from its parts. */
export function makePolicy(k: number, witnesses: readonly VerifierKey[]): Policy | Malformed {
  if (witnesses.length > witnessesMax) return { malformed: `more than ${witnessesMax} witnesses` };
  for (const key of witnesses) {
    if (key.type !== cosignatureType) return { malformed: `${key.vkey} is not a witness's key (type 4)` };
  }
  const distinct = new Set(witnesses.map((key) => encodeHex(key.publicKey)));
  if (distinct.size !== witnesses.length) return { malformed: "the same key twice" };
  if (!Number.isSafeInteger(k) || k < 1 || k > witnesses.length) {
    return { malformed: `${k} of ${witnesses.length} witnesses` };
  }
  return { k, witnesses };
}

export function policyText({ k, witnesses }: Policy): string {
  return `${k} of ${witnesses.map((key) => key.vkey).join(",")}`;
}

interface Parts {
  readonly k: number;
  readonly vkeys: readonly string[];
}

function partsOfText(text: string): Parts | undefined {
  const parts = /^([1-9][0-9]{0,2}) of (\S+)$/.exec(text.trim());
  if (parts === null) return undefined;
  return { k: Number(parts[1]), vkeys: (parts[2] ?? "").split(",") };
}

function partsOfJson(text: string): Parts | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { k, witnesses, ...rest } = value as { k?: unknown; witnesses?: unknown };
  if (typeof k !== "number" || !Array.isArray(witnesses) || Object.keys(rest).length > 0) return undefined;
  const vkeys = witnesses.filter((vkey): vkey is string => typeof vkey === "string");
  return vkeys.length === witnesses.length ? { k, vkeys } : undefined;
}

type Cosigned =
  | {
      readonly kind: "counted";
      /** In the policy's order, each once. */
      readonly cosignedBy: readonly VerifierKey[];
      /** Those whose cosignature is from a time that has not come yet: it does not count. */
      readonly ahead: readonly VerifierKey[];
      readonly enough: boolean;
    }
  | { readonly kind: "bad signature"; readonly by: string };

/** Which witnesses of the policy have cosigned the note. A bad cosignature of one of them refuses the note, as any known key's does. */
export function countCosignatures(
  note: Note,
  policy: Policy,
  verifySignature: VerifySignature,
  clock: CosignatureClock,
): Cosigned {
  const valid = new Set<VerifierKey>();
  const ahead = new Set<VerifierKey>();
  for (const signature of note.signatures) {
    const candidates = policy.witnesses.filter((key) => key.name === signature.name && key.id === signature.keyId);
    if (candidates.length === 0) continue;
    let found = false;
    for (const witness of candidates) {
      const { kind } = judgeCosignature(note.text, signature, witness, verifySignature, clock);
      if (kind === "bad") continue;
      found = true;
      (kind === "valid" ? valid : ahead).add(witness);
    }
    if (!found) return { kind: "bad signature", by: `${signature.name}+${signature.keyId}` };
  }
  const cosignedBy = policy.witnesses.filter((key) => valid.has(key));
  return {
    kind: "counted",
    cosignedBy,
    ahead: policy.witnesses.filter((key) => ahead.has(key) && !valid.has(key)),
    enough: cosignedBy.length >= policy.k,
  };
}
