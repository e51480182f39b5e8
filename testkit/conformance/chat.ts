// The suite that every chat passes: one list of checks, each named after the promise of ports/chat.ts that it holds the chat to.
import { afterEach, describe, expect, it } from "vitest";
import type { Chat, ChatMessage } from "../../ports/chat.ts";

export interface ChatFixture {
  readonly chat: Chat;
  /** What people can read, in order. */
  delivered(): readonly string[];
  /** Makes the service refuse or be silent from now on; absent for a chat that cannot be out of reach. */
  breakDown?(how: "refuse" | "silence"): void;
  /** How many messages go at once before the service's limits hold the next back; absent when there are none. */
  readonly burst?: number;
  close(): Promise<void>;
}

const patienceMs = 10_000;

export function chatMessage(key: string, differs: Partial<ChatMessage> = {}): ChatMessage {
  return { key, level: "warning", title: `Title ${key}`, text: "One sentence.", facts: { fund: "alpha" }, ...differs };
}

export function chatConformance(name: string, open: () => Promise<ChatFixture>): void {
  describe(`chat conformance: ${name}`, () => {
    const fixtures: ChatFixture[] = [];
    const start = async (): Promise<ChatFixture> => {
      const fixture = await open();
      fixtures.push(fixture);
      return fixture;
    };
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.close();
    });

    it("promise 1: a message that was sent can be read, and one that was not rejects with CHAT_UNAVAILABLE", async () => {
      const fixture = await start();
      await fixture.chat.send(chatMessage("one"), patienceMs);
      expect(fixture.delivered()).toEqual([expect.stringMatching(/Title one[\s\S]*One sentence[\s\S]*fund: alpha/)]);
      for (const how of ["refuse", "silence"] as const) {
        if (fixture.breakDown === undefined) continue;
        fixture.breakDown(how);
        await expect(fixture.chat.send(chatMessage(how), 300)).rejects.toMatchObject({ code: "CHAT_UNAVAILABLE" });
      }
      expect(fixture.delivered().length).toBe(1);
    });

    it("promise 2: the service's limits are waited for, and not longer than the deadline", async () => {
      const fixture = await start();
      const { burst } = fixture;
      if (burst === undefined) return;
      const many = Array.from({ length: burst * 2 }, (_unused, index) => chatMessage(`many-${index}`));
      await Promise.all(many.map((message) => fixture.chat.send(message, patienceMs)));
      expect(fixture.delivered().length).toBe(burst * 2);
      await expect(fixture.chat.send(chatMessage("late"), 1)).rejects.toMatchObject({ code: "CHAT_UNAVAILABLE" });
    });

    it("promise 3: a long message is cut visibly, and nothing in it mentions anybody or breaks out", async () => {
      const fixture = await start();
      const nasty = "@everyone ``` **bold** <@123> [link](http://x) \u2028\u0007 \\";
      const text = `${nasty} ${"x\u{1f600}".repeat(2_000)}`;
      await fixture.chat.send(chatMessage("long", { title: nasty, text, facts: { [nasty]: nasty } }), patienceMs);
      const [read = ""] = fixture.delivered();
      expect(read.length).toBeLessThanOrEqual(2_000);
      expect(read).toContain("… (cut)");
      expect(read).not.toContain("@everyone");
      expect(read).not.toContain("<@123>");
      expect(read.split("```").length).toBe(3);
      for (const unprintable of ["\u2028", "\u0007"]) expect(read).not.toContain(unprintable);
      expect(encodeURIComponent(read)).toBeTypeOf("string");
    });

    it("promise 4: the same key is one message, also at the same time", async () => {
      const fixture = await start();
      await Promise.all([1, 2, 3].map(() => fixture.chat.send(chatMessage("same"), patienceMs)));
      await fixture.chat.send(chatMessage("same", { text: "Again." }), patienceMs);
      await fixture.chat.send(chatMessage("other"), patienceMs);
      expect(fixture.delivered().length).toBe(2);
    });
  });
}
