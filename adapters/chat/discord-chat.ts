// Chat through a Discord-compatible message API: one request per message, one at a time, at the pace that the service allows.
//
// The service tells its limits in headers: when `X-RateLimit-Remaining` is 0 nothing is sent for `X-RateLimit-Reset-After` seconds, and after a 429
// nothing for `Retry-After` seconds, which may hold for every channel. A nonce that follows from the message's key lets the service itself refuse a
// repetition whose first answer was lost.
import { Fault } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Chat, ChatMessage } from "../../ports/chat.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { Timers } from "../../ports/timers.ts";
import { chatText } from "./chat-text.ts";
import { createSentKeys } from "./sent-keys.ts";

interface DiscordChatOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly sha256: Sha256;
  /** `https://discord.com/api/v10`. */
  readonly baseUrl: string;
  readonly channelId: string;
  /** Asked for every message, so that a new token needs no restart; undefined when there is none. */
  token(): Promise<string | undefined>;
}

/** Messages that wait for their turn; one more is refused. */
const queueMax = 100;
const attemptMsMax = 10_000;
const pauseMsMin = 250;
const pauseMsMax = 5_000;
/** No service means longer than this; a clock or a unit is wrong then. */
const limitMsMax = 900_000;
/** Suppresses previews of links. */
const noPreviews = 4;
const nonceLength = 25;

/** What one attempt came to. */
type Attempt =
  | { readonly isSent: true }
  | { readonly isSent: false; readonly why: string; readonly isFinal: boolean; readonly pauseMs?: number };

export function discordChat(options: DiscordChatOptions): Chat {
  const { clock, timers } = options;
  const url = `${checkedBase(options.baseUrl)}/channels/${options.channelId}/messages`;
  const sent = createSentKeys();
  const underWay = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** The service wants nothing before. */
  let notBefore = 0 as Instant;

  async function attempt(message: ChatMessage, deadline: Instant): Promise<Attempt> {
    const token = await options.token();
    if (token === undefined) return { isSent: false, why: "there is no token for it among the secrets", isFinal: true };
    if (!/^[\x21-\x7e]+$/.test(token)) return { isSent: false, why: "its token is no token", isFinal: true };
    const late = new AbortController();
    const leftMs = Math.min(millisecondsBetween(clock.now(), deadline), attemptMsMax);
    const cancel = timers.after(leftMs, () => late.abort());
    try {
      const response = await fetch(url, {
        method: "POST",
        redirect: "manual",
        headers: {
          authorization: `Bot ${token}`,
          "content-type": "application/json",
          "user-agent": "DiscordBot (portcullis, 1)",
        },
        body: JSON.stringify({
          content: chatText(message),
          allowed_mentions: { parse: [] },
          flags: noPreviews,
          nonce: nonceOf(options.sha256, message.key),
          enforce_nonce: true,
        }),
        signal: AbortSignal.any([late.signal, closing.signal]),
      });
      await response.body?.cancel();
      return judge(response);
    } catch (thrown) {
      // What fetch says may repeat the request, so none of it goes further.
      if (closing.signal.aborted) return { isSent: false, why: "it was closed", isFinal: true };
      if (!(thrown instanceof Error)) throw thrown;
      return {
        isSent: false,
        why: late.signal.aborted ? "it did not answer in time" : "it cannot be reached",
        isFinal: false,
      };
    } finally {
      cancel();
    }
  }

  /** Takes note of the limits, whatever the answer was. */
  function judge(response: Response): Attempt {
    const { status, headers } = response;
    const resetMs = secondsIn(headers.get("x-ratelimit-reset-after"));
    if (headers.get("x-ratelimit-remaining") === "0" && resetMs !== undefined) holdBack(resetMs);
    if (status >= 200 && status < 300) return { isSent: true };
    if (status === 429) {
      const pauseMs = secondsIn(headers.get("retry-after")) ?? resetMs ?? pauseMsMax;
      holdBack(pauseMs);
      return { isSent: false, why: "it limits our rate", isFinal: false, pauseMs: 0 };
    }
    if (status >= 500) return { isSent: false, why: `it answered with status ${status}`, isFinal: false };
    return { isSent: false, why: `it answered with status ${status}`, isFinal: true };
  }

  function holdBack(ms: number): void {
    const until = plusMilliseconds(clock.now(), ms);
    if (until > notBefore) notBefore = until;
  }

  async function deliver(message: ChatMessage, deadline: Instant): Promise<void> {
    for (let count = 0; ; count += 1) {
      const heldMs = millisecondsBetween(clock.now(), notBefore);
      const now = clock.now();
      if (closing.signal.aborted) throw unavailable("it was closed");
      if (now >= deadline) throw unavailable("its turn did not come in time");
      if (heldMs > 0) {
        if (plusMilliseconds(now, heldMs) >= deadline) throw unavailable("it limits our rate");
        await timers.sleep(heldMs, closing.signal);
        continue;
      }
      const result = await attempt(message, deadline);
      if (result.isSent) return void sent.add(message.key, clock.now());
      const pauseMs = result.pauseMs ?? Math.min(pauseMsMin * 2 ** count, pauseMsMax);
      if (result.isFinal || plusMilliseconds(clock.now(), pauseMs) >= deadline) throw unavailable(result.why);
      await timers.sleep(pauseMs, closing.signal);
    }
  }

  return {
    name: "discord",
    send(message, deadlineMs) {
      const now = clock.now();
      if (sent.has(message.key, now)) return Promise.resolve();
      const same = underWay.get(message.key);
      if (same !== undefined) return same;
      if (waiting >= queueMax) return Promise.reject(unavailable(`${queueMax} messages wait already`));
      waiting += 1;
      const deadline = plusMilliseconds(now, deadlineMs);
      const delivering = last
        .then(() => deliver(message, deadline))
        .finally(() => {
          waiting -= 1;
          underWay.delete(message.key);
        });
      underWay.set(message.key, delivering);
      last = delivering.catch(() => undefined);
      return delivering;
    },
    async close() {
      closing.abort();
      await last;
    },
  };
}

function unavailable(why: string): Fault {
  return new Fault("CHAT_UNAVAILABLE", `The chat service did not take a message: ${why}.`, { retry: "later" });
}

function secondsIn(text: string | null): number | undefined {
  const seconds = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds * 1_000), limitMsMax) : undefined;
}

function nonceOf(sha256: Sha256, key: string): string {
  return Array.from(sha256(key), (byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .slice(0, nonceLength);
}

/** The token travels with every message, so never in clear to another machine. */
function checkedBase(address: string): string {
  const url = new URL(address);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !isLoopback) {
    const sentence = `chat.base_url is ${url.protocol}// to another machine (${url.hostname}): use https://.`;
    throw new Fault("CONFIGURATION_INVALID", sentence, { retry: "never" });
  }
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
}
