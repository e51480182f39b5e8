// SHA-256, handed in: the core computes no hashes by itself.
export type Sha256 = (content: string | Uint8Array) => Uint8Array;

/** The same of a text, as a string of 32 characters with a byte in each: for whoever hashes every order and keeps no bytes. */
export type Sha256Binary = (content: string) => string;
