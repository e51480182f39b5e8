// The configured chat: the log, or a channel of a chat service with the token from the secrets store.
import { Fault } from "../../contracts/src/fault.ts";
import type { Chat } from "../../ports/chat.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import { systemSha256 } from "../system/hashing.ts";
import { discordChat } from "./discord-chat.ts";
import { logChat } from "./log-chat.ts";

interface OpenChatOptions {
  readonly configuration: Pick<Configuration, "chat" | "secrets">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly secrets: Pick<Secrets, "get">;
}

export function openChat({ configuration, clock, timers, log, secrets }: OpenChatOptions): Chat {
  const { provider, base_url: baseUrl, channel_id: channelId } = configuration.chat;
  if (provider === "log") return logChat({ log, clock });
  if (channelId === undefined) {
    throw new Fault("CONFIGURATION_INVALID", "chat.channel_id is missing.", { retry: "never" });
  }
  const path = `secret/${configuration.secrets.prefix}/chat/token`;
  const token = async (): Promise<string | undefined> => (await secrets.get(path))?.value;
  return discordChat({ clock, timers, sha256: systemSha256, baseUrl, channelId, token });
}
