// Every frame of the public stream (ws://…/v1/stream), in one place: what clients may send, what the server sends, and why it closes. AsyncAPI is written
// from these. Frames are JSON text with a `type`; clients ignore types and members that they do not know.
import { z } from "zod";
import { countNumber, idText, instantText, symbolText } from "./records/fields.ts";
import { fundStatus } from "./records/fund.ts";
import { bar, barInterval, quote } from "./records/market.ts";
import { severity } from "./records/values.ts";

/** A HaltRequest without what carries values and losses. */
export const publicHalt = z.object({
  severity,
  fund_id: z.string(),
  strategy_id: idText.optional(),
  reason: z.string(),
  requested_by: z.string(),
  halt_id: idText,
  epoch: countNumber,
  since: instantText,
});

/** What is not public of a fund is left out. */
const publicFunds = z.array(
  fundStatus.extend({ nav: fundStatus.shape.nav.optional(), nav_at: fundStatus.shape.nav_at.optional() }),
);

/** The bounds of a connection, as `welcome` tells them. */
export const streamLimits = {
  channels_max: 200,
  connections_per_address_max: 20,
  messages_per_s_max: 10,
  message_bytes_max: 4_096,
  subscribe_within_s: 10,
  behind_bytes_max: 262_144,
} as const;

export const heartbeatS = 10;

/** Why the server closes: the code, and its name as the reason. */
export const closings = {
  TOO_MANY_CONNECTIONS: 4001,
  TOO_MANY_CHANNELS: 4002,
  TOO_MANY_MESSAGES: 4003,
  MESSAGE_TOO_LARGE: 4004,
  NOT_SUBSCRIBED_IN_TIME: 4005,
  MALFORMED: 4006,
  SHUTTING_DOWN: 4007,
  SLOW_CONSUMER: 4008,
} as const;
export type ClosingName = keyof typeof closings;

const frameId = z
  .union([z.string().max(64), z.int()])
  .optional()
  .meta({ description: "The client's own name for the message; the answer carries it." });

const barsChannel = z
  .string()
  .max(80)
  .regex(new RegExp(`^[A-Z0-9][A-Z0-9 ._:/-]{0,63}:(${barInterval.options.join("|")})$`), {
    message: `expected a symbol and an interval such as AAPL:1m; intervals are ${barInterval.options.join(", ")}`,
  });

const named = {
  id: frameId,
  quotes: z.array(symbolText).max(1_000).optional().meta({ description: "Symbols whose quotes are wanted." }),
  bars: z.array(barsChannel).max(1_000).optional().meta({ description: "Closed bars, each as AAPL:1m." }),
  funds: z.boolean().optional().meta({ description: "The funds." }),
  halts: z.boolean().optional().meta({ description: "What is halted and lifted." }),
};

const subscribeFrame = z
  .strictObject({
    type: z.literal("subscribe"),
    ...named,
    resume: z.record(z.string().max(100), z.int().min(0)).optional().meta({
      description: 'The last sequence that was read of a channel: {"halts": 17}. What came after is sent again.',
    }),
  })
  .meta({ description: "Adds channels." });

export type SubscribeFrame = z.infer<typeof subscribeFrame>;

const unsubscribeFrame = z
  .strictObject({ type: z.literal("unsubscribe"), ...named })
  .meta({ description: "Takes channels away." });

export const clientFrame = z.discriminatedUnion("type", [subscribeFrame, unsubscribeFrame]);
export type ClientFrame = z.infer<typeof clientFrame>;

const channel = z.string().meta({ description: "quotes:AAPL, bars:AAPL:1m, funds or halts." });
const sequence = z.int().min(0).meta({ description: "The one before in this channel, plus 1, plus `skipped`." });

const haltChangeData = z.object({
  change: z.enum(["raised", "lifted"]),
  halts: z.array(publicHalt),
  at: instantText,
});

const updateData = z
  .union([quote, bar, haltChangeData, publicFunds])
  .meta({ description: "A Quote, a closed Bar, the list of funds, or what was halted or lifted." });
const snapshotData = z.union([quote.nullable(), z.array(bar), z.array(publicHalt), publicFunds]).meta({
  description: "The quote (null before the first), the newest bars, the list of funds, or the halts in force.",
});

const welcomeFrame = z.object({
  type: z.literal("welcome"),
  heartbeat_s: z.int(),
  limits: z.object({
    channels_max: z.int(),
    connections_per_address_max: z.int(),
    messages_per_s_max: z.int(),
    message_bytes_max: z.int(),
    subscribe_within_s: z.int(),
    behind_bytes_max: z.int(),
  }),
});
const subscribedFrame = z.object({
  type: z.literal("subscribed"),
  id: frameId,
  channels: z.array(channel).meta({ description: "Everything that is subscribed now." }),
});
const snapshotFrame = z.object({ type: z.literal("snapshot"), channel, sequence, data: snapshotData });
const updatesFrame = z.object({
  type: z.literal("updates"),
  items: z.array(
    z.object({
      channel,
      sequence,
      skipped: z.int().min(0).meta({ description: "Sequences between the one before and this that carry nothing." }),
      data: updateData,
    }),
  ),
});
const heartbeatFrame = z.object({
  type: z.literal("heartbeat"),
  at: instantText,
  stale: z.array(z.enum(["quotes", "funds", "halts"])).meta({ description: "What was not reported for 5 seconds." }),
});
const gapFrame = z.object({
  type: z.literal("gap"),
  channel,
  sequence,
  from_sequence: sequence,
  to_sequence: sequence,
  detail: z.string(),
});
const errorFrame = z.object({ type: z.literal("error"), id: frameId, code: idText, detail: z.string() });
const shutdownFrame = z.object({ type: z.literal("shutdown"), reconnect_after_s: z.int() });

export const serverFrame = z.discriminatedUnion("type", [
  welcomeFrame,
  subscribedFrame,
  snapshotFrame,
  updatesFrame,
  heartbeatFrame,
  gapFrame,
  errorFrame,
  shutdownFrame,
]);
export type ServerFrame = z.infer<typeof serverFrame>;

/** The frames by who sends them: the server sends the first, and receives the others. */
export const streamFrames = {
  sent: [
    { name: "welcome", sentence: "The connection stands; these are its limits.", schema: welcomeFrame },
    { name: "subscribed", sentence: "Everything that is subscribed now.", schema: subscribedFrame },
    { name: "snapshot", sentence: "How a channel stands, before its first update.", schema: snapshotFrame },
    { name: "updates", sentence: "What changed, each in its channel.", schema: updatesFrame },
    { name: "heartbeat", sentence: "The connection still stands.", schema: heartbeatFrame },
    { name: "gap", sentence: "Sequences of a channel that are lost to you.", schema: gapFrame },
    { name: "error", sentence: "What was wrong with a message; the connection goes on.", schema: errorFrame },
    { name: "shutdown", sentence: "The server leaves: come back later.", schema: shutdownFrame },
  ],
  received: [
    { name: "subscribe", sentence: "Adds channels.", schema: subscribeFrame },
    { name: "unsubscribe", sentence: "Takes channels away.", schema: unsubscribeFrame },
  ],
};
