// `h`: what is halted, how far each halt has come (BLOCKED, CANCELLED, NOTIFIED), on what evidence, and a request to resume that waits for its second
// signature. Nothing here acts.

import type { Instant } from "../../../contracts/src/instant.ts";
import { byStrictness, provenText, scopeIdOf, scopeOf } from "../../words/halt-words.ts";
import { age, ageMs, duration, leftMs } from "../../words/times.ts";
import type { Data, Halt, Lists } from "../lists.ts";
import { type Span, span } from "../view/text.ts";
import { type Column, noneOf, type Screen, type Section, section } from "./screen.ts";

type Status = Lists["halts"];
type StepName = "BLOCKED" | "CANCELLED" | "NOTIFIED";

export const halts: Screen = {
  key: "h",
  name: "halts",
  title: "HALTS",
  sentence: "Halt menu: BLOCKED, CANCELLED, NOTIFIED, evidence, resume requests.",
  needs: ["halts", "strategies"],
  command: "ctl riskengine halts list",
  sections: (data, { now }) => [haltSection(data, now), ...requestSection(data, now)],
};

function haltSection(data: Data, now: Instant): Section {
  const status = data.held.halts?.value;
  return section({
    columns: columnsOf(status, now),
    items: byStrictness(status?.halts ?? []),
    none: noneOf(data, "halts", "Nothing is halted."),
    id: haltKey,
    target: (halt) => ({ kind: "halt", haltId: halt.halt_id ?? "", scope: scopeIdOf(halt) }),
    command: () => "ctl riskengine halts list",
  });
}

function haltKey(halt: Halt): string {
  return halt.halt_id ?? `${halt.severity}/${halt.fund_id}/${halt.strategy_id ?? ""}`;
}

function columnsOf(status: Status | undefined, now: Instant): readonly Column<Halt>[] {
  const step = (name: StepName): Column<Halt> => ({ head: name, rank: 0, of: (halt) => stepCell(status, halt, name) });
  return [
    { head: "HALTED", rank: 0, of: (one) => span(scopeOf(one), "bad") },
    { head: "SINCE", rank: 0, right: true, of: (one) => age(one.since, now), by: (one) => ageMs(one.since, now) ?? 0 },
    step("BLOCKED"),
    step("CANCELLED"),
    step("NOTIFIED"),
    { head: "BY", rank: 1, of: (one) => one.requested_by, widthMax: 20 },
    { head: "REASON", rank: 0, of: (one) => one.reason, widthMax: 60 },
    { head: "EVIDENCE", rank: 2, of: evidenceText, widthMax: 80 },
  ];
}

/** What is proven, or what is missing. */
function stepCell(status: Status | undefined, halt: Halt, name: StepName): Span {
  const steps = status?.progress.find(({ halt_id }) => halt_id === halt.halt_id)?.steps ?? [];
  const found = steps.find(({ step }) => step === name);
  if (found === undefined) return span("?", "warn");
  if (!found.proven) return span("NOT YET", "warn");
  const text = provenText(name, found.detail);
  return span(text, text === "log only" ? "warn" : "good");
}

export function evidenceText({ evidence }: Halt): string {
  if (evidence === undefined) return "";
  return Object.entries(evidence)
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ");
}

function requestSection(data: Data, now: Instant): readonly Section[] {
  const status = data.held.halts?.value;
  if (status?.request_id === undefined) return [];
  const waiting = status;
  return [
    section<Status>({
      title: "RESUME REQUEST, WAITS FOR ITS SECOND SIGNATURE (c signs)",
      columns: [
        { head: "REQUEST", rank: 0, of: (one) => one.request_id ?? "" },
        { head: "BY", rank: 0, of: (one) => one.requested_by ?? "" },
        { head: "REASON", rank: 0, of: (one) => one.reason ?? "", widthMax: 60 },
        { head: "BASELINE", rank: 2, of: (one) => one.baseline ?? "" },
        { head: "VOID IN", rank: 1, right: true, of: (one) => untilText(one.expires_at, now) },
      ],
      items: [waiting],
      none: "",
      id: () => "request",
      command: (one) => `ctl cmd resume --cosign ${one.request_id ?? ""}`,
    }),
  ];
}

function untilText(text: string | undefined, now: Instant): string {
  if (text === undefined) return "";
  const left = leftMs(text, now);
  return left > 0 ? duration(left) : "void";
}
