// The simulated faults of the paper broker and the paper market as a person reads it.
import type { Instant } from "../../contracts/src/instant.ts";
import type { AnswerOf } from "../client/src/types.ts";
import { exactPercent } from "./figures.ts";
import { pairs } from "./pairs.ts";
import { leftMs, moment } from "./times.ts";

export type Faults = AnswerOf<"getPaperWeather">;

/** Whether the broker still answers nobody. */
export function isSilent({ broker_silent_until }: Pick<Faults, "broker_silent_until">, now: Instant): boolean {
  return broker_silent_until !== undefined && leftMs(broker_silent_until, now) > 0;
}

export function faultsText(faults: Faults, now: Instant): string {
  const { gaps, news, informed, halted_symbols: halted, report_loss_pct: lost, report_repeat_pct: repeated } = faults;
  const silent = isSilent(faults, now) ? `silent until ${moment(faults.broker_silent_until ?? "", now)}` : "answers";
  return pairs([
    ["Broker", silent],
    ["Reports lost", lost === undefined || lost === 0 ? "none" : exactPercent(lost)],
    ["Reports twice", repeated === undefined || repeated === 0 ? "none" : exactPercent(repeated)],
    ...gaps.map(({ symbol, pct, from }) => {
      const since = from === undefined ? "" : ` since ${moment(from, now)}`;
      return ["Gap", `${symbol} ${pct > 0 ? "+" : ""}${exactPercent(pct)}${since}`] as const;
    }),
    ...news.map(({ symbol, count }) => ["News", `${symbol}: ${count} stories`] as const),
    ...informed.map(({ symbol, side }) => ["Informed", `${symbol} ${side}`] as const),
    ["Not traded", halted.length === 0 ? "none" : halted.join(", ")],
    ["Set by", faults.set_by],
    ["Reason", faults.reason === "" ? undefined : faults.reason],
    ["Set at", faults.at === undefined ? undefined : moment(faults.at, now)],
  ]);
}
