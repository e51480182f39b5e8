// A fifth place where a library is reached behind its interface, and the second in Node's own. An answer is headers, a message and trailers. Between the
// message and the trailers Node's HTTP/2 goes round its event loop three times: until the message has left, until the end of the stream was
// noticed, and until the trailers may be handed over. A busy loop takes a millisecond for each round, and every caller waits for all of them.
// Here the stream ends in the turn that writes the message, and the trailers are handed over at the moment at which Node asks for them; all
// three then leave in one write. (The HTTP/2 library below Node provides for trailers to be given there. What may end a stream is put off, as in Node.)
//
//  1. Only answers of the Node versions for which this was tried, and only streams that look as expected, are sent like this; all others as ever.
//  2. It changes when bytes leave, never which.
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { versions } from "node:process";

interface State {
  flags: number;
}

interface Handle {
  /** Names, values and flags in a row, and how many there are; below 0 is an error. */
  trailers(list: readonly [string, number]): number;
}

interface Symbols {
  readonly state: symbol;
  readonly handle: symbol;
  readonly maybeDestroy: symbol;
}

type Inside = ServerHttp2Stream & Record<symbol, unknown>;

/** Node's note that a stream has trailers to come; as long as it stands, the end of a stream waits for its last message to leave. */
const hasTrailers = 0x20;
/** Whether the Node that runs this is one of those. */
export const isTriedNode = ["20", "22", "24"].includes(versions.node.split(".")[0] ?? "");

/** The same for all streams of a process; looked for in the first one. */
let found: Symbols | "none" | undefined;

/**
 * Call it before the message of an answer is written, and `endInOneWrite` in the same turn. False: nothing was changed, and nothing needs to be.
 */
export function prepareOneWrite(stream: ServerHttp2Stream): boolean {
  if (!isTriedNode) return false;
  found ??= symbolsOf(stream);
  if (found === "none") return false;
  const inside = stream as Inside;
  const state = inside[found.state] as State | undefined;
  const handle = inside[found.handle] as Partial<Handle> | undefined;
  if (typeof state?.flags !== "number" || (state.flags & hasTrailers) === 0) return false;
  if (typeof handle?.trailers !== "function") return false;
  stream.sendTrailers = sendTrailersNow;
  stream.destroy = destroyWhenWritten;
  // Node reads its note when the message is written and when that turn ends; without it the stream ends there at once.
  state.flags &= ~hasTrailers;
  return true;
}

/** Call it when message and status were given, or could not be. */
export function endInOneWrite(stream: ServerHttp2Stream): void {
  if (found === undefined || found === "none") return;
  const state = (stream as Inside)[found.state] as State;
  // Behind Node's own read the end of this turn.
  process.nextTick(noteTrailers, state);
}

function noteTrailers(state: State): void {
  state.flags |= hasTrailers;
}

function sendTrailersNow(this: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  if (found === undefined || found === "none" || this.destroyed || this.closed) return;
  const inside = this as Inside;
  (inside[found.state] as State).flags &= ~hasTrailers;
  const code = (inside[found.handle] as Handle).trailers(listOf(headers));
  setImmediate(settle, this, code);
}

/** A turn later, because what this may destroy is still in use where trailers are asked for. */
function settle(stream: ServerHttp2Stream, code: number): void {
  if (stream.destroyed || found === undefined || found === "none") return;
  if (code < 0) stream.destroy(new Error(`The trailers of an answer could not be sent (${code}).`));
  else ((stream as Inside)[found.maybeDestroy] as () => void).call(stream);
}

/**
 * Node takes a stream down when its last frame was made, which is now a moment before the write that carries the frame has ended; and then it
 * makes an error for those who might wait for that write, with a stack, which costs as much as a small call. A turn later the write has ended.
 */
function destroyWhenWritten(this: ServerHttp2Stream, error?: Error): ServerHttp2Stream {
  this.destroy = (Object.getPrototypeOf(this) as ServerHttp2Stream).destroy;
  if (error !== undefined || this.destroyed || this.writableLength === 0) return this.destroy(error);
  setImmediate(destroyNow, this);
  return this;
}

function destroyNow(stream: ServerHttp2Stream): void {
  stream.destroy();
}

function listOf(headers: OutgoingHttpHeaders): readonly [string, number] {
  let text = "";
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      text += `${name.toLowerCase()}\0${String(each)}\0\0`;
      count += 1;
    }
  }
  return [text, count];
}

function symbolsOf(stream: ServerHttp2Stream): Symbols | "none" {
  const byName = new Map<string | undefined, symbol>();
  for (let place: object | null = stream; place !== null; place = Object.getPrototypeOf(place)) {
    for (const symbol of Object.getOwnPropertySymbols(place)) {
      if (!byName.has(symbol.description)) byName.set(symbol.description, symbol);
    }
  }
  const [state, handle, maybeDestroy] = ["state", "kHandle", "kMaybeDestroy"].map((name) => byName.get(name));
  if (state === undefined || handle === undefined || maybeDestroy === undefined) return "none";
  if (typeof (stream as Inside)[maybeDestroy] !== "function") return "none";
  return { state, handle, maybeDestroy };
}
