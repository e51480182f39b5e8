// Ed25519, handed in: whoever signs or verifies takes this, so that the core stays free of cryptography and a simulated run signs the same
// bytes every time. A key is made of 32 random bytes, which come from where all random numbers come from (ports/random.ts).

export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes; the same message always gets the same signature. */
  sign(message: Uint8Array): Uint8Array;
}

export interface Signing {
  /** The key of a seed of 32 bytes; any other length is a RangeError. */
  keyOf(seed: Uint8Array): SigningKey;
  /** Whether the signature is that key's over that message; bytes that are no key or no signature verify nothing. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** SHA-256 of bytes as a string of 32 characters with a byte in each: what the audit chain is made with. */
export type Sha256OfBytes = (content: Uint8Array) => string;
