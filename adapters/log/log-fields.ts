// Turns whatever a caller hands to the log into plain data that is redacted, bounded and safe to write as JSON. It never
// throws: a getter that does, a cycle or a revoked proxy becomes a word in brackets.
import { combedCharsMax, isSecretName, redacted, redactText } from "./log-redaction.ts";

/** How much of a value is kept; what lies beyond is counted, not written. */
interface Bounds {
  readonly depthMax: number;
  readonly itemsMax: number;
  readonly textCharsMax: number;
}

export const wideBounds: Bounds = { depthMax: 8, itemsMax: 100, textCharsMax: 4_000 };
export const narrowBounds: Bounds = { depthMax: 3, itemsMax: 10, textCharsMax: 300 };

export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [name: string]: Plain };

/** The fields of a line, redacted and bounded. */
export function plainFields(fields: Readonly<Record<string, unknown>>, bounds: Bounds): Record<string, Plain> {
  return plainEntries(ownEntries(fields), bounds, 1, [fields]);
}

function plainEntries(
  entries: readonly (readonly [string, unknown])[],
  bounds: Bounds,
  depth: number,
  above: readonly object[],
): Record<string, Plain> {
  const result: Record<string, Plain> = {};
  for (const [name, value] of entries.slice(0, bounds.itemsMax)) {
    if (value === undefined) continue;
    put(result, name, isSecretName(name) ? masked(value) : plainValue(value, bounds, depth, above));
  }
  if (entries.length > bounds.itemsMax) put(result, "…", `${entries.length - bounds.itemsMax} more`);
  return result;
}

/** Like an assignment, but a field named `__proto__` stays a field. */
function put(record: Record<string, Plain>, name: string, value: Plain): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether a secret is there is no secret: nothing, true and false stay readable. */
function masked(value: unknown): Plain {
  return value === null || typeof value === "boolean" ? value : redacted;
}

function plainValue(value: unknown, bounds: Bounds, depth: number, above: readonly object[]): Plain {
  switch (typeof value) {
    case "string":
      return plainText(value, bounds);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
    case "symbol":
      return plainText(String(value), bounds);
    case "undefined":
      return null;
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : plainObject(value, bounds, depth, above);
  }
}

function plainText(text: string, bounds: Bounds): string {
  const combed = redactText(text);
  const lostCount = Math.max(0, combed.length - bounds.textCharsMax) + Math.max(0, text.length - combedCharsMax);
  return lostCount === 0 ? combed : `${combed.slice(0, bounds.textCharsMax)}… (${lostCount} more characters)`;
}

function plainObject(value: object, bounds: Bounds, depth: number, above: readonly object[]): Plain {
  if (above.includes(value)) return "[circular]";
  if (depth > bounds.depthMax) return "[too deep]";
  const within = [...above, value];
  try {
    if (value instanceof Error) return plainEntries(errorEntries(value), bounds, depth + 1, within);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof URL) return plainText(value.href, bounds);
    if (value instanceof Map) return plainMap(value, bounds, depth, within);
    if (value instanceof Set || Array.isArray(value)) return plainList([...value], bounds, depth, within);
    return plainEntries(ownEntries(value), bounds, depth + 1, within);
  } catch {
    // A revoked proxy or an exotic object refuses to be read; the word says so, and the rest of the line is kept.
    return "[unreadable]";
  }
}

function plainMap(map: ReadonlyMap<unknown, unknown>, bounds: Bounds, depth: number, above: readonly object[]): Plain {
  const entries = [...map].map(([key, value]) => [typeof key === "string" ? key : String(key), value] as const);
  return plainEntries(entries, bounds, depth + 1, above);
}

function plainList(list: readonly unknown[], bounds: Bounds, depth: number, above: readonly object[]): Plain {
  // A pair such as ["authorization", "Bearer …"] is how raw headers and entry lists carry a name and its value.
  const [name] = list;
  if (list.length === 2 && typeof name === "string" && isSecretName(name)) return [name, masked(list[1])];
  const kept = list.slice(0, bounds.itemsMax).map((item) => plainValue(item, bounds, depth + 1, above));
  return list.length > bounds.itemsMax ? [...kept, `… ${list.length - bounds.itemsMax} more`] : kept;
}

/** An error's own story first (name, message, stack), then whatever else it carries: code, retry, facts, cause. */
function errorEntries(error: Error): readonly (readonly [string, unknown])[] {
  const reported = ["name", "message", "stack"];
  const rest = ownEntries(error).filter(([name]) => !reported.includes(name));
  const hidden = (["cause", "errors"] as const)
    .filter((name) => Object.hasOwn(error, name) && !rest.some(([known]) => known === name))
    .map((name) => [name, read(error, name)] as const);
  return [["name", error.name], ["message", error.message], ...rest, ...hidden, ["stack", error.stack]];
}

function ownEntries(value: object): readonly (readonly [string, unknown])[] {
  return Object.keys(value).map((name) => [name, read(value, name)] as const);
}

function read(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    // A getter that throws must not cost the line; the word says which field it was.
    return "[unreadable]";
  }
}
