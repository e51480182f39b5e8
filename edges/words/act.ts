// Carries out what a dialog asked for, and says what the server proved: order by order, with the audit id, never that something was sent.

import type { Instant } from "../../contracts/src/instant.ts";
import { clean } from "../../contracts/src/text/clean.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";
import type { AnswerOf, Client } from "../client/src/types.ts";
import { baselineText, haltLine, provenText } from "./halt-words.ts";
import { isOpen, termsText } from "./order-words.ts";
import { moment } from "./times.ts";

export interface Choice {
  readonly label: string;
  /** Empty means everything. */
  readonly id: string;
  /** What is lifted by it: nobody lifts what was raised after they read the list. */
  readonly haltIds?: readonly string[];
  /** Whether a one-time code is asked for. */
  readonly needsCode?: boolean;
}

/** What was answered, for whoever carries it out. */
export interface Request {
  readonly act: "halt" | "resume" | "cosign" | "cancel" | "flatten";
  readonly target: Choice;
  readonly reason: string;
  readonly confirmation: string;
  readonly code: string;
  readonly requestId?: string;
}

export interface Outcome {
  readonly lines: readonly string[];
  readonly tone: "plain" | "good" | "bad";
  readonly done: boolean;
}

export interface Acting {
  readonly client: Client;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  report(outcome: Outcome): void;
  /** How another person signs a request to resume, where it is not by the keys of the terminal desk. */
  readonly howToSign?: string;
}

const signingKeys = "They press h, u and c in their own desk";

const lookEveryMs = 500;
/** After that the outcome says what is still owed. */
const proofMsMax = 30_000;

/** Throws what the server or the network did before anything is known of the act; each face has its own words for that. */
export async function act(request: Request, acting: Acting): Promise<void> {
  await acts[request.act](request, acting);
}

const acts: Readonly<Record<Request["act"], (request: Request, acting: Acting) => Promise<void>>> = {
  halt,
  resume,
  cosign,
  cancel,
  flatten,
};

/** What it was done to, in a sentence. */
export function nameOf({ id, label }: Choice): string {
  return clean(id === "" ? label || "everything" : id);
}

function scoped({ target }: Request): { readonly id?: string } {
  return target.id === "" ? {} : { id: target.id };
}

function fundScoped({ target }: Request): { readonly fundId?: string } {
  return target.id === "" ? {} : { fundId: target.id };
}

function because({ reason }: Request): { readonly reason?: string } {
  return reason === "" ? {} : { reason };
}

function auditLine(auditId: string | undefined): string {
  return `Audit ${auditId === undefined ? "id not known" : clean(auditId)}`;
}

/** Asks again until it is proven, the time is over or the desk is left. What was proven before stays when the server cannot be asked any more. */
async function until(acting: Acting, first: Outcome, look: () => Promise<Outcome>): Promise<void> {
  const { clock, timers, signal, report } = acting;
  const end = clock.now() + proofMsMax * 1_000;
  let last = first;
  let complaint: readonly string[] = [];
  for (;;) {
    const isOver = last.done || clock.now() >= end || signal.aborted;
    report({ ...last, lines: [...last.lines, ...complaint], done: isOver });
    if (isOver) return;
    await timers.sleep(lookEveryMs, signal);
    try {
      last = await look();
      complaint = [];
    } catch (thrown) {
      complaint = [`How far it has come cannot be read now: ${clean((thrown as Error).message)}`];
    }
  }
}

/** Where nobody was notified, "yes" would be read as if somebody had been. */
export function stepLine({ step, proven, detail }: Step): string {
  const isLogOnly = proven && provenText(step, detail) === "log only";
  const word = isLogOnly ? detail : `${proven ? "yes" : "NOT YET"}${detail === "" ? "" : `: ${detail}`}`;
  return `${step.padEnd(9)}  ${word}`;
}

interface Step {
  readonly step: string;
  readonly proven: boolean;
  readonly detail: string;
}

async function halt(request: Request, acting: Acting): Promise<void> {
  const { client } = acting;
  const { confirmation } = request;
  const answer = await client.requestHalt({ ...scoped(request), confirmation, ...because(request) });
  const head = answer.acknowledged
    ? `HALTED ${nameOf(request.target)}: every live risk engine confirmed it.`
    : `LATCHED ${nameOf(request.target)}: not every risk engine has confirmed it yet; that is tried until it has.`;
  const facts = [`Halt ${clean(answer.halt_id)}, epoch ${answer.epoch}. ${auditLine(answer.audit_id)}`];
  const tone = answer.acknowledged ? "good" : "bad";
  await until(acting, { lines: [head, ...facts], tone, done: false }, async () => {
    const { progress } = await client.getHaltStatus();
    const steps = progress.find(({ halt_id }) => halt_id === answer.halt_id)?.steps ?? [];
    const lines = steps.map((step) => clean(stepLine(step)));
    const isDone = steps.length > 0 && steps.every(({ proven }) => proven);
    return { lines: [head, ...facts, ...lines], tone, done: isDone };
  });
}

type Status = AnswerOf<"resumeHalt">;

async function resume(request: Request, { client, clock, report, howToSign }: Acting): Promise<void> {
  const { confirmation, target, code } = request;
  const haltIds = [...(target.haltIds ?? [])];
  const status = await client.resumeHalt({
    ...scoped(request),
    ...because(request),
    confirmation,
    ...(haltIds.length > 0 && { haltIds }),
    ...(code !== "" && { oneTimeCode: code }),
  });
  report(target.id === "" ? pending(status, clock.now(), howToSign ?? signingKeys) : lifted(status, clock.now()));
}

/** Nothing is lifted by one person: whoever asked must not believe it. */
function pending(status: Status, now: Instant, howToSign: string): Outcome {
  if (status.lifted_halt_ids.length > 0) return lifted(status, now);
  const until = status.expires_at === undefined ? "" : ` It is good until ${moment(status.expires_at, now)}.`;
  return {
    lines: [
      `NOTHING IS LIFTED YET: another operator must sign.${until}`,
      `Request ${clean(status.request_id ?? "not known")}. ${auditLine(status.audit_id)}`,
      `${howToSign}, or: ctl cmd resume --cosign ${clean(status.request_id ?? "")}`,
      `Halts ${status.halts.length}. ${baselineText(status.baseline)}`,
    ],
    tone: "plain",
    done: true,
  };
}

function lifted(status: Status, now: Instant): Outcome {
  const count = status.lifted_halt_ids.length;
  const restarts = status.restarts.map(clean).join(", ");
  return {
    lines: [
      `LIFTED ${count} ${count === 1 ? "halt" : "halts"}. ${baselineText(status.baseline)}`,
      auditLine(status.audit_id),
      ...status.lifted_halt_ids.map((id) => `Halt ${clean(id)} is lifted`),
      ...status.halts.map((halt) => `Still in force: ${haltLine(halt, now)}`),
      `Restarts ${restarts === "" ? "nothing: another halt still covers it" : restarts}`,
    ],
    tone: count > 0 ? "good" : "bad",
    done: true,
  };
}

async function cosign(request: Request, { client, clock, report }: Acting): Promise<void> {
  const { confirmation, code, requestId = "" } = request;
  const status = await client.resumeHalt({ requestId, confirmation, oneTimeCode: code });
  report(lifted(status, clock.now()));
}

async function cancel(request: Request, acting: Acting): Promise<void> {
  const { client } = acting;
  const { confirmation } = request;
  const answer = await client.cancelAllOrders({ ...fundScoped(request), confirmation, ...because(request) });
  const { audit_id: auditId } = answer;
  let { orders } = answer;
  await until(acting, cancelOutcome(orders, auditId), async () => {
    orders = await Promise.all(
      orders.map((one) => (isOpen(one) ? client.getOrder({ orderId: one.order.order_id }) : one)),
    );
    return cancelOutcome(orders, auditId);
  });
}

function cancelOutcome(orders: AnswerOf<"cancelAllOrders">["orders"], auditId: string | undefined): Outcome {
  const left = orders.filter(isOpen).length;
  const tally =
    orders.length === 0
      ? "There was no open order."
      : `${orders.length - left} of ${orders.length} ended${left === 0 ? "." : `, ${left} NOT YET: asked for until they are gone.`}`;
  return {
    lines: [
      tally,
      auditLine(auditId),
      ...orders.map((one) => clean(`${one.state.padEnd(15)} ${one.order.order_id}: ${termsText(one)}`)),
    ],
    tone: left === 0 ? "good" : "plain",
    done: left === 0,
  };
}

async function flatten(request: Request, acting: Acting): Promise<void> {
  const { client } = acting;
  const { confirmation } = request;
  let state: AnswerOf<"getFlatten"> = await client.flattenPaper({
    ...fundScoped(request),
    confirmation,
    ...because(request),
  });
  await until(acting, flattenOutcome(state), async () => {
    state = await client.getFlatten({ flattenId: state.flatten_id });
    return flattenOutcome(state);
  });
}

function flattenOutcome(state: AnswerOf<"getFlatten">): Outcome {
  const isDone = state.done_at !== undefined;
  const unflat = state.funds.filter((fund) => fund.state === "NOT_FLAT").map(({ fund_id }) => clean(fund_id));
  const head = isDone
    ? "FLAT: the broker says that nothing is left."
    : unflat.length > 0
      ? `NOT DONE: the broker does not call ${unflat.join(", ")} flat.`
      : "NOT DONE YET: what is left is tried until it is done.";
  return {
    lines: [
      head,
      `Flatten ${clean(state.flatten_id)}. ${auditLine(state.audit_id)}`,
      ...state.lines.map((line) =>
        clean(
          `${line.state.padEnd(15)} ${line.fund_id} ${line.symbol} ${line.quantity}${line.complaint === undefined ? "" : `: ${line.complaint}`}`,
        ),
      ),
      ...state.orders.map((order) => clean(`${order.state.padEnd(15)} order ${order.order_id ?? ""}`)),
    ],
    tone: isDone ? "good" : unflat.length > 0 ? "bad" : "plain",
    done: isDone || unflat.length > 0,
  };
}
