// A fourth place where a library is reached behind its interface, this time Node's own. Each HTTP/2 session keeps its open streams in a Map. A Map that
// gains and loses an entry with every call is laid out anew every few calls, and V8 lets each layout point to the next one, for iterators. One of
// them that has grown old keeps alive all that follow it, with the calls that were open at each of those moments: calls that have long been answered are
// copied by every small collection and wait for a large one. At a thousand calls a second that made the collector's pauses three times as long.
// Here the entries are kept in an object, whose layouts do not know each other. Where Node keeps its streams elsewhere nothing is changed.
import type { ServerHttp2Session } from "node:http2";

/** As a session uses them: by number, in the order of their numbers, which is the order in which they are opened. */
export class StreamsByNumber<Stream> implements Map<number, Stream> {
  private held: Record<number, Stream> = Object.create(null);
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(id: number): boolean {
    return id in this.held;
  }

  get(id: number): Stream | undefined {
    return this.held[id];
  }

  set(id: number, stream: Stream): this {
    if (!(id in this.held)) this.count += 1;
    this.held[id] = stream;
    return this;
  }

  delete(id: number): boolean {
    if (!(id in this.held)) return false;
    delete this.held[id];
    this.count -= 1;
    return true;
  }

  clear(): void {
    this.held = Object.create(null);
    this.count = 0;
  }

  forEach(run: (stream: Stream, id: number, all: Map<number, Stream>) => void, self?: unknown): void {
    for (const [id, stream] of this.entries()) run.call(self, stream, id, this);
  }

  /** Whoever leaves while they are walked through is passed over. */
  *entries(): Generator<[number, Stream], undefined> {
    for (const key of Object.keys(this.held)) {
      const id = Number(key);
      const stream = this.held[id];
      if (stream !== undefined) yield [id, stream];
    }
    return undefined;
  }

  *keys(): Generator<number, undefined> {
    for (const [id] of this.entries()) yield id;
    return undefined;
  }

  *values(): Generator<Stream, undefined> {
    for (const [, stream] of this.entries()) yield stream;
    return undefined;
  }

  [Symbol.iterator](): Generator<[number, Stream], undefined> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "Map";
  }
}

interface Inside {
  streams?: unknown;
}

/** Call it before the session has its first stream; true when it took hold. */
export function keepStreamsByNumber(session: ServerHttp2Session): boolean {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === "state");
  if (symbol === undefined) return false;
  const inside = (session as unknown as Record<symbol, Inside | undefined>)[symbol];
  if (inside === undefined || !isEmptyMap(inside.streams)) return false;
  inside.streams = new StreamsByNumber();
  return true;
}

/** Node's own Maps are no instances of ours. */
function isEmptyMap(streams: unknown): boolean {
  const { size, set, get, delete: leave } = (streams ?? {}) as Partial<Map<number, unknown>>;
  return size === 0 && [set, get, leave].every((method) => typeof method === "function");
}
