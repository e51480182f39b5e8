// The bytes of a delivery as they come: kept up to their bound, hashed piece by piece under each secret that is good, and read as JSON only after a signature held.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { BytesReader } from "../../../ports/http.ts";

/** `sha256=` and 64 hexadecimal digits, as GitHub writes it. */
const signatureForm = /^sha256=([0-9a-f]{64})$/;

export interface SignedBody extends BytesReader {
  /** Whether this is the signature of the bytes that came, under one of the secrets; every one is compared. */
  isSignedBy(signature: string): boolean;
  sha256(): string;
  text(): string;
}

export function signedBody(secrets: readonly string[]): SignedBody {
  const pieces: Uint8Array[] = [];
  const hash = createHash("sha256");
  const macs = secrets.map((secret) => createHmac("sha256", secret));
  let made: { readonly sha256: string; readonly macs: readonly Buffer[] } | undefined;
  const ended = () => {
    made ??= { sha256: hash.digest("hex"), macs: macs.map((mac) => mac.digest()) };
    return made;
  };
  return {
    take(piece) {
      pieces.push(piece);
      hash.update(piece);
      for (const mac of macs) mac.update(piece);
    },
    isSignedBy(signature) {
      const [, digits] = signatureForm.exec(signature) ?? [];
      if (digits === undefined) return false;
      const shown = Buffer.from(digits, "hex");
      return ended()
        .macs.map((mac) => timingSafeEqual(mac, shown))
        .includes(true);
    },
    sha256: () => ended().sha256,
    text: () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces)),
  };
}
