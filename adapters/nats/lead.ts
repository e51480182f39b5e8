// Leadership: of all processes that carry one name, one works and the others stand by. It is handed in because the right
// place for it is the database: NATS before 2.11 has no key that expires by itself, so a lease there would have to be
// judged by clocks, while a session lock of PostgreSQL is given back by the server the moment its holder's connection dies.
// The NATS transport always has that database behind it, since the outbox lives there.
export interface Leadership {
  /** Aborts when the leadership is lost: finish nothing new from then on. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Resolves once this process leads under that name; rejects when the signal aborts first. */
export type Lead = (name: string, signal: AbortSignal) => Promise<Leadership>;
