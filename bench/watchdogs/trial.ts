// One row of observations through a watchdog and its episodes, as the platform runs them, and when it alarmed.
import * as instant from "../../contracts/src/instant.ts";
import type { CommonConfig, CommonKeys, ConfigKeys, ConfigOf } from "../../core/watchdogs/config.ts";
import { newStanding, step } from "../../core/watchdogs/episodes.ts";
import type { Watchdog } from "../../core/watchdogs/watchdog.ts";

export interface Observed<Input> {
  readonly at: instant.Instant;
  readonly input: Input;
}

export interface Alarm {
  /** Which observation opened or escalated. */
  readonly index: number;
  readonly event: "OPENED" | "ESCALATED";
  readonly rung: number;
}

export const epoch = instant.fromUnixMs(1_700_000_000_000);
export const dayMs = 86_400_000;
export const atDay = (day: number): instant.Instant => instant.plusMilliseconds(epoch, day * dayMs);
export const nameOfDay = (day: number): string => `d${String(day).padStart(6, "0")}`;

export function alarmsOf<Input, Keys extends ConfigKeys, Memory>(
  watchdog: Watchdog<Input, Keys, Memory>,
  config: ConfigOf<Keys & CommonKeys>,
  observations: Iterable<Observed<Input>>,
): readonly Alarm[] {
  const { persistence, clear_after } = config as CommonConfig;
  const rules = { persistence, clearAfter: clear_after, acting: true };
  const alarms: Alarm[] = [];
  let standing = newStanding(epoch);
  let memory = watchdog.emptyMemory;
  let index = 0;
  for (const { at, input } of observations) {
    const judged = watchdog.judge(input, config, memory, { at, openedAt: standing.episode?.openedAt ?? null });
    const next = step(standing, judged.judgement, rules, at, `e${index}`);
    memory = judged.memory;
    standing = next.standing;
    const { change } = next;
    if (change !== null && (change.event === "OPENED" || change.event === "ESCALATED")) {
      alarms.push({ index, event: change.event, rung: change.rung });
    }
    index += 1;
  }
  return alarms;
}

export const opened = (alarms: readonly Alarm[]): number => alarms.filter(({ event }) => event === "OPENED").length;
