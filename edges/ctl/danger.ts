// What a danger verb would hit: the funds with PAPER or LIVE, their strategies, open orders and positions, named in full. Asked before the word is typed, and all
// that --dry-run does. It only reads. A prompt must never keep a halt back: what cannot be read is reported as unknown, and the prompt goes on.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Client } from "../client/src/types.ts";
import { failureOf, Refusal } from "./failure.ts";
import { followPages } from "./follow-pages.ts";
import { type Column, listing } from "./text/listing.ts";
import type { OrderStatus } from "./text/order-text.ts";
import type { Position } from "./text/position-text.ts";
import { clean } from "./text/text.ts";
import type { Answer, Context, VerbOption } from "./verbs/verb.ts";

export const dryRunOption: VerbOption = {
  name: "dry-run",
  sentence: "Only show what it would hit: funds, strategies, orders and positions. Nothing changes.",
};

/** Everything when it names nothing. */
interface DangerScope {
  /** A fund or a strategy. */
  readonly id?: string;
  readonly paperOnly?: true;
}

interface HitFund {
  readonly fund_id: string;
  readonly mode: string;
  readonly strategies: readonly string[];
  readonly orders: readonly OrderStatus[];
  readonly positions: readonly Position[];
}

/** A prompt waits no longer: whoever halts is in a hurry. */
const promptMsMax = 3_000;
const ordersMax = 10_000;

async function hitBy(client: Client, { id, paperOnly }: DangerScope): Promise<readonly HitFund[]> {
  const [funds, strategies, orders, positions] = await Promise.all([
    client.listFunds(),
    client.listStrategies(),
    openOrders(client),
    client.getPositions(),
  ]);
  const strategy = strategies.find(({ strategy_id }) => strategy_id === id);
  const wanted = funds.filter(
    ({ fund_id, mode }) =>
      (id === undefined || fund_id === id || fund_id === strategy?.fund_id) && (paperOnly !== true || mode === "PAPER"),
  );
  if (wanted.length === 0 && id !== undefined)
    throw noSuchScope(id, paperOnly === true && funds.some((one) => one.fund_id === id));
  const isMeant = (of: string): boolean => strategy === undefined || of === strategy.strategy_id;
  return wanted
    .map(({ fund_id, mode }) => ({
      fund_id,
      mode,
      strategies: strategies
        .filter((one) => one.fund_id === fund_id && isMeant(one.strategy_id))
        .map((one) => one.strategy_id),
      orders: orders.filter(({ order }) => order.fund_id === fund_id && isMeant(order.strategy_id)),
      positions: positions.filter((one) => one.fund_id === fund_id && isMeant(one.strategy_id)),
    }))
    .sort((one, other) => one.mode.localeCompare(other.mode) || one.fund_id.localeCompare(other.fund_id));
}

async function openOrders(client: Client): Promise<readonly OrderStatus[]> {
  const page = await followPages<OrderStatus>(
    ordersMax,
    ({ order }) => order.order_id,
    (asked) => client.listOrders({ open: true, ...asked }),
  );
  return page.rows;
}

function noSuchScope(id: string, isLive: boolean): Refusal {
  const detail = isLive
    ? `${id} is no paper fund: it is never flattened.`
    : `There is no fund and no strategy ${JSON.stringify(id)}.`;
  const hint = "`ctl treasury funds list` and `ctl research strategies list` show what there is.";
  return new Refusal(exitCodes.failed, "NOT_FOUND", detail, hint);
}

function fundLine({ fund_id, mode, strategies, orders, positions }: HitFund): string {
  const counts = `${counted(orders.length, "open order")}, ${counted(positions.length, "position")}`;
  const named = strategies.length === 0 ? "" : ` (${strategies.join(", ")})`;
  return clean(`  ${mode.padEnd(5)}  ${fund_id}${named}: ${counts}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** For a prompt: never a reason not to ask. */
export async function hitLines(context: Context, scope: DangerScope): Promise<readonly string[]> {
  try {
    const hit = await hitBy(await context.client(promptMsMax), scope);
    return ["It hits:", ...hit.map(fundLine)];
  } catch (thrown) {
    const { detail } = await failureOf(thrown);
    return [clean(`What it hits cannot be reported, PAPER or LIVE neither: ${detail}`)];
  }
}

interface HitRow {
  readonly what: "order" | "position";
  readonly mode: string;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly quantity: string;
  readonly state?: string;
  readonly order_id?: string;
}

const columns: readonly Column<HitRow>[] = [
  { name: "what", key: true, of: (one) => one.what },
  { name: "mode", always: true, of: (one) => one.mode },
  { name: "fund_id", key: true, of: (one) => one.fund_id },
  { name: "strategy_id", key: true, of: (one) => one.strategy_id },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "quantity", key: true, of: (one) => one.quantity, number: true },
  { name: "state", of: (one) => one.state },
  { name: "order_id", id: true, of: (one) => one.order_id },
];

interface DryRun {
  /** "would be cancelled" and the like, of what is listed. */
  readonly would: readonly string[];
  readonly scope: DangerScope;
  /** Whether positions and orders are hit, or stay. */
  readonly rows: readonly ("order" | "position")[];
  readonly more?: Readonly<Record<string, unknown>>;
}

export async function dryRun(context: Context, { would, scope, rows, more }: DryRun): Promise<Answer> {
  const hit = await hitBy(await context.client(), scope);
  const all = hit.flatMap(rowsOf).filter(({ what }) => rows.includes(what));
  return listing(context, {
    columns,
    rows: all,
    none: "No open order and no position is hit.",
    data: { dry_run: true, ...more, funds: hit.map(summaryOf), hits: all },
    lead: [...would, "It hits:", ...hit.map(fundLine), "Nothing was changed."].join("\n"),
    wholeIds: true,
  });
}

function summaryOf({ fund_id, mode, strategies, orders, positions }: HitFund): object {
  return { fund_id, mode, strategies, open_orders: orders.length, positions: positions.length };
}

function rowsOf({ mode, orders, positions }: HitFund): readonly HitRow[] {
  return [
    ...orders.map(({ order, state }): HitRow => {
      const { fund_id, strategy_id, symbol, order_id } = order;
      return {
        what: "order",
        mode,
        fund_id,
        strategy_id,
        symbol,
        quantity: `${order.side} ${order.quantity}`,
        state,
        order_id,
      };
    }),
    ...positions.map(({ fund_id, strategy_id, symbol, quantity }): HitRow => {
      return { what: "position", mode, fund_id, strategy_id, symbol, quantity };
    }),
  ];
}
