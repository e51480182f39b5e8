// The open orders by their ids. They come and go by the thousand, and a map that is rebuilt while they do leaves tables behind that hold on
// to everything that was in them until old memory is swept: every order would survive, and be moved about, long after it ended. So the map
// holds places only, and the orders stand in a list that forgets them at once.
import type { OpenOrder } from "./reservations.ts";

export interface OpenOrders {
  readonly size: number;
  get(id: string): OpenOrder | undefined;
  /** Under an id that is not there yet. */
  add(order: OpenOrder): void;
  delete(id: string): void;
  values(): Iterable<OpenOrder>;
}

export function createOpenOrders(): OpenOrders {
  const places = new Map<string, number>();
  const orders: (OpenOrder | undefined)[] = [];
  const free: number[] = [];
  return {
    get size() {
      return places.size;
    },
    get(id) {
      const place = places.get(id);
      return place === undefined ? undefined : orders[place];
    },
    add(order) {
      const place = free.pop() ?? orders.length;
      orders[place] = order;
      places.set(order.id, place);
    },
    delete(id) {
      const place = places.get(id);
      if (place === undefined) return;
      places.delete(id);
      orders[place] = undefined;
      free.push(place);
    },
    values: () => orders.filter((order) => order !== undefined),
  };
}
