// biome-ignore-all lint/performance/noBarrelFile: the one entry of a published package.
// Everything that the package promises to its users.
export { type ClientOptions, createClient, type TokenSource } from "./client.ts";
export { ApiError, type ApiErrorFacts, type Problem, UnreachableError } from "./errors.ts";
export type { AnswerOf, ArgumentsOf, CallOptions, Client, OperationId } from "./types.ts";
