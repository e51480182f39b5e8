// One operation of the API as data, and how a flat object of arguments becomes a request of it. The table of operations is
// generated; this is everything that reads it.

export interface OperationPlace {
  readonly method: string;
  /** With parameters in braces: "/v1/service-tokens/{token_id}". */
  readonly path: string;
  readonly pathKeys: readonly string[];
  readonly queryKeys: readonly string[];
  /** Absent when the operation takes no body. */
  readonly bodyKeys?: readonly string[];
  readonly answer: "json" | "text";
  /** It takes an Idempotency-Key: the same one twice is done once. */
  readonly takesKey?: boolean;
}

/** Where to send what; the path begins with a slash and carries its query. */
export interface RequestShape {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Only the argument's own name is converted; what is inside a value belongs to the caller. */
export function camelCase(key: string): string {
  return key.replace(/_(.)/g, (_all, first: string) => first.toUpperCase());
}

/** A misspelt or missing argument is a TypeError: dropping it in silence would send something else than was meant. */
export function requestShape(id: string, place: OperationPlace, given: Arguments): RequestShape {
  const values = new Map<string, unknown>();
  const keys = [...place.pathKeys, ...place.queryKeys, ...(place.bodyKeys ?? [])];
  // Not the other way round: where the underscores of `rolling24h` were cannot be told from it.
  const known = new Map(keys.flatMap((key) => [[camelCase(key), key] as const, [key, key] as const]));
  for (const [name, value] of Object.entries(given)) {
    const key = known.get(name);
    if (key === undefined) throw new TypeError(`${id} takes no argument "${name}"`);
    values.set(key, value);
  }
  const query = queryText(place.queryKeys, values);
  const path = place.path.replace(/\{(\w+)\}/g, (_braces, key: string) => pathSegment(id, key, values.get(key)));
  return {
    method: place.method,
    path: query === "" ? path : `${path}?${query}`,
    // JSON has no undefined, so an argument that is undefined is one that was not given.
    body: place.bodyKeys === undefined ? undefined : JSON.stringify(pick(place.bodyKeys, values)),
  };
}

function pathSegment(id: string, key: string, value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  // A dot segment would be resolved away and name another path.
  if (text === "" || text === "." || text === "..") throw new TypeError(`${id} needs a value for ${key}`);
  return encodeURIComponent(text);
}

function queryText(keys: readonly string[], values: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams();
  for (const key of keys) {
    const value = values.get(key);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, String(one));
  }
  return query.toString();
}

function pick(keys: readonly string[], values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => values.has(key)).map((key) => [key, values.get(key)]));
}
