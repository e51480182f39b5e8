// An entry of the audit log as one line of a timeline: what it is about, when it happened, and one sentence. Only what the entry says is told; what became of
// it stands in later entries.
import { tryParse } from "../../../contracts/src/instant.ts";

export type Payload = Readonly<Record<string, unknown>>;

interface LineNames {
  readonly symbol?: string;
  readonly strategyId?: string;
  readonly orderId?: string;
  readonly code?: string;
}

const sentenceLengthMax = 500;

export function textAt(payload: Payload, name: string): string | undefined {
  const value = payload[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A member that is a record itself; an empty one where there is none. */
export function partAt(payload: Payload, name: string): Payload {
  const value = payload[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Payload) : {};
}

export function namesOf(action: string, payload: Payload): LineNames {
  const [order, decision, facts] = [partAt(payload, "order"), partAt(payload, "decision"), partAt(payload, "facts")];
  const named = (name: string): string | undefined =>
    [payload, order, facts].map((part) => textAt(part, name)).find((text) => text !== undefined);
  const code =
    textAt(payload, "code") ??
    textAt(decision, "code") ??
    (action.startsWith("block.") ? textAt(payload, "cause") : undefined);
  const [symbol, strategyId, orderId] = [named("symbol"), named("strategy_id"), named("order_id")];
  return {
    ...(symbol !== undefined && { symbol }),
    ...(strategyId !== undefined && { strategyId }),
    ...(orderId !== undefined && { orderId }),
    ...(code !== undefined && { code }),
  };
}

const moments = ["filled_at", "decided_at", "received_at", "lifted_at", "observed_at", "updated_at", "since", "at"];

/** When it happened, as it says itself; undefined where it does not. */
export function happenedAt(payload: Payload): string | undefined {
  const parts = [payload, partAt(payload, "decision")];
  return moments
    .flatMap((name) => parts.flatMap((part) => textAt(part, name) ?? []))
    .find((text) => tryParse(text) !== undefined);
}

export function summaryOf(action: string, payload: Payload): string {
  const sentence = (sentences[action] ?? said)(payload, action).replaceAll(/\s+/g, " ").trim();
  return sentence.length <= sentenceLengthMax ? sentence : `${sentence.slice(0, sentenceLengthMax - 1)}…`;
}

type Sentence = (payload: Payload, action: string) => string;

const shown = (payload: Payload, name: string, otherwise = "?"): string => {
  const value = payload[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
};
const traded = (payload: Payload): string =>
  `${shown(payload, "side")} ${shown(payload, "quantity")} ${shown(payload, "symbol")}`;
const because = (payload: Payload): string => {
  const reason = textAt(payload, "reason") ?? textAt(payload, "detail");
  return reason === undefined ? "." : `: ${ended(reason)}`;
};
const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
const coded = (payload: Payload): string => {
  const code = textAt(payload, "code");
  return code === undefined ? "" : ` (${code})`;
};
/** How it was done and by whom, as the entry names them; nothing where it names nobody. */
const by = (payload: Payload, name: string, how = ""): string => {
  const who = textAt(payload, name);
  return who === undefined ? "" : `${how} by ${who}`;
};
/** One asks for it, and another signs what the first may not lift alone. */
const lifted = (payload: Payload): string => {
  const [who, other] = [textAt(payload, "requested_by"), textAt(payload, "cosigned_by")];
  return other === undefined || other === who ? by(payload, "requested_by") : ` by ${who ?? "?"} and ${other}`;
};
/** A fund's, a strategy's or the firm's. */
const scope = (payload: Payload): string =>
  textAt(payload, "strategy_id") ?? textAt(payload, "fund_id") ?? "the whole firm";

const moved: Sentence = (payload) =>
  `Order ${shown(payload, "order_id")} in ${shown(payload, "symbol")} went from ${shown(payload, "from")} to ${shown(payload, "to")}${coded(payload)}${because(payload)}`;
const said: Sentence = (payload, action) =>
  ended(textAt(payload, "sentence") ?? textAt(payload, "reason") ?? `${action.replaceAll(/[._]/g, " ")}`);
const approvalGone =
  (how: string): Sentence =>
  (payload) =>
    `The approval of order ${shown(payload, "order_id")} ${how}${because(payload)}`;

const sentences: Readonly<Record<string, Sentence>> = {
  "order.created": (payload) =>
    `${traded(payload)} was ordered by ${shown(payload, "strategy_id")} (${shown(payload, "order_type")}).`,
  "order.accepted": moved,
  "order.rejected": moved,
  "order.updated": moved,
  "order.cancelled": moved,
  "order.expired": moved,
  "approval.expired": approvalGone("ran out unsent"),
  "approval.released": approvalGone("was released"),
  "approval.sent": approvalGone("was sent"),
  "approval.ended": approvalGone("was declared ended"),
  "order.decided": (payload) => {
    const [order, decision] = [partAt(payload, "order"), partAt(payload, "decision")];
    if (decision["approved"] === true) return `${traded(order)} was approved.`;
    const why = textAt(decision, "reason");
    return `${traded(order)} was denied by ${shown(decision, "rejecting_gate")}${coded(decision)}${why === undefined ? "." : `: ${ended(why)}`}`;
  },
  "fill.created": (payload) => `${traded(payload)} filled at ${shown(payload, "price")}.`,
  "fill.busted": (payload) => `The fill ${shown(payload, "fill_id")} was taken back${because(payload)}`,
  "stop.triggered": (payload) =>
    `A stop fired: ${shown(payload, "observed_price")} crossed ${shown(payload, "trigger_price")}, ${traded(payload)} is owed.`,
  "stop.attempted": (payload) =>
    `Exit ${shown(payload, "attempt")} of a stop in ${shown(payload, "symbol")} was handed in as ${shown(payload, "order_id")}.`,
  "stop.ended": (payload) => `A stop in ${shown(payload, "symbol")} ended: ${shown(payload, "outcome")}.`,
  "halt.latched": (payload) => `The risk engine halted ${scope(payload)}${because(payload)}`,
  "halt.requested": (payload) =>
    `${shown(payload, "severity")} of ${scope(payload)} is in force${by(payload, "requested_by", ", asked for")}${because(payload)}`,
  "halt.lifted": (payload) =>
    `${shown(payload, "severity")} of ${scope(payload)} was lifted${lifted(payload)}${because(payload)}`,
  "halt.step": (payload) =>
    `After a halt it was proven: ${shown(payload, "step")}. ${ended(shown(payload, "detail", ""))}`,
  "resume.requested": (payload) =>
    `${shown(payload, "requested_by", "An operator")} asked to lift every halt${because(payload)}`,
  "resume.ended": (payload) =>
    `The request to lift every halt was ended${by(payload, "ended_by")}: ${shown(payload, "outcome")}.`,
  "envelope.updated": (payload) =>
    `The limits are now version ${shown(payload, "version")}${by(payload, "updated_by", ", set")}${because(payload)}`,
  "restriction.ended": (payload) =>
    `The restriction ${shown(payload, "kind")} was ended${by(payload, "ended_by")}${because(payload)}`,
  "block.opened": (payload) => `New risk is blocked in ${shown(payload, "symbol", "the fund")}${because(payload)}`,
  "block.ended": (payload) =>
    `The block of ${shown(payload, "symbol", "the fund")} was ended${by(payload, "ended_by")}${because(payload)}`,
  "throttle.released": (payload) =>
    `The throttle of ${shown(payload, "strategy_id")} was released${by(payload, "released_by")}${because(payload)}`,
  "strategy.changed": (payload) =>
    `${shown(payload, "strategy_id")} is ${shown(payload, "status")} with ${shown(payload, "allocation_pct")} of the fund${by(payload, "changed_by", ", set")}${because(payload)}`,
  "ledger.booked": (payload) =>
    `${shown(payload, "kind")} of ${shown(payload, "amount")} ${shown(payload, "currency")} was booked${by(payload, "booked_by")}${because(payload)}`,
  "corporate_action.changed": (payload) =>
    `${shown(payload, "kind")} of ${shown(payload, "symbol")} is ${shown(payload, "state")}.`,
  "signal.received": (payload) => `An alert for ${shown(payload, "symbol")} was accepted.`,
  "signal.refused": (payload) => `An alert was refused${coded(payload)}${because(payload)}`,
  "signal.failed": (payload) =>
    `An alert for ${shown(payload, "symbol")} led to no approval${coded(payload)}${because(payload)}`,
  "alarm.raised": (payload) => `${shown(payload, "code")}: ${ended(shown(payload, "sentence"))}`,
};
