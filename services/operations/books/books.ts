// The job that holds the books against each other, all the time: orders and trades, positions, ledger, values, and what the risk engine believes.
//
//  1. A difference is believed at the second look, which comes soon after the first and adds everything up anew. Then it alarms, with the figures.
//  2. Nobody answering is no agreement: a check that could not be made keeps the moment of the last one that was.
//  3. Since when something differs or is on its way is kept: a restart makes no difference younger.
//  4. However much there is to read, the job takes a small share of the time.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Books } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type {
  BelievedApproval,
  BelievedLine,
  BooksLook,
  LedgerMark,
  LiveOrder,
} from "../../../contracts/src/records/books.ts";
import { approvalGraceMs } from "../../../core/orders/approval-list.ts";
import { overReserved } from "../../../core/reconcile/book-reservations.ts";
import {
  addLook,
  type BookCheckName,
  type BookResult,
  type BookTotals,
  bookChecks,
  compareBooks,
  isQuiet,
  noTotals,
} from "../../../core/reconcile/books.ts";
import type { BooksQueries } from "../../../ports/books-queries.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { createFirstSeen } from "../first-seen.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";

interface BooksPorts extends Pick<ServicePorts, "riskBooks" | "clock" | "timers" | "log" | "crash" | "store"> {
  readonly booksQueries: BooksQueries;
}

const everyMs = 5_000;
/** After a first sight of a difference. */
const secondLookMs = 1_000;
/** A look that takes long is followed by a rest that is so many times as long. */
const restTimes = 9;
const restMsMax = 60_000;
/** A trade that another book does not have after this is not on its way any more. */
const onItsWayMsMax = 60_000;
/** A risk engine that has not said what it holds for this long is an alarm: a restart takes less. */
const silentMsMax = 60_000;
/** Everything is added up anew at least this often, also when all agrees. */
const carriedMsMax = 600_000;
const shownMax = 5;
/** How far the ledger was at so many looks is remembered. */
const ledgerMarksMax = 10;

interface Believed {
  readonly believed: readonly BelievedLine[];
  readonly approvals: readonly BelievedApproval[];
}

interface Check {
  /** When something was compared the last time. */
  readonly at: Instant | undefined;
  readonly compared: number;
  /** Seen at the last look; believed when the look before saw it as well. */
  readonly seen: ReadonlySet<string>;
  readonly believed: string;
  /** Since when the oldest of what is believed has been seen. */
  readonly since: Instant | undefined;
  /** What could not be compared at the last look, and why. */
  readonly notCompared: string;
}

export interface RunningBooks {
  getBooks(): Promise<Books>;
  /** For tests: one look now. */
  look(): Promise<number>;
  stop(): Promise<void>;
}

const names = Object.keys(bookChecks) as readonly BookCheckName[];

export function startBooks(ports: BooksPorts): RunningBooks {
  const { booksQueries, clock, log } = ports;
  const alarms = createWorkerAlarms(ports);
  const checks = new Map<BookCheckName, Check>();
  /** When each trade that is on its way was first seen to be. */
  const onItsWay = createFirstSeen(ports, "books on their way");
  /** And when each order was, for which more is reserved than may trade. */
  const reservedTooMuch = createFirstSeen(ports, "books reserved");
  const differing = new Map(names.map((name) => [name, createFirstSeen(ports, `books ${name}`)]));
  let carried: { readonly totals: BookTotals; readonly since: Instant } | undefined;
  /** Oldest first. */
  let ledgerBefore: readonly LedgerMark[] = [];
  let previous: { readonly journal: number; readonly liveOrders: readonly LiveOrder[] } | undefined;

  async function look(): Promise<number> {
    const at = clock.now();
    if (carried !== undefined && millisecondsBetween(carried.since, at) > carriedMsMax) carried = undefined;
    const base = carried?.totals ?? noTotals;
    const { believed, approvals } = (await askEngine()) ?? {};
    const orderIds = (approvals ?? []).map(({ orderId }) => orderId);
    const found = await booksQueries.look(base.marks, previous?.journal, orderIds);
    const totals = addLook(base, found);
    const late = await lateOf(found, at);
    const liveBefore = previous?.liveOrders ?? [];
    const engine = { believed, approvals, overReserved: await lastingOf(approvals ?? [], found, at) };
    const results = compareBooks({ totals, look: found, ...engine, liveBefore, late, at: clock.now(), ledgerBefore });
    // By now all of that is booked, and a value that comes later has to have it.
    ledgerBefore = [...ledgerBefore, { at: clock.now(), entries: found.marks.entries }].slice(-ledgerMarksMax);
    let isSeen = false;
    for (const name of names) {
      if (results[name].differences.length > 0) isSeen = true;
      if (name === "exposure" && believed === undefined && results.exposure.differences.length === 0) continue;
      await judge(name, results[name], at);
    }
    previous = { journal: found.marks.journal, liveOrders: found.liveOrders };
    // What does not agree is added up from the beginning the next time.
    if (isSeen) carried = undefined;
    else if (isQuiet(found)) carried = { totals, since: carried?.since ?? at };
    const tookMs = millisecondsBetween(at, clock.now());
    return Math.min(Math.max(isSeen ? secondLookMs : everyMs, tookMs * restTimes), restMsMax);
  }

  let silentSince: Instant | undefined;
  async function askEngine(): Promise<Believed | undefined> {
    try {
      const answer = { believed: await ports.riskBooks.lines(), approvals: await ports.riskBooks.approvals() };
      silentSince = undefined;
      alarms.clear("BOOKS_NOT_COMPARED", "exposure");
      return answer;
    } catch (thrown) {
      const at = clock.now();
      silentSince ??= at;
      log.debug("the risk engine does not say what it holds", { error: messageOf(thrown) });
      if (millisecondsBetween(silentSince, at) > silentMsMax) {
        const sentence = `Exposure has not been compared since ${format(silentSince)}: the risk engine does not say what it holds (${messageOf(thrown)})`;
        await alarms.raise("BOOKS_NOT_COMPARED", "exposure", sentence, { since: format(silentSince) });
      }
      return undefined;
    }
  }

  async function lateOf({ unbooked, unheard }: BooksLook, at: Instant): Promise<ReadonlySet<string>> {
    const ids = [...unbooked, ...unheard].map(({ fillId }) => fillId);
    const since = await onItsWay.note(ids, at);
    return new Set(ids.filter((id) => millisecondsBetween(since.get(id) ?? at, at) > onItsWayMsMax));
  }

  /** Orders for which more than may trade has been reserved since longer than the grace. */
  async function lastingOf(
    approvals: readonly BelievedApproval[],
    look: BooksLook,
    at: Instant,
  ): Promise<ReadonlySet<string>> {
    const ids = [...overReserved(approvals, look.knownOrders).keys()];
    const since = await reservedTooMuch.note(ids, at);
    return new Set(ids.filter((id) => millisecondsBetween(since.get(id) ?? at, at) > approvalGraceMs));
  }

  async function judge(name: BookCheckName, result: BookResult, at: Instant): Promise<void> {
    const { differences, compared, notCompared = [] } = result;
    const before = checks.get(name)?.seen ?? new Set();
    const lasting = differences.filter(({ about }) => before.has(about));
    const believed = lasting.map(({ sentence }) => sentence);
    const seen = await differing.get(name)?.note(
      differences.map(({ about }) => about),
      at,
    );
    const moments = lasting.map(({ about }) => seen?.get(about) ?? at).sort((one, other) => one - other);
    const shown = believed.slice(0, shownMax).join(" ");
    const more = believed.length > shownMax ? ` And ${believed.length - shownMax} more.` : "";
    checks.set(name, {
      at: lookedAt(result, at, checks.get(name)),
      compared,
      seen: new Set(differences.map(({ about }) => about)),
      believed: shown + more,
      since: moments[0],
      notCompared: notCompared.slice(0, shownMax).join(" "),
    });
    if (believed.length === 0) alarms.clear("BOOKS_DIFFER", name);
    else
      await alarms.raise("BOOKS_DIFFER", name, shown + more, {
        check: name,
        differences: believed.length,
        since: format(moments[0] ?? at),
      });
  }

  const loop = startLoop({ ports, what: "the comparison of the books", firstAfterMs: everyMs, run: look });
  return {
    look,
    getBooks: async () => ({ checks: names.map((name) => shownCheck(name, checks.get(name))) }),
    stop: () => loop.stop(),
  };
}

/** Where nothing at all could be compared, the moment of the last time that something was stays. */
function lookedAt(
  { compared, differences, notCompared = [] }: BookResult,
  at: Instant,
  before?: Check,
): Instant | undefined {
  const isNothing = compared === 0 && differences.length === 0 && notCompared.length > 0;
  return isNothing ? before?.at : at;
}

function shownCheck(name: BookCheckName, check: Check | undefined): Books["checks"][number] {
  return {
    name,
    sentence: bookChecks[name],
    agrees: check?.believed === "",
    difference: check?.believed ?? "",
    checked_at: check?.at === undefined ? "" : format(check.at),
    compared: check?.compared ?? 0,
    not_compared: check?.notCompared ?? "",
    since: check?.since === undefined ? "" : format(check.since),
  };
}
