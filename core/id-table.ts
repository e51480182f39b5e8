// Which place an id has, in a table of plain numbers: nearly every look is answered in one place of memory, and whoever has read an id's
// characters already hands its hash in. A map of the language reads the id again, and follows four pointers to whatever it finds.
//
// Whoever chooses ids could choose them so that all want the same slot. A search therefore ends after a few slots, and ids that find no room
// in theirs stand in a map beside the table.

export interface IdTable {
  /** Ids that have a place. */
  readonly size: number;
  /** The place of an id, or `noPlace`; the hash is `hashOfId`'s. */
  find(id: string, hash: number): number;
  /** Gives a place, the lowest that was never given or one that is free again, to an id that has none. */
  add(id: string, hash: number): number;
  /** Whose place it is. */
  idAt(place: number): string | undefined;
  /** Frees the place. */
  remove(place: number): void;
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

// tidy: long because the table is one object whose parts move the same numbers.
export function createIdTable(searchMax = searchMaxDefault): IdTable {
  const ids: (string | undefined)[] = [];
  /** Of the ids at the same places. */
  const hashes: number[] = [];
  const free: number[] = [];
  const crowded = new Map<string, number>();
  let table = new Int32Array(slotsFirst * slotNumbers);
  let slots = slotsFirst;

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

  function put(id: string, hash: number, place: number): void {
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
    for (const [place, id] of ids.entries()) if (id !== undefined) put(id, hashes[place] ?? 0, place);
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

  return {
    get size() {
      return ids.length - free.length;
    },
    find(id, hash) {
      const slot = slotOf(id, hash);
      const number = slot === noSlot ? 0 : (table[slot * slotNumbers + 1] ?? 0);
      if (number !== 0) return number - 1;
      return crowded.size === 0 ? noPlace : (crowded.get(id) ?? noPlace);
    },
    add(id, hash) {
      if ((ids.length - free.length + 1) * 2 > slots) grow();
      const place = free.pop() ?? ids.length;
      ids[place] = id;
      hashes[place] = hash;
      put(id, hash, place);
      return place;
    },
    idAt: (place) => ids[place],
    remove(place) {
      const id = ids[place];
      if (id === undefined) return;
      if (crowded.size === 0 || !crowded.delete(id)) empty(slotOf(id, hashes[place] ?? 0));
      ids[place] = undefined;
      free.push(place);
    },
  };
}

/** What stands under ids, for whoever wants to hand hashes in; else as a map of the language. */
export interface IdMap<Value> {
  readonly size: number;
  get(id: string): Value | undefined;
  find(id: string, hash: number): Value | undefined;
  set(id: string, value: Value): void;
  delete(id: string): void;
  values(): Value[];
}

export function createIdMap<Value>(): IdMap<Value> {
  const table = createIdTable();
  const list: (Value | undefined)[] = [];

  function valueAt(place: number): Value | undefined {
    return place === noPlace ? undefined : list[place];
  }

  return {
    get size() {
      return table.size;
    },
    get: (id) => valueAt(table.find(id, hashOfId(id))),
    find: (id, hash) => valueAt(table.find(id, hash)),
    set(id, value) {
      const hash = hashOfId(id);
      const known = table.find(id, hash);
      list[known === noPlace ? table.add(id, hash) : known] = value;
    },
    delete(id) {
      const place = table.find(id, hashOfId(id));
      if (place === noPlace) return;
      table.remove(place);
      list[place] = undefined;
    },
    values: () => list.filter((value) => value !== undefined),
  };
}
