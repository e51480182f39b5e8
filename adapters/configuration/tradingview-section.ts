// The section `tradingview` of the configuration: which alerts of the charting platform become orders, and what they mean for each fund.
import { z } from "zod";
import { alertAgeSMax } from "../../core/webhook/alert-order.ts";
import { key } from "./key-facts.ts";
import { dayS, section, text, whole } from "./key-forms.ts";
import { sourceAddressesKey } from "./tradingview-sources.ts";

const idExpected = "an id: letters, digits and . _ : @ / -, up to 128, the first a letter or digit";
const id = () => z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/);

const fund = section({
  symbols: z
    .record(
      text(64),
      key(z.string().regex(/^[A-Z0-9][A-Z0-9 ._:/-]{0,63}$/), {
        sentence: "Our symbol for what the fund's alerts call so; asked before every other rule.",
        expected: "a symbol in capitals, such as BTC-USD",
      }),
    )
    .default({}),
  broker: key(text(200).optional(), {
    sentence: "The broker that the fund's alerts trade at.",
    expected: "a broker's name, such as paper",
    whenAbsent: "the only one that the fund's envelope allows",
  }),
  on_mismatch: key(z.enum(["flag", "refuse"]).default("flag"), {
    sentence:
      "What happens to an alert that says another position before it than our books have: it raises an alarm, and with `refuse` it becomes no order.",
  }),
});

export const tradingview = section({
  source_addresses: sourceAddressesKey,
  max_age_s: key(whole(1, alertAgeSMax).default(alertAgeSMax), {
    sentence: "The oldest alert that becomes an order, in seconds.",
    environment: "PORTCULLIS_TRADINGVIEW_MAX_AGE_S",
  }),
  require_time: key(z.boolean().default(false), {
    sentence: "Whether an alert that does not say when it fired is refused.",
    environment: "PORTCULLIS_TRADINGVIEW_REQUIRE_TIME",
  }),
  live_funds: key(
    z
      .array(key(id(), { sentence: "A fund id.", expected: idExpected }))
      .max(1_000)
      .default([]),
    {
      sentence:
        "The LIVE funds that take alerts; in the environment a comma-separated list. PAPER funds need not be named.",
      environment: "PORTCULLIS_TRADINGVIEW_LIVE_FUNDS",
    },
  ),
  funds: z.record(id(), fund).default({}),
  heartbeats: z
    .record(
      id(),
      key(whole(10, 31 * dayS), {
        sentence:
          "Seconds without an alert of that strategy, while its market is open, after which an alarm is raised.",
      }),
    )
    .default({}),
});
