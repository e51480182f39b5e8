// What an action would hit, read from the server before the word is typed: the funds with PAPER or LIVE, their strategies, open orders and positions. It must
// never keep a halt back: what cannot be read is reported as unknown, and the dialog goes on.
import type { Client } from "../../client/src/types.ts";
import { type ModeWord, modeOf } from "../model/halted.ts";
import { failureOf } from "../model/panel-state.ts";

export interface Effects {
  readonly mode: ModeWord;
  readonly lines: readonly string[];
}

interface EffectsScope {
  readonly scopeId: string;
  readonly paperOnly: boolean;
}

interface Known {
  readonly funds: Awaited<ReturnType<Client["listFunds"]>>;
  readonly strategies: Awaited<ReturnType<Client["listStrategies"]>>;
  readonly orders: Awaited<ReturnType<Client["listOrders"]>>;
  readonly positions: Awaited<ReturnType<Client["getPositions"]>>;
}

const timeoutMs = 3_000;
const ordersMax = 500;

export async function readEffects(client: Client, scope: EffectsScope): Promise<Effects> {
  const call = { timeoutMs };
  try {
    const [funds, strategies, orders, positions] = await Promise.all([
      client.listFunds({}, call),
      client.listStrategies({}, call),
      client.listOrders({ open: true, countMax: ordersMax }, call),
      client.getPositions({}, call),
    ]);
    return effectsOf({ funds, strategies, orders, positions }, scope);
  } catch (thrown) {
    const detail = failureOf(thrown)?.detail ?? "";
    return {
      mode: "mode not known",
      lines: [`What it hits cannot be reported, PAPER or LIVE neither: ${detail}`],
    };
  }
}

export function effectsOf(
  { funds, strategies, orders, positions }: Known,
  { scopeId, paperOnly }: EffectsScope,
): Effects {
  const strategy = strategies.find(({ strategy_id }) => strategy_id === scopeId);
  const hit = funds.filter(
    ({ fund_id, mode }) =>
      (scopeId === "" || fund_id === scopeId || fund_id === strategy?.fund_id) && (!paperOnly || mode === "PAPER"),
  );
  const isMeant = (id: string): boolean => strategy === undefined || id === strategy.strategy_id;
  const lines = hit.map(({ fund_id, mode }) => {
    const names = strategies.filter((one) => one.fund_id === fund_id && isMeant(one.strategy_id));
    const open = orders.filter(({ order }) => order.fund_id === fund_id && isMeant(order.strategy_id)).length;
    const held = positions.filter((one) => one.fund_id === fund_id && isMeant(one.strategy_id)).length;
    const named = names.length === 0 ? "" : ` (${names.map(({ strategy_id }) => strategy_id).join(", ")})`;
    return `${mode} ${fund_id}${named}: ${counted(open, "open order")}, ${counted(held, "position")}`;
  });
  const more =
    orders.length >= ordersMax ? [`More than ${ordersMax} orders are open: the counts are at least these.`] : [];
  return { mode: modeOf(hit, undefined), lines: [...lines, ...more] };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
