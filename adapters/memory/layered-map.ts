// A map of the memory store with what one transaction wrote over it. Everything that goes in or comes out is a copy, as it would be with a database.
export interface LayeredMap<Value> {
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  /** Those that fit. */
  filter(fits: (value: Value) => boolean): Value[];
  apply(): void;
}

export function layeredMap<Value>(under: Map<string, Value>): LayeredMap<Value> {
  const over = new Map<string, Value>();
  return {
    get: (key) => structuredClone(over.get(key) ?? under.get(key)),
    has: (key) => over.has(key) || under.has(key),
    set: (key, value) => void over.set(key, structuredClone(value)),
    filter(fits) {
      const found: Value[] = [];
      for (const [key, value] of under) if (!over.has(key) && fits(value)) found.push(structuredClone(value));
      for (const value of over.values()) if (fits(value)) found.push(structuredClone(value));
      return found;
    },
    apply() {
      for (const [key, value] of over) under.set(key, value);
    },
  };
}

/** What every repository of a memory transaction is built with. */
export interface RecordTools {
  /** One operation at a time. */
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}
