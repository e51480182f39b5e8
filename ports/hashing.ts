// Hashes, handed in: the core computes none by itself, but for the short ones of every order.
export type Sha256 = (content: string | Uint8Array) => Uint8Array;

/** BLAKE3 of a text's UTF-8, as a string of 32 characters with a byte in each. */
export type Blake3 = (content: string) => string;
