// The paper broker's books in memory, for the simulator and for tests. They belong to no process of ours: who starts the broker again
// hands the same books in, as a broker outside would still have them.

import type { BookSelection, PaperBooks } from "../../adapters/paper-broker/paper-books.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { BookChanges, BookView, PaperReport } from "../../core/paper/paper-broker.ts";
import { isOpenState, type PaperOrder } from "../../core/paper/paper-matching.ts";
import type { PaperPosition } from "../../core/paper/paper-positions.ts";

export function memoryPaperBooks(): PaperBooks {
  const orders = new Map<string, PaperOrder>();
  const open = new Map<string, PaperOrder>();
  const positions = new Map<string, PaperPosition>();
  const reports: PaperReport[] = [];
  const prints = new Map<string, Instant>();
  const actions = new Set<string>();
  const lags = new Map<string, { readonly until: Instant; readonly positions: readonly PaperPosition[] }>();
  let head = { arrivals: 0, begun: false, hideNext: 0 };

  const isHeld = ({ quantity }: PaperPosition): boolean => quantity !== 0n;

  function viewOf({ orderId, actionId, symbols = [], endedBy }: BookSelection): BookView {
    const isWanted = ({ symbol, expiresAt }: PaperOrder): boolean =>
      symbols.includes(symbol) || (endedBy !== undefined && expiresAt !== undefined && expiresAt <= endedBy);
    return {
      ...head,
      cursor: reports.length,
      openCount: open.size,
      order: orderId === undefined ? undefined : orders.get(orderId),
      open: [...open.values()].filter(isWanted),
      positions: [...positions.values()].filter(({ symbol }) => symbols.includes(symbol)),
      prints,
      hasAction: actionId !== undefined && actions.has(actionId),
    };
  }

  function apply(changes: BookChanges): void {
    head = { arrivals: changes.arrivals, begun: changes.begun, hideNext: changes.hideNext };
    for (const order of changes.orders) {
      orders.set(order.clientOrderId, order);
      if (isOpenState(order.state)) open.set(order.clientOrderId, order);
      else open.delete(order.clientOrderId);
    }
    for (const one of changes.positions) positions.set(JSON.stringify([one.account, one.symbol]), one);
    for (const [symbol, at] of changes.prints) prints.set(symbol, at);
    reports.push(...changes.reports);
    if (changes.actionId !== undefined) actions.add(changes.actionId);
  }

  const heldBy = (account: string) => [...positions.values()].filter((one) => one.account === account && isHeld(one));

  return {
    async change(selection, decide) {
      // Nothing is awaited between looking and writing, so nobody comes between.
      const { answer, changes } = decide(viewOf(selection));
      if (changes !== undefined) apply(changes);
      return answer;
    },
    order: async (clientOrderId) => orders.get(clientOrderId),
    account: async (account) => ({
      cursor: reports.length,
      begun: head.begun,
      open: [...open.values()].filter((order) => order.account === account),
      positions: heldBy(account),
      lag: lags.get(account),
    }),
    reports: async (after, countMax) => reports.slice(after, after + countMax),
    cursor: async () => reports.length,
    async waiting(at) {
      const working = [...open.values()];
      return {
        symbols: [...new Set(working.map(({ symbol }) => symbol))],
        someEnded: working.some(({ expiresAt }) => expiresAt !== undefined && expiresAt <= at),
      };
    },
    async setLag(account, until) {
      lags.set(account, { until, positions: heldBy(account) });
    },
  };
}
