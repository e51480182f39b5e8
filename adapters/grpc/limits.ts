// The bounds of a gRPC server. Every one exists so that a slow, huge or numerous caller meets a limit; tests tighten them.
export interface GrpcLimits {
  readonly receiveBytesMax: number;
  readonly sendBytesMax: number;
  /** A call is given up this long after its headers came, complete or not, whatever deadline its caller set. */
  readonly callMsMax: number;
  /** A unary request must be complete this long after its headers: what is half sent takes the room of somebody honest. */
  readonly requestMsMax: number;
  /** Calls that have begun and not ended; one more is refused instead of making all of them late. */
  readonly callsInFlightMax: number;
  /** Requests of one stream that are not answered yet; further ones are left unread. */
  readonly streamRequestsInFlightMax: number;
  /** How often the caller of a stream is checked again; a revocation reaches it this much later than others. */
  readonly reverifyMs: number;
  /** Streams that follow the health of this server, and those of one connection among them. */
  readonly watchersMax: number;
  readonly watchersPerConnectionMax: number;
  /** Streams that read the schema, open to anybody: how many at once, how long one may live, how many questions it has. */
  readonly schemaStreamsMax: number;
  readonly schemaStreamMsMax: number;
  readonly schemaQuestionsMax: number;
  /** Of all callers; one address gets at most a tenth, unless many share it. */
  readonly connectionsMax: number;
  /** Time from a connection's beginning to the end of its HTTP/2 preface; who is later makes room for others. */
  readonly prefaceMsMax: number;
  /** A connection on which nobody showed a token is cut after this long without a call. */
  readonly strangerIdleMsMax: number;
  /** Calls that a connection may bring on which nobody showed a token: at once (more than it may have open), and a second after that. Beyond it is cut. */
  readonly strangerCallsAtOnceMax: number;
  readonly strangerCallsPerSecondMax: number;
  /** Calls refused in a row on one connection, none let through in between, after which it is closed. */
  readonly refusalsPerConnectionMax: number;
  /** Calls of one connection at once. Callers are told the number, and a well-made one keeps further calls back by itself. */
  readonly streamsPerConnectionMax: number;
  /** A connection without calls is closed after this long; callers reconnect by themselves. */
  readonly connectionIdleMsMax: number;
  /** How often a silent connection is asked for a sign of life, and how long it has to give one. */
  readonly keepaliveMs: number;
  readonly keepaliveAnswerMsMax: number;
}

export const grpcLimitsDefault: GrpcLimits = {
  receiveBytesMax: 4 * 1_048_576,
  sendBytesMax: 16 * 1_048_576,
  callMsMax: 60_000,
  requestMsMax: 5_000,
  callsInFlightMax: 4_096,
  streamRequestsInFlightMax: 256,
  reverifyMs: 1_000,
  watchersMax: 64,
  watchersPerConnectionMax: 4,
  schemaStreamsMax: 16,
  schemaStreamMsMax: 30_000,
  schemaQuestionsMax: 2_000,
  connectionsMax: 512,
  prefaceMsMax: 3_000,
  strangerIdleMsMax: 10_000,
  strangerCallsAtOnceMax: 1_000,
  strangerCallsPerSecondMax: 100,
  refusalsPerConnectionMax: 100,
  streamsPerConnectionMax: 256,
  connectionIdleMsMax: 600_000,
  keepaliveMs: 30_000,
  keepaliveAnswerMsMax: 10_000,
};
