// The public stream as an iterator: what it asks for, how it resumes, and what it does with a consumer that is slow.
import { describe, expect, it } from "vitest";
import { createPublicClient, type WebSocketConstructor, type WebSocketLike } from "./index.ts";

type Listener = (event: { data?: unknown }) => void;

/** A server that hears what is sent, and answers each connection by its turn. */
function served(...turns: readonly ((socket: FakeSocket, heard: Record<string, unknown>) => void)[]) {
  const sockets: FakeSocket[] = [];
  const heard: Record<string, unknown>[] = [];
  class Socket extends FakeSocket {
    constructor(url: string) {
      super(url, (text) => {
        const message = JSON.parse(text) as Record<string, unknown>;
        heard.push(message);
        turns[Math.min(sockets.length, turns.length) - 1]?.(this, message);
      });
      sockets.push(this);
    }
  }
  return { sockets, heard, WebSocket: Socket as unknown as WebSocketConstructor };
}

class FakeSocket implements WebSocketLike {
  readonly url: string;
  isClosed = false;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #hear: (text: string) => void;

  constructor(url: string, hear: (text: string) => void) {
    this.url = url;
    this.#hear = hear;
    queueMicrotask(() => this.#tell("open"));
  }

  addEventListener(type: "open" | "close" | "error" | "message", listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  #tell(type: string, event: { data?: unknown } = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }

  send(text: string): void {
    this.#hear(text);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    queueMicrotask(() => this.#tell("close"));
  }

  say(frame: object): void {
    this.#tell("message", { data: JSON.stringify(frame) });
  }
}

const snapshot = (channel: string, sequence: number, data: unknown = []) => ({
  type: "snapshot",
  channel,
  sequence,
  data,
});
const update = (channel: string, sequence: number, data: unknown = {}, skipped = 0) => ({
  channel,
  sequence,
  skipped,
  data,
});
const updates = (...items: readonly object[]) => ({ type: "updates", items });
const retry = { firstPauseMs: 1, pauseMsMax: 2 };
const baseUrl = "http://127.0.0.1:1/desk";

describe("the public stream", () => {
  it("subscribes, gives snapshot and updates, and resumes halts after a connection broke", async () => {
    const { sockets, heard, WebSocket } = served(
      (socket) => {
        socket.say({ type: "welcome", heartbeat_s: 10 });
        socket.say({ type: "subscribed", id: "1", channels: ["halts", "quotes:AAPL"] });
        socket.say(snapshot("halts", 16));
        socket.say(updates(update("halts", 17, { halt_id: "h" }), update("quotes:AAPL", 4)));
        socket.say({ type: "heartbeat" });
        socket.close();
      },
      (socket) => {
        socket.say(updates(update("halts", 18)));
        socket.say({ type: "gap", channel: "halts", sequence: 30 });
      },
    );
    const client = createPublicClient({ baseUrl, retry, WebSocket });
    const items: unknown[] = [];
    for await (const { type, channel, sequence } of client.stream({ quotes: ["AAPL"], halts: true })) {
      items.push([type, channel, sequence]);
      if (type === "gap") break;
    }
    expect(items).toEqual([
      ["snapshot", "halts", 16],
      ["update", "halts", 17],
      ["update", "quotes:AAPL", 4],
      ["update", "halts", 18],
      ["gap", "halts", 30],
    ]);
    expect(sockets[0]?.url).toBe("ws://127.0.0.1:1/desk/v1/stream");
    expect(heard).toEqual([
      { type: "subscribe", id: "1", quotes: ["AAPL"], halts: true },
      { type: "subscribe", id: "1", quotes: ["AAPL"], halts: true, resume: { halts: 17 } },
    ]);
    expect(sockets.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it("keeps the newest quote for a consumer that is slow, and every halt", async () => {
    const { WebSocket } = served((socket) => {
      socket.say(updates(update("quotes:AAPL", 1), update("halts", 1)));
      socket.say(updates(update("quotes:AAPL", 2), update("halts", 2)));
      socket.say(updates(update("quotes:AAPL", 5, {}, 2), update("quotes:MSFT", 1)));
    });
    const items: unknown[] = [];
    for await (const { channel, sequence, skipped } of createPublicClient({ baseUrl, retry, WebSocket }).stream({})) {
      items.push([channel, sequence, skipped]);
      if (items.length === 4) break;
    }
    expect(items).toEqual([
      ["quotes:AAPL", 5, 4],
      ["halts", 1, 0],
      ["halts", 2, 0],
      ["quotes:MSFT", 1, 0],
    ]);
  });

  it("throws what the server refuses, ends when the caller gives up, and says when there is no WebSocket", async () => {
    const { WebSocket } = served((socket) =>
      socket.say({ type: "error", id: "1", code: "UNKNOWN_SYMBOL", detail: "no such" }),
    );
    const refused = createPublicClient({ baseUrl, retry, WebSocket }).stream({ quotes: ["NONE"] });
    await expect(refused.next()).rejects.toThrow(/UNKNOWN_SYMBOL no such/);
    const quiet = served(() => undefined);
    const giveUp = new AbortController();
    const waiting = createPublicClient({ baseUrl, retry, WebSocket: quiet.WebSocket }).stream(
      {},
      { signal: giveUp.signal },
    );
    setTimeout(() => giveUp.abort(), 5);
    expect(await waiting.next()).toEqual({ done: true, value: undefined });
    expect(quiet.sockets[0]?.isClosed).toBe(true);
  });
});
