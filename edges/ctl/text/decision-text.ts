// A decision as a person reads it: the verdict first, then the order, then every gate with its question, what it found and how old that was,
// and last what else is worth knowing. Nothing of the record that explains it is left out.
import { gateQuestions } from "../../../contracts/src/generated/gates.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { exactPercent } from "../../words/figures.ts";
import { oldText } from "../../words/times.ts";
import type { Paint } from "../terminal.ts";
import { clean, moment, pairs } from "./text.ts";

type Records = AnswerOf<"getDecisions">;
type Order = Records[number]["order"];
type Decision = Records[number]["decision"];
type Check = Decision["checks"][number];
type Verdict = Pick<Decision, "approved" | "rejecting_gate" | "code" | "reason" | "dry_run">;

/** `submittedBy` is the caller whose token order management checked, in words where nobody recorded one. */
export function decisionsText(records: Records, submittedBy: string, now: Instant, paint: Paint): string {
  const texts = records.map((record) => decisionText(record, submittedBy, now, paint));
  if (texts.length === 1) return texts.join("");
  const title = (at: number): string => paint.bold(`Decision ${at + 1} of ${texts.length}`);
  return texts.map((text, at) => `${title(at)}\n${text}`).join("\n\n");
}

function decisionText({ order, decision }: Records[number], submittedBy: string, now: Instant, paint: Paint): string {
  return [
    verdictText(decision, paint),
    "",
    factsText(order, submittedBy, decision, now),
    "",
    ...decision.checks.map((check) => checkText(check, paint)),
    ...notReached(decision),
    ...warningsText(decision),
    ...originalText(decision, now, paint),
  ].join("\n");
}

function verdictText({ approved, rejecting_gate, code, reason, dry_run }: Verdict, paint: Paint): string {
  const asked = dry_run === true ? " (dry run)" : "";
  if (approved) return `${paint.green("APPROVED")}${asked}`;
  const where = clean(`by ${rejecting_gate}: ${code}`);
  return `${paint.red("DENIED")} ${where}${asked}\n${clean(reason)}`;
}

function factsText(order: Order, submittedBy: string, decision: Decision, now: Instant): string {
  const prices = [
    order.limit_price === undefined ? "" : ` limit ${order.limit_price}`,
    order.stop_price === undefined ? "" : ` stop ${order.stop_price}`,
  ].join("");
  const claim = order.reduce_only === true ? ", reduce only" : "";
  const { classification, closing_quantity_allowed: closing } = decision;
  return pairs([
    [
      "Order",
      `${order.order_id}: ${order.side} ${order.quantity} ${order.symbol} ${order.order_type}${prices} ${order.tif}${claim}`,
    ],
    ["For", `${order.fund_id} / ${order.strategy_id}, via ${order.broker}`],
    ["Submitted by", submittedBy],
    ["Actor, claimed", order.actor],
    ["Key", order.idempotency_key],
    ["Thesis", order.thesis],
    ["Effect", classification === undefined ? "not known" : effects[classification]],
    [
      "Could close",
      closing === undefined ? undefined : `${closing}, as an order of its own that is marked reduce_only`,
    ],
    ["Decided", `${moment(decision.decided_at, now)}, decision ${decision.decision_id}`],
    ["Valid until", decision.valid_until === undefined ? undefined : moment(decision.valid_until, now)],
    ["Limits", decision.envelope_version === undefined ? "none" : `envelope version ${decision.envelope_version}`],
    ["Halts", `known up to epoch ${decision.halt_epoch}`],
  ]);
}

const effects: Readonly<Record<NonNullable<Decision["classification"]>, string>> = {
  REDUCE: "REDUCE: it only shrinks the position",
  INCREASE: "INCREASE: it adds risk",
  FLIP: "FLIP: it closes the position and opens the opposite one",
};

const order: readonly string[] = Object.keys(gateQuestions);
const nameWidth = Math.max(...order.map((name) => name.length));

function checkText({ gate, result, figures, microseconds }: Check, paint: Paint): string {
  const word = result === "PASSED" ? paint.green("passed") : paint.red("FAILED");
  const took = `${Number(microseconds.toPrecision(3))} µs`;
  const width = Math.max(0, ...figures.map(({ name }) => clean(name).length));
  const lines = figures.map(
    ({ name, value, age_ms }) => `        ${clean(name).padEnd(width)}  ${clean(value)}${oldText(age_ms)}`,
  );
  const head = `${word}  ${clean(gate).padEnd(nameWidth)}  ${paint.dim(`${gateQuestions[gate] ?? ""} (${took})`)}`;
  return [head, ...lines].join("\n");
}

/** The risk officer is asked only where a fund wants it, so not to have reached that gate means something only after a denial. */
function notReached({ checks, approved }: Decision): readonly string[] {
  const reached = new Set<string>(checks.map(({ gate }) => gate));
  const rest = order.filter((name) => !reached.has(name));
  if (rest.length === 0) return [];
  return [`${approved ? "not asked" : "not reached"}: ${rest.join(", ")}`];
}

function warningsText({ warnings }: Decision): readonly string[] {
  if (warnings.length === 0) return [];
  const lines = warnings.map(({ limit, used, threshold }) =>
    clean(`  ${limit}: ${exactPercent(used)} of the limit would be used (reported from ${exactPercent(threshold)} on)`),
  );
  return ["", "Warnings", ...lines];
}

function originalText({ original }: Decision, now: Instant, paint: Paint): readonly string[] {
  if (original === undefined) return [];
  const when = clean(`decision ${original.decision_id}, ${moment(original.decided_at, now)}`);
  return ["", `The first decision under this key (${when}):`, verdictText(original, paint)];
}
