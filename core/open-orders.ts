// The open orders by their ids. They come and go by the thousand, and a map that is rebuilt while they do leaves tables behind that hold on
// to everything that was in them until old memory is swept: every order would survive, and be moved about, long after it ended. So there is
// a table of numbers that says where in a list an order stands, and the list forgets it at once. Nearly every id that is asked about is new,
// and the table alone says so, in one or two looks at memory that is near.
//
// The newest of those that ended keep their slots for a while, with nothing but their ids, because an amendment that comes too late must be
// known for what it is; so the same look tells that, too. The oldest of them leave when there are more than there is room for.
//
// Whoever chooses ids could choose them so that all want the same slot. A search therefore ends after a few slots, and orders that find no
// room in theirs stand in a map beside the table.
import type { OpenOrder } from "./reservations.ts";

export interface OpenOrders {
  readonly size: number;
  get(id: string): OpenOrder | undefined;
  /** Also tells those that ended lately. */
  find(id: string): OpenOrder | "ended" | undefined;
  /** Under an id that is not open. */
  add(order: OpenOrder): void;
  /** As if it had never been. */
  delete(id: string): void;
  /** It is open no more, and remembered. */
  end(id: string): void;
  values(): Iterable<OpenOrder>;
}

/** Numbers of a slot: the id's hash, and the order's place in the list counted from 1; 0 is an empty slot. */
const slotNumbers = 2;
const slotsFirst = 1_024;
/** In a table that is at most half full hardly a search is ever as long. */
const searchMaxDefault = 32;
const noSlot = -1;
const notEnded = -1;
/** Amendments and endings pass each other within a moment; this many orders end in none. */
const endedMaxDefault = 8_192;

function hashOf(id: string): number {
  let hash = id.length;
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return hash ^ (hash >>> 15);
}

// tidy: long because the table is one object whose parts move the same numbers.
export function createOpenOrders(searchMax = searchMaxDefault, endedMax = endedMaxDefault): OpenOrders {
  const ids: (string | undefined)[] = [];
  /** At the same places as the ids; those of orders that ended are empty. */
  const orders: (OpenOrder | undefined)[] = [];
  const free: number[] = [];
  const crowded = new Map<string, number>();
  /** The places of the newest endings, in a ring, and of each place the number of its ending. */
  const endings = new Int32Array(endedMax);
  const endingOf: number[] = [];
  let endingCount = 0;
  let table = new Int32Array(slotsFirst * slotNumbers);
  let slots = slotsFirst;
  let size = 0;

  /** The slot of the id, or the empty one where it would go, or `noSlot`. */
  function slotOf(id: string, hash: number): number {
    for (let step = 0; step < searchMax; step += 1) {
      const slot = (hash + step) & (slots - 1);
      const number = table[slot * slotNumbers + 1] ?? 0;
      if (number === 0) return slot;
      if (table[slot * slotNumbers] === hash && ids[number - 1] === id) return slot;
    }
    return noSlot;
  }

  function placeOf(id: string): number | undefined {
    const slot = slotOf(id, hashOf(id));
    const number = slot === noSlot ? 0 : (table[slot * slotNumbers + 1] ?? 0);
    if (number !== 0) return number - 1;
    return crowded.size === 0 ? undefined : crowded.get(id);
  }

  function put(id: string, place: number): void {
    const hash = hashOf(id);
    const slot = slotOf(id, hash);
    if (slot === noSlot) crowded.set(id, place);
    else {
      table[slot * slotNumbers] = hash;
      table[slot * slotNumbers + 1] = place + 1;
    }
  }

  function grow(): void {
    slots *= 2;
    table = new Int32Array(slots * slotNumbers);
    crowded.clear();
    for (const [place, id] of ids.entries()) if (id !== undefined) put(id, place);
  }

  function addPlace(id: string): number {
    if ((ids.length - free.length + 1) * 2 > slots) grow();
    const place = free.pop() ?? ids.length;
    ids[place] = id;
    put(id, place);
    return place;
  }

  function forget(id: string, place: number): void {
    if (!crowded.delete(id)) empty(slotOf(id, hashOf(id)));
    ids[place] = undefined;
    orders[place] = undefined;
    free.push(place);
  }

  /** Empties a slot and moves up those behind it that would no longer be found. */
  function empty(slot: number): void {
    const mask = slots - 1;
    let hole = slot;
    for (let next = (hole + 1) & mask; table[next * slotNumbers + 1] !== 0; next = (next + 1) & mask) {
      const home = (table[next * slotNumbers] ?? 0) & mask;
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      table[hole * slotNumbers] = table[next * slotNumbers] ?? 0;
      table[hole * slotNumbers + 1] = table[next * slotNumbers + 1] ?? 0;
      hole = next;
    }
    table[hole * slotNumbers + 1] = 0;
  }

  /** The oldest ending leaves its turn of the ring, and its place if that was not taken again since. */
  function noteEnding(place: number): void {
    const turn = endingCount % endedMax;
    const oldest = endings[turn] ?? 0;
    const oldestId = ids[oldest];
    const isStill = endingCount >= endedMax && endingOf[oldest] === endingCount - endedMax;
    if (isStill && oldestId !== undefined) forget(oldestId, oldest);
    endings[turn] = place;
    endingOf[place] = endingCount;
    endingCount += 1;
  }

  return {
    get size() {
      return size;
    },
    get(id) {
      const place = placeOf(id);
      return place === undefined ? undefined : orders[place];
    },
    find(id) {
      const place = placeOf(id);
      return place === undefined ? undefined : (orders[place] ?? "ended");
    },
    add(order) {
      size += 1;
      const place = placeOf(order.id) ?? addPlace(order.id);
      orders[place] = order;
      endingOf[place] = notEnded;
    },
    delete(id) {
      const place = placeOf(id);
      if (place === undefined || orders[place] === undefined) return;
      forget(id, place);
      size -= 1;
    },
    end(id) {
      const place = placeOf(id);
      if (place === undefined || orders[place] === undefined) return;
      orders[place] = undefined;
      size -= 1;
      noteEnding(place);
    },
    values: () => orders.filter((order) => order !== undefined),
  };
}
