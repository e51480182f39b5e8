// What a single call may say beside its arguments, and what a server may say of it.

export interface CallOptions {
  /** Gives up when it aborts; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Instead of the client's own bound. */
  readonly timeoutMs?: number;
  /** Called with the headers of an answer that is no problem. */
  readonly onHeaders?: (headers: Headers) => void;
  /** Sent as it stands, in place of the arguments that are no part of the address. */
  readonly body?: string;
  /** Your own key of a POST: the same one within a day is done once. The client makes one for each call where none is given. */
  readonly idempotencyKey?: string;
}

/** What a server said of an operation that is left behind. */
export interface Deprecated {
  readonly operation: string;
  readonly since: Date;
  /** When it may stop answering, as the server wrote it. */
  readonly sunset: string | undefined;
}
