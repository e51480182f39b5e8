// The public stream as an async iterator: it subscribes, reconnects by itself and resumes, so that halts and closed bars that happened meanwhile still come.
// What is lost for good is reported as a gap, never left out in silence. A consumer that is slow gets the newest quote of each symbol.
import type { CallOptions } from "./call-options.ts";
import { type Connection, readJson } from "./connection.ts";
import { jittered, pause } from "./retry.ts";

export interface StreamAsked {
  readonly quotes?: readonly string[];
  /** Symbol and interval: "AAPL:1m". */
  readonly bars?: readonly string[];
  readonly funds?: boolean;
  readonly halts?: boolean;
}

/** `snapshot` is how things stand, `update` what changed since, `gap` that something of a channel is lost. */
export interface StreamItem {
  readonly type: "snapshot" | "update" | "gap";
  /** `quotes:AAPL`, `bars:AAPL:1m`, `funds` or `halts`. */
  readonly channel: string;
  readonly sequence: number;
  /** How many older values this one stands for. */
  readonly skipped: number;
  readonly data: unknown;
}

/** As browsers and Node have it. */
export interface WebSocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "close" | "error" | "message", listener: (event: { data?: unknown }) => void): void;
}
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** The server sends a heartbeat every ten seconds. */
const silenceMsMax = 30_000;
const queuedMax = 10_000;

export async function* followStream(
  asked: StreamAsked,
  { signal }: Pick<CallOptions, "signal">,
  connection: Connection,
  given?: WebSocketConstructor,
): AsyncGenerator<StreamItem> {
  const Socket = given ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (Socket === undefined) {
    throw new TypeError(
      "This platform has no WebSocket: use Node 22 or newer, or hand one in as the option WebSocket.",
    );
  }
  const url = `${connection.baseUrl.replace(/^http/, "ws")}/v1/stream`;
  /** The newest sequence of each channel that can be resumed. */
  const reached = new Map<string, number>();
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    for (let failures = 0; !stop.signal.aborted; ) {
      const inbox = openInbox(new Socket(url), subscription(asked, reached), stop.signal);
      try {
        for (let item = await inbox.next(); item !== undefined; item = await inbox.next()) {
          failures = 0;
          if (isResumable(item.channel)) reached.set(item.channel, item.sequence);
          yield item;
        }
      } finally {
        inbox.close();
      }
      failures += 1;
      const waitMs = Math.max(inbox.reconnectAfterMs(), jittered(failures, connection.retry));
      await pause(waitMs, stop.signal).catch(() => undefined);
    }
  } finally {
    signal?.removeEventListener("abort", giveUp);
    stop.abort();
  }
}

/** Of quotes and funds only the newest matters, which a new snapshot has. */
function isResumable(channel: string): boolean {
  return channel === "halts" || channel.startsWith("bars:");
}

function subscription(asked: StreamAsked, reached: ReadonlyMap<string, number>): object {
  const resume = Object.fromEntries(reached);
  return { type: "subscribe", id: "1", ...asked, ...(reached.size === 0 ? {} : { resume }) };
}

interface Inbox {
  /** Undefined when the connection is over. */
  next(): Promise<StreamItem | undefined>;
  reconnectAfterMs(): number;
  close(): void;
}

/** What came and was not taken yet; bounded, because a socket cannot be told to wait. */
function openInbox(socket: WebSocketLike, subscribe: object, signal: AbortSignal): Inbox {
  const queue: StreamItem[] = [];
  let isOver = false;
  let failed: Error | undefined;
  let reconnectAfterMs = 0;
  let wake = (): void => undefined;
  let timer = setTimeout(end, silenceMsMax);
  function end(): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    socket.close();
    wake();
  }
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  socket.addEventListener("open", () => socket.send(JSON.stringify(subscribe)));
  socket.addEventListener("close", end);
  socket.addEventListener("error", end);
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    clearTimeout(timer);
    timer = setTimeout(end, silenceMsMax);
    const frame = typeof data === "string" ? (readJson(data)?.value as Frame | undefined) : undefined;
    if (frame?.type === "shutdown") reconnectAfterMs = Number(frame["reconnect_after_s"] ?? 0) * 1_000;
    if (frame?.type === "error")
      failed = new Error(`The stream refused: ${String(frame["code"])} ${String(frame["detail"])}`);
    for (const item of itemsOf(frame)) addTo(queue, item);
    if (failed !== undefined || queue.length > queuedMax) end();
    else wake();
  });
  return {
    async next() {
      while (queue.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const item = queue.shift();
      if (item === undefined && failed !== undefined) throw failed;
      return item;
    },
    reconnectAfterMs: () => reconnectAfterMs,
    close: end,
  };
}

type Frame = Readonly<Record<string, unknown>> & { readonly type?: unknown };

function itemsOf(frame: Frame | undefined): readonly StreamItem[] {
  if (frame === undefined) return [];
  if (frame.type === "updates" && Array.isArray(frame["items"])) {
    return frame["items"].map((item: Frame) => itemOf("update", item));
  }
  return frame.type === "snapshot" || frame.type === "gap" ? [itemOf(frame.type, frame)] : [];
}

function itemOf(type: StreamItem["type"], item: Frame): StreamItem {
  const { channel, sequence, skipped, data } = item;
  return { type, channel: String(channel), sequence: Number(sequence ?? 0), skipped: Number(skipped ?? 0), data };
}

/** A quote that was not taken yet makes way for a newer one, which says how many it stands for. */
function addTo(queue: StreamItem[], item: StreamItem): void {
  const isConflated = item.type === "update" && item.channel.startsWith("quotes:");
  const at = isConflated ? queue.findIndex(({ type, channel }) => type === "update" && channel === item.channel) : -1;
  const older = queue[at];
  if (older === undefined) queue.push(item);
  else queue[at] = { ...item, skipped: item.skipped + older.skipped + 1 };
}
