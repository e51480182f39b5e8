// How each list is read through the client, and what it means when one cannot be: the login is over, the server is out of reach, or only this list is not to be had.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CallOptions } from "../client/src/call-options.ts";
import type { Client } from "../client/src/types.ts";
import { failureOf, isApiError } from "../ctl/failure.ts";
import type { ListName, Lists, Order } from "./lists.ts";
import type { ListEvent } from "./model/events.ts";
import type { SourceEvent } from "./source.ts";

type Reader<Name extends ListName> = (client: Client, call: CallOptions) => Promise<Lists[Name]>;

const openMax = 500;
const recentMax = 100;
const alarmsMax = 100;

const readers: { readonly [Name in ListName]: Reader<Name> } = {
  funds: (client, call) => client.listFunds({}, call),
  positions: (client, call) => client.getPositions({}, call),
  orders: async (client, call) => {
    const [open, recent] = await Promise.all([
      client.listOrders({ open: true, countMax: openMax }, call),
      client.listOrders({ countMax: recentMax }, call),
    ]);
    return merged(open, recent);
  },
  halts: (client, call) => client.getHaltStatus({}, call),
  blocks: (client, call) => client.listBlocks({}, call),
  use: (client, call) => client.getLimitUse({}, call),
  losses: (client, call) => client.listLosses({}, call),
  stops: (client, call) => client.listStops({ owed: true }, call),
  differences: (client, call) => client.listDifferences({ open: true, countMax: 100 }, call),
  watchdogs: (client, call) => client.listWatchdogs({}, call),
  strategies: (client, call) => client.listStrategies({}, call),
  alarms: (client, call) => client.listAlarms({ hours: 1, countMax: alarmsMax }, call),
};

/** The recent ones were read with the open ones: where both have an order, the later word counts. */
function merged(open: readonly Order[], recent: readonly Order[]): Order[] {
  const found = new Map<string, Order>();
  for (const one of [...open, ...recent]) {
    const known = found.get(one.order.order_id);
    if (known === undefined || known.updated_at <= one.updated_at) found.set(one.order.order_id, one);
  }
  return [...found.values()];
}

export interface Reading {
  readonly client: Client;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** One list, as the events that say what came of it. */
export async function readList(
  name: ListName,
  { client, clock, timeoutMs }: Reading,
  signal: AbortSignal,
): Promise<readonly SourceEvent[]> {
  try {
    const value = await readers[name](client, { signal, timeoutMs });
    // The reader of a name gives that name's list.
    const read = { kind: "list", name, value, at: clock.now() } as ListEvent;
    return [read, { kind: "heard", at: read.at, mode: "polling" }];
  } catch (thrown) {
    if (signal.aborted) return [];
    return failedReading(name, thrown, clock);
  }
}

async function failedReading(name: ListName, thrown: unknown, clock: Clock): Promise<readonly SourceEvent[]> {
  const { exit, detail } = await failureOf(thrown);
  if (exit === exitCodes.notLoggedIn) return [{ kind: "login over", detail }];
  // A server that answers with a problem is there; one that does not answer is not.
  if (!isApiError(thrown) && exit === exitCodes.unavailable) {
    return [{ kind: "unreachable", at: clock.now(), detail }];
  }
  const heard: readonly SourceEvent[] = isApiError(thrown) ? [{ kind: "heard", at: clock.now(), mode: "polling" }] : [];
  return [{ kind: "list failed", name, detail }, ...heard];
}
