// A binary heap: the scheduler asks for the earliest timer a million times in a run.
export interface PriorityQueue<Item> {
  push(item: Item): void;
  first(): Item | undefined;
  pop(): Item | undefined;
}

export function priorityQueue<Item>(before: (one: Item, other: Item) => boolean): PriorityQueue<Item> {
  const heap: Item[] = [];

  const swapIfBefore = (child: number, parent: number): boolean => {
    const one = heap[child];
    const other = heap[parent];
    if (one === undefined || other === undefined || !before(one, other)) return false;
    heap[child] = other;
    heap[parent] = one;
    return true;
  };

  const rise = (from: number) => {
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!swapIfBefore(child, parent)) return;
      child = parent;
    }
  };

  const sink = () => {
    let parent = 0;
    for (;;) {
      const left = parent * 2 + 1;
      const leftItem = heap[left];
      const rightItem = heap[left + 1];
      if (leftItem === undefined) return;
      const child = rightItem !== undefined && before(rightItem, leftItem) ? left + 1 : left;
      if (!swapIfBefore(child, parent)) return;
      parent = child;
    }
  };

  return {
    push(item) {
      heap.push(item);
      rise(heap.length - 1);
    },
    first: () => heap[0],
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) {
        heap[0] = last;
        sink();
      }
      return first;
    },
  };
}
