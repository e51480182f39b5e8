// Random numbers, handed in: in the simulator one seed gives them all.
export interface Random {
  bytes(count: number): Uint8Array;
  /** A random (version 4) UUID in lower case. */
  uuid(): string;
}
