// The sections `synthetic_stop`, `broker_exit_reconciler`, `drills` and `chat` of the configuration: how often the risk engine's workers look, what they may
// do by themselves, and where people are told.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { clearText, dayS, section, text, whole } from "./key-forms.ts";
import { isHttpUrl } from "./value-forms.ts";

export const syntheticStop = section({
  enabled: key(z.boolean().default(true), { sentence: "Whether stops that a broker does not know are watched here." }),
  poll_interval_s: key(whole(1, dayS).default(5), { sentence: "Seconds between two looks at crypto prices." }),
  poll_interval_equities_s: key(whole(1, dayS).default(60), {
    sentence: "Seconds between two looks at prices of equities and options.",
  }),
  quote_age_max_s: key(whole(1, dayS).default(15), {
    sentence: "The oldest quote that a stop is judged by, in seconds; an older one raises an alarm instead.",
  }),
});

export const brokerExitReconciler = section({
  enabled: key(z.boolean().default(true), { sentence: "Whether our positions are compared with the broker's." }),
  interval_s: key(whole(1, dayS).default(120), { sentence: "Seconds between comparisons." }),
  confirm_after_s: key(whole(1, dayS).default(10), {
    sentence: "Seconds until a second look, when a comparison found something.",
  }),
  alert_threshold: key(whole(1, 1_000_000).default(1), { sentence: "Discrepancies from which on an alert is sent." }),
  auto_correct: key(z.boolean().default(false), { sentence: "Whether our side is corrected to the broker's." }),
});

export const drills = section({
  every_hours: key(whole(0, 24 * 366).default(0), {
    sentence: "Hours between halt drills that nobody asks for; 0 leaves them to people.",
    environment: "PORTCULLIS_DRILLS_EVERY_HOURS",
  }),
});

export const chat = section({
  provider: key(z.enum(["log", "discord"]).default("log"), {
    sentence: "Where people are told of alerts: in the log, or in a channel of a Discord-compatible service.",
    environment: "PORTCULLIS_CHAT_PROVIDER",
  }),
  base_url: key(z.string().refine(isHttpUrl).default("https://discord.com/api/v10"), {
    sentence: "Where the chat service's message API answers.",
    environment: "PORTCULLIS_CHAT_URL",
    expected: "a URL such as https://discord.com/api/v10",
  }),
  insecure: clearText("a chat service", "PORTCULLIS_CHAT_INSECURE"),
  channel_id: key(
    text(64)
      .regex(/^[0-9]+$/)
      .optional(),
    {
      sentence: "The channel; the bot's token is the secret `secret/<prefix>/chat/token`.",
      environment: "PORTCULLIS_CHAT_CHANNEL",
      expected: "the channel's number",
      whenAbsent: "none; needed with `discord`",
    },
  ),
});
