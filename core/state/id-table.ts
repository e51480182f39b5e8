// Which place an id has, in a table of plain numbers: nearly every look is answered in one place of memory, and whoever has read an id's
// characters already hands its hash in. A map of the language reads the id again, and follows four pointers to whatever it finds.
//
// Whoever chooses ids could choose them so that all want the same slot. A search therefore ends after a few slots, and ids that find no room
// in theirs stand in a map beside the table.

/** A record that the functions below change in place. */
interface IdTable {
  /** At their places; empty where a place is free. */
  readonly ids: (string | undefined)[];
  /** Of the ids at the same places. */
  readonly hashes: number[];
  readonly free: number[];
  /** Ids that found no room in the table. */
  readonly crowded: Map<string, number>;
  slots: number;
  table: Int32Array;
  readonly searchMax: number;
}

export const noPlace = -1;
/** Numbers of a slot: the id's hash, and its place counted from 1; 0 is an empty slot. */
const slotNumbers = 2;
const slotsFirst = 1_024;
/** In a table that is at most half full hardly a search is ever as long. */
export const searchMaxDefault = 32;
const noSlot = -1;
const hashPrime = 0x01000193;

/** Of so many characters; the next one is taken in by `hashWith`, and `hashDone` ends it. */
export function hashBegin(length: number): number {
  return length;
}

export function hashWith(hash: number, code: number): number {
  return Math.imul(hash ^ code, hashPrime);
}

export function hashDone(hash: number): number {
  return hash ^ (hash >>> 15);
}

export function hashOfId(id: string): number {
  let hash = hashBegin(id.length);
  for (let index = 0; index < id.length; index += 1) hash = hashWith(hash, id.charCodeAt(index));
  return hashDone(hash);
}

export function createIdTable(searchMax = searchMaxDefault): IdTable {
  return {
    ids: [],
    hashes: [],
    free: [],
    crowded: new Map(),
    slots: slotsFirst,
    table: new Int32Array(slotsFirst * slotNumbers),
    searchMax,
  };
}

/** How many ids have a place. */
export function idCount({ ids, free }: IdTable): number {
  return ids.length - free.length;
}

/** The place of an id, or `noPlace`; the hash is `hashOfId`'s. */
export function placeOf(into: IdTable, id: string, hash: number): number {
  const slot = slotOf(into, id, hash);
  const number = slot === noSlot ? 0 : (into.table[slot * slotNumbers + 1] ?? 0);
  if (number !== 0) return number - 1;
  return into.crowded.size === 0 ? noPlace : (into.crowded.get(id) ?? noPlace);
}

/** Gives a place, one that is free again or the next, to an id that has none. */
export function addId(into: IdTable, id: string, hash: number): number {
  if ((idCount(into) + 1) * 2 > into.slots) grow(into);
  const place = into.free.pop() ?? into.ids.length;
  into.ids[place] = id;
  into.hashes[place] = hash;
  put(into, id, hash, place);
  return place;
}

/** Frees the place. */
export function removePlace(from: IdTable, place: number): void {
  const id = from.ids[place];
  if (id === undefined) return;
  if (from.crowded.size === 0 || !from.crowded.delete(id)) empty(from, slotOf(from, id, from.hashes[place] ?? 0));
  from.ids[place] = undefined;
  from.free.push(place);
}

/** The slot of the id, or the empty one where it would go, or `noSlot`. */
function slotOf({ table, slots, ids, searchMax }: IdTable, id: string, hash: number): number {
  for (let step = 0; step < searchMax; step += 1) {
    const slot = (hash + step) & (slots - 1);
    const number = table[slot * slotNumbers + 1] ?? 0;
    if (number === 0) return slot;
    if (table[slot * slotNumbers] === hash && ids[number - 1] === id) return slot;
  }
  return noSlot;
}

function put(into: IdTable, id: string, hash: number, place: number): void {
  const slot = slotOf(into, id, hash);
  if (slot === noSlot) into.crowded.set(id, place);
  else {
    into.table[slot * slotNumbers] = hash;
    into.table[slot * slotNumbers + 1] = place + 1;
  }
}

function grow(into: IdTable): void {
  into.slots *= 2;
  into.table = new Int32Array(into.slots * slotNumbers);
  into.crowded.clear();
  for (const [place, id] of into.ids.entries()) if (id !== undefined) put(into, id, into.hashes[place] ?? 0, place);
}

/** Empties a slot and moves up those behind it that would no longer be found. */
function empty({ table, slots }: IdTable, slot: number): void {
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

/** What stands under ids, for whoever wants to hand hashes in; else as a map of the language. */
export interface IdMap<Value> {
  count(): number;
  get(id: string): Value | undefined;
  find(id: string, hash: number): Value | undefined;
  set(id: string, value: Value): void;
  delete(id: string): void;
  values(): Value[];
}

export function createIdMap<Value>(): IdMap<Value> {
  const table = createIdTable();
  const list: (Value | undefined)[] = [];
  function find(id: string, hash: number): Value | undefined {
    const place = placeOf(table, id, hash);
    return place === noPlace ? undefined : list[place];
  }

  return {
    count: () => idCount(table),
    // A message made from JSON may hold anything: what is no text is nobody's id.
    get: (id) => (typeof id === "string" ? find(id, hashOfId(id)) : undefined),
    find,
    set(id, value) {
      const hash = hashOfId(id);
      const known = placeOf(table, id, hash);
      list[known === noPlace ? addId(table, id, hash) : known] = value;
    },
    delete(id) {
      const hash = hashOfId(id);
      const place = placeOf(table, id, hash);
      if (place === noPlace) return;
      removePlace(table, place);
      list[place] = undefined;
    },
    values: () => list.filter((value) => value !== undefined),
  };
}
