// Chat without a chat service: what people are told stands in the log.
import type { Chat } from "../../ports/chat.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { chatText } from "./chat-text.ts";
import { createSentKeys } from "./sent-keys.ts";

export function logChat({ log, clock }: { readonly log: Log; readonly clock: Clock }): Chat {
  const sent = createSentKeys();
  return {
    name: "log",
    async send(message) {
      const at = clock.now();
      if (sent.has(message.key, at)) return;
      sent.add(message.key, at);
      const fields = { key: message.key, text: chatText(message) };
      if (message.level === "info") log.info("chat message", fields);
      else log.warn("chat message", fields);
    },
    close: async () => undefined,
  };
}
