// Which messages were sent within the hour, by their keys: the same one again is no second message. Bounded; the oldest are forgotten first.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";

const rememberMs = 3_600_000;
const keysMax = 10_000;

interface SentKeys {
  has(key: string, at: Instant): boolean;
  add(key: string, at: Instant): void;
}

export function createSentKeys(): SentKeys {
  /** In the order in which they were sent. */
  const sent = new Map<string, Instant>();
  return {
    has(key, at) {
      const sentAt = sent.get(key);
      return sentAt !== undefined && millisecondsBetween(sentAt, at) < rememberMs;
    },
    add(key, at) {
      sent.delete(key);
      sent.set(key, at);
      for (const [oldest, sentAt] of sent) {
        if (sent.size <= keysMax && millisecondsBetween(sentAt, at) < rememberMs) break;
        sent.delete(oldest);
      }
    },
  };
}
