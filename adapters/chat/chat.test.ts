// Both chats under the suite of their port; then what is the message API's own: its token, its limits, and answers that were lost.
import { afterEach, describe, expect, it } from "vitest";
import type { Log } from "../../ports/log.ts";
import { type ChatServer, type ChatServerOptions, startChatServer } from "../../testkit/chat-server.ts";
import { chatConformance, chatMessage } from "../../testkit/conformance/chat.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { systemSha256 } from "../system/hashing.ts";
import { systemTimers } from "../system/timers.ts";
import { discordChat } from "./discord-chat.ts";
import { logChat } from "./log-chat.ts";
import { openChat } from "./open-chat.ts";

const timers = systemTimers();
const clock = systemClock();
const token = "a-bot-token";
const channelId = "4711";

chatConformance("log", async () => {
  const lines: string[] = [];
  const keep = (_message: string, fields?: object) => void lines.push((fields as { text: string }).text);
  const log: Log = { ...quietLog, info: keep, warn: keep };
  const chat = logChat({ log, clock });
  return { chat, delivered: () => lines, close: () => chat.close() };
});

async function discordFixture(options: Partial<ChatServerOptions> = {}, given: string | undefined = token) {
  const server: ChatServer = await startChatServer({ token, limit: 5, windowMs: 250, ...options });
  const chat = discordChat({
    clock,
    timers,
    sha256: systemSha256,
    channelId,
    baseUrl: server.url,
    token: async () => given,
  });
  return {
    server,
    chat,
    burst: 5,
    delivered: () => server.postings.map(({ content }) => content),
    breakDown: (how: "refuse" | "silence") => {
      server.mood = how === "refuse" ? 503 : "silence";
    },
    close: async () => {
      await chat.close();
      await server.close();
    },
  };
}

chatConformance("Discord-compatible", () => discordFixture());
chatConformance("Discord-compatible, limits reported by refusals only", () => discordFixture({ tellsLimits: false }));

describe("the message API", () => {
  const closes: (() => Promise<void>)[] = [];
  const start = async (...given: Parameters<typeof discordFixture>) => {
    const fixture = await discordFixture(...given);
    closes.push(fixture.close);
    return fixture;
  };
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
  });

  it("gets the bot's token, no mentions and a nonce", async () => {
    const { chat, server } = await start();
    await chat.send(chatMessage("one"), 5_000);
    expect(server.postings).toMatchObject([
      {
        channelId,
        body: { allowed_mentions: { parse: [] }, enforce_nonce: true, nonce: expect.stringMatching(/^.{25}$/) },
      },
    ]);
  });

  it("is never asked more than it allows, when it says what it allows", async () => {
    const { chat, server } = await start();
    await Promise.all(Array.from({ length: 11 }, (_unused, n) => chat.send(chatMessage(`m${n}`), 10_000)));
    expect(server.postings.length).toBe(11);
    expect(server.statuses.filter((status) => status === 429)).toEqual([]);
  });

  it("obeys a refusal that it could not expect, and keeps the order", async () => {
    // A window ends with the refusal that it brought, however slowly the messages come.
    let refusals = (): number => 0;
    const { chat, server } = await start({ tellsLimits: false, windowMs: 250, now: () => refusals() * 250 });
    refusals = () => server.statuses.filter((status) => status === 429).length;
    await Promise.all(Array.from({ length: 7 }, (_unused, n) => chat.send(chatMessage(`m${n}`), 10_000)));
    expect(server.statuses).toContain(429);
    expect(server.postings.map(({ content }) => /Title m(\d)/.exec(content)?.[1])).toEqual([..."0123456"]);
  });

  it("takes a message once whose answer was lost", async () => {
    const { chat, server } = await start();
    server.mood = "lost";
    const sending = chat.send(chatMessage("one"), 10_000);
    while (server.postings.length === 0) await timers.sleep(5);
    server.mood = "well";
    await sending;
    expect(server.postings.length).toBe(1);
  });

  it("refuses another token for good, without naming it, and no token at all", async () => {
    const wrong = await start({}, "another-token");
    const refusal = wrong.chat.send(chatMessage("one"), 60_000);
    await expect(refusal).rejects.toMatchObject({ code: "CHAT_UNAVAILABLE", message: expect.stringContaining("401") });
    await expect(refusal).rejects.not.toMatchObject({ message: expect.stringContaining("another-token") });
    const none = await start({}, "");
    await expect(none.chat.send(chatMessage("one"), 60_000)).rejects.toMatchObject({ code: "CHAT_UNAVAILABLE" });
  });

  it("holds a bounded number of messages and lets go of them when it is closed", async () => {
    const { chat, server } = await start();
    server.mood = "silence";
    const sending = Array.from({ length: 101 }, (_unused, n) => chat.send(chatMessage(`m${n}`), 60_000));
    await expect(sending[100]).rejects.toMatchObject({ message: expect.stringContaining("100 messages wait") });
    const all = Promise.allSettled(sending);
    await chat.close();
    expect((await all).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("is opened as configured, with the token from the secrets store, and never in clear to another machine", async () => {
    const { server } = await start();
    const asked: string[] = [];
    const secrets = {
      get: async (path: string) => {
        asked.push(path);
        return { path, version: 1, value: token };
      },
    };
    const open = (chat: object) =>
      openChat({
        clock,
        timers,
        log: quietLog,
        secrets,
        configuration: { chat, secrets: { prefix: "p" } } as never,
      });
    const chat = open({ provider: "discord", base_url: server.url, channel_id: channelId });
    await chat.send(chatMessage("one"), 5_000);
    expect([asked, server.postings.length, chat.name]).toEqual([["secret/p/chat/token"], 1, "discord"]);
    expect(open({ provider: "log", base_url: server.url }).name).toBe("log");
    expect(() => open({ provider: "discord", base_url: "http://chat.example", channel_id: "1" })).toThrow(/https/);
  });
});
