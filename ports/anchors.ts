// Where the audit log's checkpoints are kept a second time, out of reach of whoever can only write the platform's database: a file on another disk, a
// table in another database. An anchor keeps what it is shown and says what it has; it signs nothing and judges nothing.
//
// What every adapter promises (testkit/conformance/anchors.ts):
//  1. A checkpoint is durable when `keep` resolves. Keeping the same one again changes nothing.
//  2. What is kept is never changed or removed: another note of the newest size is refused with STORE_CONFLICT.
//  3. `newest` gives the largest that is kept of that origin, byte for byte, also after a restart, and also when a smaller one was kept later.
//  4. A write that was cut off by a crash leaves either the whole checkpoint or nothing that `newest` would give.
//  5. What cannot be kept or read now is a fault with `retry: later`. Whoever asks waits no longer than they want: a disk may hang.

export interface AnchoredCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

export interface Anchor {
  /** For people: the path of the file, the place of the database; never a password. */
  readonly name: string;
  keep(checkpoint: AnchoredCheckpoint): Promise<void>;
  newest(origin: string): Promise<AnchoredCheckpoint | undefined>;
  close(): Promise<void>;
}
