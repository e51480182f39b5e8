// HTTP routes as data: the gateway declares them, the HTTP adapter mounts them on the listener that they name, checks who calls
// before anything else, validates what came against the route's schemas, and writes OpenAPI from them.
import type { Operation } from "../contracts/src/authority.ts";
import type { Schema } from "../contracts/src/schema.ts";
import type { Identity } from "./identity.ts";

export interface HttpRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly requestId: string;
  /** Who calls, as proved; undefined only where the table of authority lets anyone in and no token was sent. */
  readonly identity: Identity | undefined;
  /**
   * The token that proved it, for asking a service on the caller's behalf; undefined where there is no identity. It is asked for and not
   * carried, so that nothing that prints or copies a request can leak it.
   */
  bearer(): string | undefined;
  /** The caller's address as the listener saw it, or as a trusted proxy reported it. */
  readonly remoteAddress: string;
  /** As the route's schemas made them; without a schema there is nothing. */
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The caller's Idempotency-Key, where the route takes one and it was sent; whoever gets the first answer again says so. */
  readonly idempotency?: IdempotencyAsked | undefined;
}

export interface IdempotencyAsked {
  readonly key: string;
  /** The path that was asked for. */
  readonly path: string;
  replayed(): void;
}

/** An answer without an end of its own. */
export interface HttpStream {
  /** Asked for the next piece when the one before has been taken; the signal aborts when nobody reads any more. */
  pieces(signal: AbortSignal): AsyncIterable<string>;
  /** Called once it is over, also when it never began. More than once is once. */
  close(): void;
}

export interface HttpAnswer {
  readonly status: number;
  /**
   * An object is sent as JSON (as problem+json from status 400 on); a string is sent as it is with `contentType`, and so are bytes
   * (a Uint8Array), whose usual type is application/octet-stream. A stream is sent as it comes, as text/event-stream.
   */
  readonly body: object | string | HttpStream;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Listener = "operator" | "public";

/** One end of a conversation over a WebSocket. */
export interface SocketConnection {
  /** The address that is counted: an IPv4 address, or an IPv6 /64. */
  readonly caller: string;
  /** Sends one text frame, given as text or as its UTF-8 bytes; nothing after a close. */
  send(text: string | Uint8Array): void;
  /** Bytes that were sent and have not left this process yet. */
  bufferedBytes(): number;
  close(code: number, reason: string): void;
}

export interface SocketSession {
  hear(text: string): void;
  /** Called once, however it ended. */
  closed(): void;
}

interface SocketClosing {
  readonly code: number;
  readonly reason: string;
}

/** A path under which a listener takes WebSockets. */
export interface SocketRoute {
  readonly path: string;
  readonly listener: Listener;
  /** One human sentence, for the reference. */
  readonly sentence: string;
  /** The row of the table of authority that guards it. */
  readonly operation: Operation;
  /** What a handshake costs of its address's tokens. */
  readonly publicCost: number;
  readonly messageBytesMax: number;
  /** How it ends for a message that is too large, and for one that is no text. */
  readonly closings: { readonly tooLarge: SocketClosing; readonly malformed: SocketClosing };
  /** Undefined when the connection was closed at once. */
  open(connection: SocketConnection): SocketSession | undefined;
  /** The listener drains: every client is told so and closed. */
  shutDown(): void;
}

/** How a route is left behind: it answers as before, and says so, until `sunset`. Dates such as 2026-11-15. */
interface Deprecation {
  readonly since: string;
  readonly sunset: string;
  /** What to use: the id of another route, or a sentence. */
  readonly instead: string;
}

/** A request that the route's schemas accept, as it stands in an address and a body. What it leaves out is made up from the schemas. */
export interface RouteExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Of an answer that is text. */
  readonly answer?: string;
}

/** Who sends to a route with an intake of its own. */
export interface IntakeCaller {
  readonly requestId: string;
  readonly remoteAddress: string;
  /** What a proxy, or anybody, wrote into X-Forwarded-For; proves nothing. */
  readonly forwardedFor: string | undefined;
}

/** What the listener refuses by itself: 400 no JSON, 403 the address, 408 too slow, 413 too large, 415 another type, 503 no answer in time. */
export interface IntakeRefusal extends IntakeCaller {
  readonly status: 400 | 403 | 408 | 413 | 415 | 503;
  readonly detail: string;
}

/**
 * For a route whose senders are no clients of ours: it reads its body by rules of its own and answers for them in its own words. In this order: the
 * declared length, the address, the content type, the length while reading, JSON.
 */
export interface Intake {
  /** Exactly this many pass, declared or chunked. */
  readonly bodyBytesMax: number;
  /** From the head of a request to its answer; nobody waits longer. */
  readonly answerMsMax: number;
  /** Asked before a byte of the body is read. */
  admits(caller: IntakeCaller): boolean;
  refuse(refused: IntakeRefusal): Promise<HttpAnswer>;
}

/** Is shown the body's bytes as they come. */
export interface BytesReader {
  take(piece: Uint8Array): void;
}

/** For a route that judges the bytes of its body, and is handed the reader that saw them as its body. */
export interface ByteIntake {
  /** Exactly this many pass, declared or chunked. */
  readonly bodyBytesMax: number;
  /** From the head of a request to its answer; nobody waits longer. */
  readonly answerMsMax: number;
  /** Asked before a byte of the body is read; an answer turns the caller away. */
  admits(caller: IntakeCaller): HttpAnswer | undefined;
  begin(caller: IntakeCaller): Promise<BytesReader>;
  refuse(status: 400 | 408 | 413 | 415 | 503): HttpAnswer;
}

/** "events" is a stream of text/event-stream; the others are what they say. */
type AnswerForm = "text" | "html" | "css" | "bytes" | "events";

export interface Route {
  /** Its name in OpenAPI and the method of the generated client: "getIdentity". */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Parameters in colons: "/v1/service-tokens/:token_id"; a last one with a star takes the rest with its slashes: "/log/:path*". */
  readonly path: string;
  readonly listeners: readonly Listener[];
  /** One human sentence, for the reference and OpenAPI. */
  readonly sentence: string;
  /** The row of the table of authority that guards it. */
  readonly operation: Operation;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly body?: Schema;
  /** What it answers when all is well, by status; a word for what is not JSON. */
  readonly answers: Readonly<Record<number, Schema | AnswerForm>>;
  /** Asked for with `follow`, it answers without an end: one JSON object a line (application/x-ndjson). */
  readonly follows?: true;
  /** Attempts a minute, for routes that guessers would try: per person where a login is needed, else per address. */
  readonly attemptsPerMinuteMax?: number;
  /** Its body is JSON, sent as application/json or as text/plain, and refused in the route's own words. */
  readonly intake?: Intake;
  /** Its body is bytes, of the type application/json, that are judged before anything is made of them; it has no schema. */
  readonly byteIntake?: ByteIntake;
  /** Of the public listener: what a request costs of the tokens that its address has, over all such routes. */
  readonly publicCost?: number;
  /** Its answer's ETag is a version: a GET may be asked whether it changed, a PUT may be bound to one by If-Match. */
  readonly versioned?: true;
  /** Its answer is bytes that were made once, with their ETag; `answers` describes them and is not held against each. */
  readonly document?: true;
  readonly deprecated?: Deprecation;
  /** Its answer carries a secret, which is never kept; `id` is the member that names what was made, where there is one. */
  readonly answersSecret?: { readonly id?: string };
  /** It never waits for its Idempotency-Key and is never refused for it; says whether two answers are about the same. */
  readonly neverWaitsForKey?: { isSame(first: object, now: object): boolean };
  /** For the reference. */
  readonly example?: RouteExample;
  handle(request: HttpRequest): Promise<HttpAnswer>;
}
