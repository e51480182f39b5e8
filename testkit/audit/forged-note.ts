// A note signed with a key that somebody stole: from the secret as it was kept.
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import { ed25519Type, makeVerifierKey, signNote } from "../../core/audit/signed-note.ts";

export function forged(text: string, secret: string): string {
  const { origin, seed } = JSON.parse(secret) as { readonly origin: string; readonly seed: string };
  const { publicKey, sign } = systemSigning().keyOf(Buffer.from(seed, "base64"));
  return signNote(text, [{ key: makeVerifierKey(origin, ed25519Type, publicKey, systemSha256OfBytes), sign }]);
}
