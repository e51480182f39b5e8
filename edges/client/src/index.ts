// biome-ignore-all lint/performance/noBarrelFile: the one entry of a published package.
// Everything that the package promises to its users.
export type { CallOptions, Deprecated } from "./call-options.ts";
export { type ClientOptions, createClient } from "./client.ts";
export type { TokenSource } from "./connection.ts";
export { ApiError, type ApiErrorFacts, type ErrorCode, type Problem, UnreachableError } from "./errors.ts";
export type { EventsAsked, EventsOptions, EventsReset, PlatformEvent } from "./events.ts";
export { createPublicClient, type PublicClientOptions } from "./public-client.ts";
export { createReports, ReportFailedError, type ReportOptions, type Reports } from "./reports.ts";
export type { RetryOptions } from "./retry.ts";
export type { StreamAsked, StreamItem, WebSocketConstructor, WebSocketLike } from "./stream.ts";
export type {
  AnswerOf,
  ArgumentsOf,
  Client,
  OperationId,
  PublicClient,
  PublicOperationId,
} from "./types.ts";
