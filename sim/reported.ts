// One message of a run, as it was published.

/** One message of the log, read. */
export interface Reported {
  readonly id: string;
  readonly subject: string;
  readonly at: number;
  readonly position: number;
  readonly payload: unknown;
}
