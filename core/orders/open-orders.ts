// The open orders by their ids. They come and go by the thousand, and a map that is rebuilt while they do leaves tables behind that hold on
// to everything that was in them until old memory is swept: every order would survive, and be moved about, long after it ended. So there is
// a table of numbers that says where in a list an order stands, and the list forgets it at once. Nearly every id that is asked about is new,
// and the table alone says so, in one or two looks at memory that is near.
//
// The newest of those that ended keep their places for a while, with nothing but their ids and who asked, because an amendment that comes too late must be
// known for what it is; so the same look tells that, too. The oldest of them leave when there are more than there is room for.
import { addId, createIdTable, hashOfId, noPlace, placeOf, removePlace, searchMaxDefault } from "../state/id-table.ts";
import type { OpenOrder } from "./open-order.ts";

/** What is kept of an order that ended. */
type AskedOrder = Pick<OpenOrder, "askedBy" | "approvedAt">;

export interface OpenOrders {
  count(): number;
  get(id: string): OpenOrder | undefined;
  /** Also tells those that ended lately; for whoever knows the id's hash. */
  find(id: string, hash: number): OpenOrder | "ended" | undefined;
  /** Under an id that is not open. */
  add(order: OpenOrder): void;
  /** As if it had never been. */
  delete(id: string): void;
  /** It is open no more, and remembered. */
  end(id: string): void;
  values(): Iterable<OpenOrder>;
  /** Whether it ended lately. */
  hasEnded(id: string): boolean;
  /** Who asked for one that ended lately, and when. */
  endedOrder(id: string): AskedOrder | undefined;
  /** Shows the open orders of so many places from one on; gives where to go on, 0 at the end. */
  visit(from: number, countMax: number, show: (order: OpenOrder) => void): number;
}

const notEnded = -1;
/** Amendments and endings pass each other within a moment; this many orders end in none. */
const endedMaxDefault = 8_192;

export function createOpenOrders(searchMax = searchMaxDefault, endedMax = endedMaxDefault): OpenOrders {
  const table = createIdTable(searchMax);
  /** At the places of their ids; those of orders that ended are empty. */
  const orders: (OpenOrder | undefined)[] = [];
  /** The places of the newest endings, in a ring, and of each place the number of its ending. */
  const endings = new Int32Array(endedMax);
  const endingOf: number[] = [];
  /** At the same places, of those that ended. */
  const askers: string[] = [];
  const askedAt: number[] = [];
  let endingCount = 0;
  let size = 0;
  /** What was asked about last: whoever asked mostly adds it now. */
  let lastId = "";
  let lastHash = hashOfId("");

  function placeIn(id: string): number {
    return placeOf(table, id, hashFor(id));
  }

  function hashFor(id: string): number {
    return id === lastId ? lastHash : hashOfId(id);
  }

  function forget(place: number): void {
    removePlace(table, place);
    orders[place] = undefined;
  }

  /** The oldest ending leaves its turn of the ring, and its place if that was not taken again since. */
  function noteEnding(place: number): void {
    const turn = endingCount % endedMax;
    const oldest = endings[turn] ?? 0;
    if (endingCount >= endedMax && endingOf[oldest] === endingCount - endedMax) forget(oldest);
    endings[turn] = place;
    endingOf[place] = endingCount;
    endingCount += 1;
  }

  return {
    count: () => size,
    get(id) {
      const place = placeIn(id);
      return place === noPlace ? undefined : orders[place];
    },
    find(id, hash) {
      lastId = id;
      lastHash = hash;
      const place = placeOf(table, id, hash);
      return place === noPlace ? undefined : (orders[place] ?? "ended");
    },
    add(order) {
      size += 1;
      const { id } = order;
      const hash = hashFor(id);
      const known = placeOf(table, id, hash);
      const place = known === noPlace ? addId(table, id, hash) : known;
      orders[place] = order;
      endingOf[place] = notEnded;
    },
    delete(id) {
      const place = placeIn(id);
      if (place === noPlace || orders[place] === undefined) return;
      forget(place);
      size -= 1;
    },
    end(id) {
      const place = placeIn(id);
      const order = place === noPlace ? undefined : orders[place];
      if (order === undefined) return;
      askers[place] = order.askedBy;
      askedAt[place] = order.approvedAt;
      orders[place] = undefined;
      size -= 1;
      noteEnding(place);
    },
    values: () => orders.filter((order) => order !== undefined),
    hasEnded(id) {
      const place = placeIn(id);
      return place !== noPlace && orders[place] === undefined;
    },
    endedOrder(id) {
      const place = placeIn(id);
      if (place === noPlace || orders[place] !== undefined) return undefined;
      return { askedBy: askers[place] ?? "", approvedAt: askedAt[place] ?? Number.NaN };
    },
    visit(from, countMax, show) {
      const end = Math.min(orders.length, from + countMax);
      for (let place = from; place < end; place += 1) {
        const order = orders[place];
        if (order !== undefined) show(order);
      }
      return end < orders.length ? end : 0;
    },
  };
}
