// The sections `risk`, `market` and `paper` of the configuration: how old an input of a decision may be, how much may wait, where
// paper prices come from, and whether the paper platform is put in.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { dayS, section, whole } from "./key-forms.ts";

export const risk = section({
  mark_age_max_s: key(whole(1, 3_600).default(10), {
    sentence: "The oldest price that new risk is decided on, in seconds.",
    environment: "PORTCULLIS_RISK_MARK_AGE_MAX_S",
  }),
  nav_age_max_s: key(whole(1, dayS).default(60), {
    sentence: "The oldest net asset value that new risk is decided on, in seconds.",
    environment: "PORTCULLIS_RISK_NAV_AGE_MAX_S",
  }),
  loss_value_age_max_s: key(whole(1, dayS).default(15), {
    sentence:
      "The oldest net asset value that loss limits are judged by, in seconds; with an older one a fund that has such limits takes no new risk. Not above `risk.nav_age_max_s`, which counts instead where it is lower and this is not set.",
    environment: "PORTCULLIS_RISK_LOSS_VALUE_AGE_MAX_S",
  }),
  fx_age_max_s: key(whole(1, 7 * dayS).default(3_600), {
    sentence: "The oldest exchange rate that new risk is decided on, in seconds.",
    environment: "PORTCULLIS_RISK_FX_AGE_MAX_S",
  }),
  borrow_age_max_s: key(whole(1, 7 * dayS).default(dayS), {
    sentence: "The oldest word on what can be borrowed that a short sale is decided on, in seconds.",
    environment: "PORTCULLIS_RISK_BORROW_AGE_MAX_S",
  }),
  approval_valid_ms: key(whole(100, 600_000).default(5_000), {
    sentence: "How long an approval may be used, in milliseconds.",
    environment: "PORTCULLIS_RISK_APPROVAL_VALID_MS",
  }),
  undecided_max: key(whole(1, 1_000_000).default(2_048), {
    sentence: "Orders that may wait for their decision to be durable; one more is refused with RESOURCE_EXHAUSTED.",
    environment: "PORTCULLIS_RISK_UNDECIDED_MAX",
  }),
  open_orders_per_fund_max: key(whole(1, 10_000_000).default(10_000), {
    sentence: "Open orders that one fund may have; one more with new risk is denied.",
    environment: "PORTCULLIS_RISK_OPEN_ORDERS_PER_FUND_MAX",
  }),
  // The two ranges do not meet, so that one missed look is never taken for an unknown state.
  halt_poll_ms: key(whole(10, 500).default(250), {
    sentence: "How often halts are read again without word of a new one, in milliseconds.",
    environment: "PORTCULLIS_RISK_HALT_POLL_MS",
  }),
  halt_unknown_ms: key(whole(1_000, 60_000).default(2_000), {
    sentence: "After how long without an answer halts are unknown, which counts as halted, in milliseconds.",
    environment: "PORTCULLIS_RISK_HALT_UNKNOWN_MS",
  }),
  loss_confirmations: key(whole(1, 10).default(2), {
    sentence: "Valuations in a row that confirm a loss above its limit before it halts; 1 halts with the first.",
    environment: "PORTCULLIS_RISK_LOSS_CONFIRMATIONS",
  }),
  loss_confirm_ms: key(whole(0, 300_000).default(5_000), {
    sentence:
      "How long such a loss waits for them at most, in milliseconds: when no other valuation contradicts it until then it counts as confirmed.",
    environment: "PORTCULLIS_RISK_LOSS_CONFIRM_MS",
  }),
  value_unexplained_max: key(z.number().min(0.001).max(1).default(0.05), {
    sentence:
      "How much of a fund a value from outside may have that our own positions, fills and prices do not explain, as a fraction; with more of it the fund takes no new risk until a value is explained or an operator accepts it.",
    environment: "PORTCULLIS_RISK_VALUE_UNEXPLAINED_MAX",
  }),
  price_jump_max: key(z.number().min(0.01).max(10).default(0.25), {
    sentence:
      "How far a price may move at once, as a fraction of those of the 5 s before it; further it is confirmed for 5 s before it is believed. `price_jump_max` of an instrument counts instead.",
    environment: "PORTCULLIS_RISK_PRICE_JUMP_MAX",
  }),
  snapshot_every_entries: key(whole(100, 100_000_000).default(50_000), {
    sentence: "Entries in the risk engine's journal between two snapshots of its books.",
    environment: "PORTCULLIS_RISK_SNAPSHOT_EVERY_ENTRIES",
  }),
});

const feed = z.enum(["paper", "off"]);

export const market = section({
  feed: key(feed.default("paper"), {
    sentence:
      "Whether the simulated market quotes prices (`paper`) or prices come from outside alone (`off`). No LIVE fund ever sees a simulated price.",
    environment: "PORTCULLIS_MARKET_FEED",
  }),
  venues: z
    .record(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
      section({ feed: key(feed, { sentence: "The same for the instruments of that venue alone." }) }),
    )
    .default({}),
  seed: key(whole(0, 2_147_483_647).default(1), {
    sentence:
      "The seed of the paper market: the same seed shows the same prices at the same moment. A database keeps the one that it began with.",
    environment: "PORTCULLIS_MARKET_SEED",
  }),
  quote_every_ms: key(whole(50, 5_000).default(500), {
    sentence: "How often the paper market quotes a symbol and how often marks go out, in milliseconds.",
    environment: "PORTCULLIS_MARKET_QUOTE_EVERY_MS",
  }),
  speed: key(whole(1, 1_000).default(1), {
    sentence:
      "How many times as fast the course of a day runs on the paper market, with its bursts and news; timestamps and the course of the years stay. What has passed stays as it was when this changes.",
    environment: "PORTCULLIS_MARKET_SPEED",
  }),
  sessions: key(z.enum(["always", "real"]).default("always"), {
    sentence:
      "Whether the paper market trades around the clock (`always`) or as the instruments' calendars say (`real`).",
    environment: "PORTCULLIS_MARKET_SESSIONS",
  }),
});

export const paper = section({
  seed: key(z.enum(["auto", "always", "never"]).default("auto"), {
    sentence:
      "Whether paper funds with limits, positions and reference data are put into a new database; `auto` does it in the embedded one only, and not where treasury is left out. The first start decides it for good.",
    environment: "PORTCULLIS_PAPER_SEED",
  }),
  history: key(z.boolean().default(true), {
    sentence:
      "Whether the paper funds begin with a year of history: fills, valuations and backtests, made of the market's seed.",
    environment: "PORTCULLIS_PAPER_HISTORY",
  }),
  latency_ms: key(whole(0, 60_000).default(20), {
    sentence: "How long an order takes to the paper broker, in milliseconds.",
    environment: "PORTCULLIS_PAPER_LATENCY_MS",
  }),
});
