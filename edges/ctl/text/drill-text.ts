// A drill as people read it: what was tripped, and how long each step after it took.
import type { AnswerOf } from "../../client/src/types.ts";
import { tookText } from "../../words/times.ts";
import { pairs } from "./text.ts";

export type Drill = AnswerOf<"listDrills">[number];

export function drillText(drill: Drill): string {
  return [
    drill.passed ? "The drill passed." : "The drill FAILED.",
    pairs([
      ["Drill", drill.drill_id],
      ["Latched", tookText(drill.latched_ms)],
      ["Blocked", tookText(drill.blocked_ms)],
      ["Cancelled", tookText(drill.cancelled_ms)],
      ["Notified", tookText(drill.notified_ms)],
      ["Complaint", drill.complaint],
    ]),
  ].join("\n");
}
