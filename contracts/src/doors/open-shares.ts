// What callers without a verified token have of the doors. Each way of asking is a share with tokens of its own for every address; documents, data and pages
// also cost of what all strangers of a port have together, where documents are refused first and pages last. Health, alerts and the log-in are never refused
// because of others.

/** "nothing" is what takes a token, or leads nowhere, asked by somebody who has none. */
export type OpenShare = "health" | "log_in" | "alert" | "page" | "data" | "document" | "nothing";

/** Of an operation that anyone may ask. */
export interface CostWithoutToken {
  readonly share: Exclude<OpenShare, "nothing">;
  readonly cost: number;
  /** Of single routes, where it is another. */
  readonly costs?: Readonly<Record<string, number>>;
}

export interface ShareRule {
  /** Tokens of one address: so many a second, and so many at once. */
  readonly ratePerS: number;
  readonly burst: number;
  /** Of what all have together, the part that must be left for others after it; absent where others' asking refuses nobody. */
  readonly leaves?: number;
}

/** Bars are made when they are asked for, up to a thousand at once, which costs a hundred times as much as a quote. */
export const publicBarsCost = 5;

/** Beside these an address has `http.public_rate_per_s` and `http.public_burst` for the public market data. */
export const openShares: Readonly<Record<OpenShare, ShareRule>> = {
  health: { ratePerS: 50, burst: 1_000 },
  log_in: { ratePerS: 10, burst: 300 },
  alert: { ratePerS: 100, burst: 2_000 },
  page: { ratePerS: 50, burst: 1_500, leaves: 0 },
  data: { ratePerS: 1_000, burst: 10_000, leaves: 0.25 },
  nothing: { ratePerS: 50, burst: 1_000, leaves: 0.25 },
  document: { ratePerS: 50, burst: 1_000, leaves: 0.5 },
};

/** What the strangers of one port have together; of the public one a hundred times what an address may ask of market data, where that is more. */
export const strangersTogether = { ratePerS: 2_000, burst: 6_000, addresses: 100 } as const;
