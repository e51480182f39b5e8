// The bounds of the HTTP listeners. Every one exists so that a slow, huge or numerous caller meets a limit instead of
// taking the gateway down; tests tighten them.
export interface HttpLimits {
  /** Largest request body in bytes. */
  readonly bodyBytesMax: number;
  /** Largest request line and headers together, in bytes. */
  readonly headerBytesMax: number;
  /** Time from a connection's beginning to the end of its first request's headers; who is later makes room for others. */
  readonly firstRequestMsMax: number;
  /** Time to send all headers. */
  readonly headersMsMax: number;
  /** Time to send the whole request. */
  readonly requestMsMax: number;
  /** Time that a route may take to answer. */
  readonly handlerMsMax: number;
  /** A connection on which nothing moves for this long is cut, so a client that does not read cannot stay. */
  readonly silenceMsMax: number;
  /** How long an idle connection is kept for another request. */
  readonly keepAliveMsMax: number;
  /** How often the time limits on requests are checked. */
  readonly checkEveryMs: number;
  /** A connection on which nobody showed a token is cut after this long without a request. */
  readonly strangerIdleMsMax: number;
  /** Of all callers; one address gets at most a tenth, unless many share it. */
  readonly connectionsMax: number;
  /** Requests on one connection before it is closed, so that one caller's burst has an end and load spreads again. */
  readonly requestsPerConnectionMax: number;
  /** Requests of one connection that are answered at once; further ones wait their turn. */
  readonly requestsAtOncePerConnectionMax: number;
  /** For so long nothing is read from a connection whose caller proved nothing and asked for more than was left. */
  readonly restMs: number;
}

export const httpLimitsDefault: HttpLimits = {
  bodyBytesMax: 1_048_576,
  headerBytesMax: 16_384,
  firstRequestMsMax: 3_000,
  headersMsMax: 10_000,
  requestMsMax: 30_000,
  handlerMsMax: 30_000,
  silenceMsMax: 60_000,
  keepAliveMsMax: 15_000,
  checkEveryMs: 1_000,
  strangerIdleMsMax: 10_000,
  connectionsMax: 1_024,
  requestsPerConnectionMax: 100,
  requestsAtOncePerConnectionMax: 4,
  restMs: 1_000,
};
