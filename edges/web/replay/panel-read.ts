// What a panel of the replay says of its question: of which moment it is, when it was answered, and what went wrong.
import { format } from "../../../contracts/src/instant.ts";
import { failureOf } from "../model/panel-state.ts";
import type { PastRead } from "./past-panel.tsx";
import type { ReplayView } from "./use-replay.ts";

const listOf = { timeline: "timeline", moment: "moment", chart: "bars" } as const;

export function readOf({ fund, state, replay }: ReplayView, part: keyof typeof listOf): PastRead {
  const { shown, failures, at } = state;
  // Where nothing is there yet, a panel whose own question was answered waits for the others.
  const thrown = failures[part] ?? (shown === undefined ? Object.values(failures)[0] : undefined);
  return {
    name: listOf[part],
    asked: {
      fund,
      at: format(at),
      ...(part === "timeline" ? { from: format(replay.start) } : {}),
      ...(part === "chart" ? { symbol: shown?.symbol, interval: shown?.interval } : {}),
    },
    hasData: shown !== undefined,
    answeredAt: shown?.answeredAt,
    failure: failureOf(thrown),
    again: replay.again,
  };
}
