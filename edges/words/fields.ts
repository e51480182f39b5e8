// What a dialog is about, as labelled fields: who, what, since when and why. They are never made into one sentence, in which what somebody wrote could go on
// as the page speaks.
import type { Instant } from "../../contracts/src/instant.ts";
import { baselineText, type Halt, type HaltStatus, scopeText } from "./halt-words.ts";
import { moment } from "./times.ts";

export interface Field {
  readonly label: string;
  /** As it was written; each face cleans it, and shows where it begins and ends. */
  readonly value: string;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly Field[];
}

const notRecorded = "not recorded";

export function haltFields(halt: Halt, now: Instant): readonly Field[] {
  return [
    { label: "What", value: `${halt.severity}, ${scopeText(halt)}` },
    { label: "Who", value: halt.requested_by === "" ? notRecorded : halt.requested_by },
    { label: "Since", value: halt.since === undefined ? "not known" : moment(halt.since, now) },
    { label: "Reason", value: halt.reason },
  ];
}

/** Each halt by itself. */
export function haltGroups(halts: readonly Halt[], now: Instant): readonly FieldGroup[] {
  return halts.map((halt, at) => ({
    title: `HALT ${at + 1} of ${halts.length}`,
    fields: haltFields(halt, now),
  }));
}

/** The request that a second person signs. */
export function requestGroup(status: HaltStatus, now: Instant): FieldGroup {
  return {
    title: "THE REQUEST",
    fields: [
      { label: "Who", value: status.requested_by ?? notRecorded },
      { label: "What", value: `request ${status.request_id ?? notRecorded}, to lift every halt` },
      { label: "Until", value: status.expires_at === undefined ? "not known" : moment(status.expires_at, now) },
      { label: "Reason", value: status.reason ?? notRecorded },
      { label: "Baseline", value: baselineText(status.baseline) },
      { label: "Restarts", value: restartsText(status.restarts) },
    ],
  };
}

function restartsText(restarts: readonly string[]): string {
  return restarts.length === 0 ? "nothing: another halt still covers it" : restarts.join(", ");
}
