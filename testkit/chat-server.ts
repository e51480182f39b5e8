// A chat service of our own for tests: Discord's message API as far as a bot needs it, with its rate limits, its length and its nonces.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatPosting {
  readonly channelId: string;
  readonly content: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ChatServerOptions {
  readonly token: string;
  /** So many messages per window and channel. */
  readonly limit?: number;
  readonly windowMs?: number;
  /** The time of its windows, in milliseconds; the machine's unless a test says otherwise. */
  readonly now?: () => number;
  /** Whether the headers tell how many are left; without, only a 429 does. */
  readonly tellsLimits?: boolean;
}

export interface ChatServer {
  readonly url: string;
  /** What was taken, in order. */
  readonly postings: ChatPosting[];
  /** The status of every answer. */
  readonly statuses: number[];
  /** From now on: answer like this; "silence" never does, "lost" takes the message and breaks the connection. */
  mood: "well" | "silence" | "lost" | number;
  close(): Promise<void>;
}

const contentLengthMax = 2_000;

export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const { limit = 5, windowMs = 5_000, tellsLimits = true, now: nowMs = () => performance.now() } = options;
  const windows = new Map<string, { from: number; count: number }>();
  const nonces = new Set<string>();
  const state: Omit<ChatServer, "url" | "close"> = { postings: [], statuses: [], mood: "well" };

  function answer(outgoing: ServerResponse, status: number, body: object): void {
    state.statuses.push(status);
    outgoing.setHeader("content-type", "application/json");
    outgoing.writeHead(status).end(JSON.stringify(body));
  }

  /** Counts the request in its window; gives the seconds until the next when it is full. */
  function limited(channelId: string, outgoing: ServerResponse): number | undefined {
    const now = nowMs();
    const before = windows.get(channelId);
    const window = before === undefined || now - before.from >= windowMs ? { from: now, count: 0 } : before;
    windows.set(channelId, window);
    window.count += 1;
    const resetS = Math.ceil(window.from + windowMs - now + 1) / 1_000;
    if (tellsLimits) {
      outgoing.setHeader("x-ratelimit-limit", String(limit));
      outgoing.setHeader("x-ratelimit-remaining", String(Math.max(0, limit - window.count)));
      outgoing.setHeader("x-ratelimit-reset-after", resetS.toFixed(3));
      outgoing.setHeader("x-ratelimit-bucket", "messages");
    }
    return window.count > limit ? resetS : undefined;
  }

  function take(channelId: string, body: Record<string, unknown>): void {
    const nonce = String(body["nonce"] ?? "");
    if (body["enforce_nonce"] === true && nonces.has(nonce)) return;
    nonces.add(nonce);
    state.postings.push({ channelId, content: String(body["content"]), body });
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = JSON.parse(await bodyOf(incoming)) as Record<string, unknown>;
    const channelId = /^\/api\/v10\/channels\/([0-9]+)\/messages$/.exec(incoming.url ?? "")?.[1];
    if (incoming.method !== "POST" || channelId === undefined) return answer(outgoing, 404, { message: "no", code: 0 });
    if (incoming.headers.authorization !== `Bot ${options.token}`) {
      return answer(outgoing, 401, { message: "401: Unauthorized", code: 0 });
    }
    if (state.mood === "silence") return undefined;
    if (typeof state.mood === "number") return answer(outgoing, state.mood, { message: "not now", code: 0 });
    const waitS = limited(channelId, outgoing);
    if (waitS !== undefined) {
      outgoing.setHeader("retry-after", waitS.toFixed(3));
      return answer(outgoing, 429, { message: "You are being rate limited.", retry_after: waitS, global: false });
    }
    const { content } = body;
    if (typeof content !== "string" || content === "" || content.length > contentLengthMax) {
      return answer(outgoing, 400, { message: "Invalid Form Body", code: 50_035 });
    }
    take(channelId, body);
    if (state.mood === "lost") return void outgoing.destroy();
    answer(outgoing, 200, { id: String(state.postings.length), channel_id: channelId, content });
  }

  const server: Server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}/api/v10`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
