// Why a record is quarantined: the regulator's number of the error where it has one, else a code of ours.
export interface FilingMistake {
  readonly code: string;
  /** As the record names it. */
  readonly field?: string;
  readonly sentence: string;
}
