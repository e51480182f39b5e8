// `ctl replay moment`: how a fund stood at a moment.
import { format, parse } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { percent } from "../../words/figures.ts";
import { haltLine } from "../../words/halt-words.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { momentOf } from "../text/moments.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const replayMoment: Verb = {
  name: "replay moment",
  heading: "Replay",
  sentence: "See what a fund held at a moment, and what it used of its limits.",
  about:
    "Of what had been recorded by then. What is not known of then has a reason; values of seconds are kept for an hour and of minutes for a week. --json has open orders, halts, restrictions and the use of every limit as well.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "The fund that it is about.", required: true },
    { name: "at", value: "TIME", sentence: "The moment, RFC 3339; now otherwise." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl replay moment --fund-id alpha --at 2026-11-15T13:30:00Z", sentence: "As it stood then." },
    { command: "ctl replay moment --fund-id alpha --json", sentence: "All of it, for a program." },
  ],
  operation: "GetMoment",
  changesState: false,
  run,
};

type Moment = AnswerOf<"getMoment">;
type Position = Moment["positions"][number];

const columns: readonly Column<Position>[] = [
  { name: "strategy_id", key: true, of: (one) => one.strategy_id },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "quantity", of: (one) => one.quantity, number: true },
  {
    name: "average_price",
    head: "average",
    of: (one) => one.average_price,
    shown: (one) => shownPrice(one.average_price),
    number: true,
  },
  { name: "price", of: (one) => one.price, shown: (one) => shownPrice(one.price), number: true },
  { name: "priced_at", minor: 1, of: (one) => one.priced_at, time: true },
  { name: "reason", text: true, of: (one) => one.reason },
];

const shownPrice = (text: string | undefined): string => (text === undefined ? "" : price(text));

async function run(context: Context): Promise<Answer> {
  const at = context.option("at");
  const moment = await (await context.client()).getMoment({
    fundId: context.option("fund-id") ?? "",
    ...(at !== undefined && { at: format(momentOf("at", at, "start")) }),
  });
  const rows = moment.positions;
  const none = moment.reason ?? "It held nothing.";
  return listing(context, { columns, rows, none, data: moment, lead: leadOf(moment) });
}

/** Lines of a kind that are shown; --json has all. */
const linesMax = 5;

function leadOf(one: Moment): string {
  const { fund_id: fund, at, nav, envelope_version: version, halts, restrictions, open_orders: open } = one;
  const worth =
    nav.value === undefined
      ? `Worth: ${nav.reason ?? "not known"}`
      : `Worth ${price(nav.value)} ${nav.currency ?? ""}, as of ${nav.as_of ?? ""}.`;
  const limits = version === undefined ? "no limits yet" : `limits of version ${version}`;
  return [
    `${fund} at ${at}`,
    worth,
    `${limits}, ${open.length} open orders, ${halts.length} halts, ${restrictions.length} restrictions.`,
    ...halts.slice(0, linesMax).map((halt) => haltLine(halt, parse(at))),
    ...open
      .slice(0, linesMax)
      .map(
        ({ order_id: id, side, quantity, symbol, filled_quantity: filled }) =>
          `Open: ${side} ${quantity} ${clean(symbol)}, ${filled} of it filled (${clean(id)}).`,
      ),
    ...useLines(one),
  ].join("\n");
}

/** What is nearest to its limit, and of how many it cannot be told. */
function useLines({ limit_use: uses }: Moment): readonly string[] {
  const nearest = uses
    .filter(({ share }) => share !== undefined)
    .sort((one, other) => (other.share ?? 0) - (one.share ?? 0))
    .slice(0, linesMax)
    .map(({ limit, scope, share }) => `${[limit, scope].join(" ").trim()} ${percent(share)}`);
  const untold = uses.filter(({ used }) => used === undefined).length;
  return [
    ...(nearest.length === 0 ? [] : [`Used of limits: ${clean(nearest.join(", "))}.`]),
    ...(untold === 0 ? [] : [`Of ${untold} limits it cannot be told what was used; --json says why.`]),
  ];
}
