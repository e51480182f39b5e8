// A chat that remembers whether its service took the last message, so that somebody can ask without sending one.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Chat } from "../../../ports/chat.ts";

export interface WatchedChat extends Chat {
  /** Why the last message was not taken; undefined when it was, and before the first one. */
  complaint(): string | undefined;
}

export function watchChat(chat: Chat): WatchedChat {
  let complaint: string | undefined;
  return {
    name: chat.name,
    async send(message, deadlineMs) {
      try {
        await chat.send(message, deadlineMs);
        complaint = undefined;
      } catch (thrown) {
        complaint = messageOf(thrown);
        throw thrown;
      }
    },
    close: () => chat.close(),
    complaint: () => complaint,
  };
}
