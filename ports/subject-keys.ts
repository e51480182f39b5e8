// Keys that seal what the audit log says about persons, kept apart from the log so that one can be destroyed: then what it sealed is gone for good, and
// the log still verifies. A key is kept wrapped under a master key that lies among the secrets, so this place alone opens nothing.
//
// What every adapter promises (testkit/conformance/subject-keys.ts):
//  1. A person has at most one key in force; of several who add one at once, one wins, and all are given that one.
//  2. When `add` or `destroy` resolves, it is durable.
//  3. A destroyed key stays known by its id and never comes back; its bytes are not to be had any more.
//  4. A destroyed key is listed as unaudited until it is marked as reported.

export interface SubjectKey {
  /** A UUID. */
  readonly id: string;
  /** Whom it is about, as the log's subject_id names them. */
  readonly person: string;
  readonly wrapped: Uint8Array;
}

/** Which key of whom. */
export type SubjectKeyName = Omit<SubjectKey, "wrapped">;

export interface SubjectKeys {
  /** Of these persons, those who have a key in force. */
  inForce(persons: readonly string[]): Promise<ReadonlyMap<string, SubjectKey>>;
  /** Keeps the key unless the person has one; gives the one that is in force. */
  add(key: SubjectKey): Promise<SubjectKey>;
  /** By id; "destroyed" for one that is gone, and nothing for one that never was here. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, SubjectKey | "destroyed">>;
  /** Destroys the person's key, if there is one. */
  destroy(person: string): Promise<void>;
  /** Destroyed keys of which the log does not tell yet, of that person or of everybody. */
  unaudited(person?: string): Promise<readonly SubjectKeyName[]>;
  markReported(id: string): Promise<void>;
}

/** AES-256-GCM and HMAC-SHA-256, handed in like all cryptography. */
export interface Cipher {
  /** The nonce (12 bytes), the ciphertext and the tag (16 bytes). */
  seal(key: Uint8Array, nonce: Uint8Array, additional: Uint8Array, plain: Uint8Array): Uint8Array;
  /** Undefined when the key is another one, or anything was changed. */
  open(key: Uint8Array, sealed: Uint8Array, additional: Uint8Array): Uint8Array | undefined;
  hmac(key: Uint8Array, content: Uint8Array): Uint8Array;
}
