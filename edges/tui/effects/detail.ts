// What Enter opens, as lines of text: an order with every gate and figure as `ctl why` has them, a position with headroom and stop, a fund with its limits and
// strategies, a halt with what will restart. The words are ctl's own.

import picocolors from "picocolors";
import type { Instant } from "../../../contracts/src/instant.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { failureOf, isApiError } from "../../ctl/failure.ts";
import { decisionsText } from "../../ctl/text/decision-text.ts";
import { envelopeText } from "../../ctl/text/envelope-text.ts";
import { pendingText } from "../../ctl/text/halt-text.ts";
import { orderText, submitterText } from "../../ctl/text/order-text.ts";
import { fieldLines } from "../../words/field-lines.ts";
import { haltFields } from "../../words/fields.ts";
import { amount as money, percent } from "../../words/figures.ts";
import { price } from "../../words/money.ts";
import { moment } from "../../words/times.ts";
import type { Target } from "../model/target.ts";
import { evidenceText } from "../screens/halts.ts";
import { limitName } from "../screens/risk.ts";

const noPaint = picocolors.createColors(false);

interface DetailAt {
  readonly clock: Clock;
  /** Of the terminal: text of others stands behind a bar, line by line. */
  readonly columns: number;
}

/** Never throws for what a server said: that is what the detail then shows. */
export async function detailOf(target: Target, client: Client, at: DetailAt): Promise<readonly string[]> {
  try {
    const text = await textOf(target, client, at);
    return text.split("\n");
  } catch (thrown) {
    const { detail, hint } = await failureOf(thrown);
    return [detail, ...(hint === undefined ? [] : [hint])].map(clean);
  }
}

function textOf(target: Target, client: Client, { clock, columns }: DetailAt): Promise<string> {
  switch (target.kind) {
    case "order":
      return orderDetail(target.orderId, client, clock.now());
    case "position":
      return positionDetail(target, client, clock.now());
    case "fund":
      return fundDetail(target.fundId, client, clock);
    case "halt":
      return haltDetail(target, client, { now: clock.now(), columns });
  }
}

/** Order management refuses some orders before anybody decides about them; the order itself then has the reason. */
async function orderDetail(orderId: string, client: Client, now: Instant): Promise<string> {
  const [order, funds, decisions] = await Promise.all([
    client.getOrder({ orderId }),
    client.listFunds(),
    client.getDecisions({ orderId }).catch((thrown: unknown) => {
      if (isApiError(thrown) && thrown.code === "NOT_FOUND") return undefined;
      throw thrown;
    }),
  ]);
  const mode = funds.find(({ fund_id }) => fund_id === order.order.fund_id)?.mode ?? "?";
  const decided =
    decisions === undefined
      ? "No gate decided about it."
      : decisionsText(decisions, submitterText(order), now, noPaint);
  return `${orderText(order, mode, now)}\n\n${decided}`;
}

async function positionDetail(target: Target & { kind: "position" }, client: Client, now: Instant): Promise<string> {
  const { fundId, symbol, strategyId } = target;
  const [buy, sell, stops] = await Promise.all([
    client.getHeadroom({ fundId, symbol, side: "BUY" }),
    client.getHeadroom({ fundId, symbol, side: "SELL" }),
    client.listStops({ fundId }),
  ]);
  const own = stops.filter((stop) => stop.symbol === symbol && stop.strategy_id === strategyId);
  return [
    "HEADROOM",
    ...[buy, sell].flatMap((one) => headroomLines(one, now)),
    "",
    "STOP",
    ...(own.length === 0 ? ["  none"] : own.map((stop) => stopLine(stop, now))),
  ].join("\n");
}

/** As wide as the usual names; a sector's stands out. */
const limitWidth = 24;

function headroomLines(room: AnswerOf<"getHeadroom">, now: Instant): readonly string[] {
  const bound = room.binding === "" ? "nothing" : room.binding;
  return [
    clean(
      `  may ${room.side} ${room.quantity} ${room.symbol} in one order, worth ${money(room.notional)}, bound by ${bound}, as of ${moment(room.as_of, now)}`,
    ),
    ...room.limits.map(({ limit, used, allowed, quantity }) =>
      clean(`    ${limit.padEnd(limitWidth)} leaves ${quantity}: ${money(used)} of ${money(allowed)} used`),
    ),
  ];
}

function stopLine(stop: AnswerOf<"listStops">[number], now: Instant): string {
  const seen = stop.observed_price === undefined ? "no price" : `price ${price(stop.observed_price)}`;
  const when = stop.observed_at === undefined ? "" : `, ${moment(stop.observed_at, now)}`;
  return clean(
    `  ${stop.state}: ${stop.quantity} bought at ${price(stop.basis_price)}, exits at ${price(stop.trigger_price)}; ${seen}${when}${stop.complaint === undefined ? "" : `; ${stop.complaint}`}`,
  );
}

async function fundDetail(fundId: string, client: Client, clock: Clock): Promise<string> {
  const [envelope, uses, strategies] = await Promise.all([
    client.getEnvelope({ fundId }),
    client.getLimitUse({ fundId }),
    client.listStrategies({ fundId }),
  ]);
  return [
    "STRATEGIES",
    ...strategies.map((one) =>
      clean(
        `  ${one.strategy_id}: ${one.status === "live" ? "trading" : one.status}, allocation ${percent(one.allocation_pct)}, profit ${money(one.pnl)}. ${one.sentence}`,
      ),
    ),
    "",
    "LIMITS AND THEIR USE",
    ...uses.map((one) =>
      clean(
        `  ${limitName(one).padEnd(40)} ${one.share === undefined ? `not counted: ${one.reason ?? ""}` : `${percent(one.share).padStart(8)}  ${money(one.used)} of ${money(one.allowed)}${otherEnd(one)}`}`,
      ),
    ),
    "",
    "ENVELOPE",
    envelopeText(envelope, { clock }),
  ].join("\n");
}

/** While something is open: what limits are judged by is the worse end. */
function otherEnd({ used_least, allowed_most, cause }: AnswerOf<"getLimitUse">[number]): string {
  if (cause === undefined) return "";
  const least = used_least === undefined ? "" : `, at least ${money(used_least)}`;
  const most = allowed_most === undefined ? "" : `, at most ${money(allowed_most)} allowed`;
  return `${least}${most}: ${cause}`;
}

async function haltDetail(
  { haltId, scope }: Target & { kind: "halt" },
  client: Client,
  { now, columns }: { readonly now: Instant; readonly columns: number },
): Promise<string> {
  const [status, all] = await Promise.all([
    scope === "" ? client.getHaltStatus() : client.getHaltStatus({ id: scope }),
    client.getHaltStatus(),
  ]);
  const halt = all.halts.find(({ halt_id }) => halt_id === haltId);
  if (halt === undefined) return "This halt is not in force any more.";
  const steps = all.progress.find(({ halt_id }) => halt_id === haltId)?.steps ?? [];
  return [
    ...fieldLines([{ title: "HALT", fields: haltFields(halt, now) }], columns),
    "",
    ...steps.map(({ step, proven, at, detail }) =>
      clean(
        `  ${step.padEnd(9)}  ${proven ? "yes" : "NOT YET"}${at === undefined ? "" : `, ${moment(at, now)}`}${detail === "" ? "" : `: ${detail}`}`,
      ),
    ),
    "",
    `Evidence   ${clean(evidenceText(halt)) || "none"}`,
    `Restarts   ${status.restarts.map(clean).join(", ") || "nothing: another halt covers it"}`,
    `Halt       ${clean(haltId)}, epoch ${halt.epoch ?? "?"}`,
    "",
    ...pendingText(all, now, columns),
  ].join("\n");
}
