// How much room is left where the platform writes. Every adapter promises:
//
//  1. `measure` answers with the fullest of its folders, and with what our own user may still write there.
//  2. It rejects when one of them cannot be measured; it never guesses and never answers with an older figure.

export interface FreeSpace {
  /** The fullest one. */
  readonly folder: string;
  readonly freeBytes: number;
}

export interface DiskSpace {
  measure(): Promise<FreeSpace>;
}
