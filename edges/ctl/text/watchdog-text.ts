// How watchdogs stand, as a table.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Answer, Context } from "../verbs/verb.ts";
import { type Column, listing } from "./listing.ts";

type WatchdogRow = AnswerOf<"listWatchdogs">[number];

export function watchdogListing(context: Context, rows: readonly WatchdogRow[]): Promise<Answer> {
  const columns: readonly Column<WatchdogRow>[] = [
    { name: "watchdog", key: true, of: (one) => one.watchdog },
    { name: "fund_id", head: "FUND", of: (one) => one.fund_id ?? "" },
    { name: "strategy_id", head: "STRATEGY", of: (one) => one.strategy_id ?? "" },
    { name: "symbol", of: (one) => one.symbol ?? "" },
    {
      name: "state",
      always: true,
      of: (one) => one.state,
      shown: (one) => (one.paused === null ? one.state : `${one.state} (paused)`),
    },
    { name: "value", of: (one) => one.value ?? "", shown: shownValue, number: true },
    { name: "threshold", of: (one) => one.threshold ?? "", number: true },
    { name: "unit", minor: 3, of: (one) => one.unit },
    { name: "sample_count", head: "SAMPLES", minor: 4, of: (one) => one.sample_count, number: true },
    { name: "reason", text: true, minor: 2, of: (one) => one.reason ?? "" },
    {
      name: "judged_at",
      head: "JUDGED",
      of: (one) => one.judged_at ?? "",
      time: true,
    },
    { name: "since", minor: 2, of: (one) => one.since, time: true },
    {
      name: "mode",
      always: true,
      of: (one) => one.mode,
      shown: (one) => (one.injected ? `${one.mode} (injected)` : one.mode),
    },
    { name: "episode_id", of: (one) => one.episode_id ?? "", onlyCsv: true },
    { name: "as_of", of: (one) => one.as_of ?? "", onlyCsv: true },
    { name: "last_action", minor: 5, head: "LAST ACTION", of: (one) => one.last_action },
    { name: "alerts_30d", minor: 4, head: "ALERTS 30D", of: (one) => one.alerts_30d, number: true },
    { name: "expected_alerts_30d", of: (one) => one.expected_alerts_30d ?? "", onlyCsv: true },
    { name: "injected", of: (one) => String(one.injected), onlyCsv: true },
  ];
  return listing(context, { columns, rows, none: "There is no such watchdog.", data: rows });
}

function shownValue({ value }: WatchdogRow): string {
  return value === null ? "" : String(Number(value.toPrecision(6)));
}
