// The check of `ctl doctor` that says which alarms were raised in the last hour: what was wrong a moment ago explains what is wrong now.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import { moment } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";

interface AlarmsCheck {
  readonly name: "alarms";
  readonly state: "ok" | "warn";
  readonly detail: string;
  readonly advice?: string;
}

const timeoutMs = 5_000;
const countMax = 100;
const shownMax = 5;

/** Nothing for callers who may not read them. */
export async function alarmsCheck(context: Context): Promise<readonly AlarmsCheck[]> {
  const name = "alarms";
  try {
    const alarms = await (await context.client()).listAlarms({ hours: 1, countMax }, { timeoutMs });
    const [newest] = alarms;
    if (newest === undefined) return [{ name, state: "ok", detail: "none in the last hour" }];
    const critical = alarms.filter(({ level }) => level === "critical");
    const codes = [...new Set([...critical, ...alarms].map(({ code }) => code))];
    const others = codes.length > shownMax ? ` and ${codes.length - shownMax} more codes` : "";
    const count = `${alarms.length === countMax ? "at least " : ""}${alarms.length} in the last hour, ${critical.length} of them critical`;
    const newestAt = moment(newest.at, context.clock.now());
    const detail = `${count}: ${codes.slice(0, shownMax).join(", ")}${others}; the newest ${newestAt}`;
    const advice = "`ctl operations alarms list --hours 1` says what each was about.";
    return [{ name, state: critical.length > 0 ? "warn" : "ok", detail, ...(critical.length > 0 ? { advice } : {}) }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}
