// Chat: where people are notified. The default writes to the log; the real one is a chat service's message API.
//
// What every adapter promises (testkit/conformance/chat.ts):
//  1. `send` resolves when the service has taken the message, and rejects with CHAT_UNAVAILABLE when it has not; it never says sent for queued.
//  2. It obeys the service's rate limits by waiting, never longer than `deadlineMs`.
//  3. A message is cut to the service's length, visibly; nothing in it can mention everybody or break out of its form.
//  4. The same key within an hour is one message.
export interface ChatMessage {
  /** De-duplicates: for example the alarm's code and what it is about. */
  readonly key: string;
  readonly level: "info" | "warning" | "critical";
  readonly title: string;
  readonly text: string;
  /** Shown as a small table. */
  readonly facts?: Readonly<Record<string, string>>;
}

export interface Chat {
  readonly name: string;
  send(message: ChatMessage, deadlineMs: number): Promise<void>;
  close(): Promise<void>;
}
