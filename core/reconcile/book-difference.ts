// One difference between books that should agree.

/** What does not agree: what it is about, the same at every look, and the figures. */
export interface BookDifference {
  readonly about: string;
  readonly sentence: string;
}
