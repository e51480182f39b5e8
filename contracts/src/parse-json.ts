// Reads JSON, also on engines that misread names. The V8 of Node 24 takes a member's name that is written with an escape for another one that ends
// in a backslash, once it has read that one behind the same members (Node's issue 63785): whoever may send such a name changes the names
// that others send. Whether the engine below does so is tried once; on one that does not, this is the language's own reader and nothing else.
import { atOnce } from "./bounds/at-once.ts";

/** An object or a list that is not closed yet. */
interface Open {
  readonly into: unknown[] | Record<string, unknown>;
  /** The member whose value comes next; undefined in a list, and where a name comes next. */
  name: string | undefined;
}

/** A text, a bracket, or a word or number. What stands between them says nothing once a text is known to be JSON, in which every text has its end. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]]|[^\s{}[\],:"]+/g;

const misreadsNames = isMisreading();

/** What the text says, as `JSON.parse` tells it, or its SyntaxError. */
export function parseJson(text: string): unknown {
  return mayBeMisread(text) ? readByTokens(text) : JSON.parse(text);
}

/** Whether the language's own reader may give a wrong name for one of this text. */
export function mayBeMisread(text: string): boolean {
  return misreadsNames && text.includes("\\");
}

function isMisreading(): boolean {
  JSON.parse('{"tried":0,"\\\\":0}');
  return !Object.hasOwn(JSON.parse('{"tried":0,"\\n":0}') as object, "\n");
}

/** The same by another way: single texts are read by the language, and put together here. */
export function readByTokens(text: string): unknown {
  return atOnce(readingByTokens(text));
}

/** What `parseJson` tells, in slices where that takes long. */
export function* readingJson(text: string): Generator<void, unknown> {
  return mayBeMisread(text) ? yield* readingByTokens(text) : JSON.parse(text);
}

/** So many tokens take about a millisecond. */
const tokensAtOnce = 4_096;

/** The same step by step, for whoever has something else to do in between. */
export function* readingByTokens(text: string): Generator<void, unknown> {
  // Of what is no JSON the language complains as ever.
  JSON.parse(text);
  let read = 0;
  const opened: Open[] = [];
  let whole: unknown;
  const put = (value: unknown): void => {
    const open = opened.at(-1);
    if (open === undefined) whole = value;
    else if (Array.isArray(open.into)) open.into.push(value);
    else setMember(open.into, open.name ?? "", value);
    if (open !== undefined) open.name = undefined;
  };
  for (const [token] of text.matchAll(tokens)) {
    read += 1;
    if (read % tokensAtOnce === 0) yield;
    const open = opened.at(-1);
    if (token === "{" || token === "[") {
      const into = token === "{" ? {} : [];
      put(into);
      opened.push({ into, name: undefined });
    } else if (token === "}" || token === "]") {
      opened.pop();
    } else if (open !== undefined && open.name === undefined && !Array.isArray(open.into)) {
      open.name = JSON.parse(token) as string;
    } else {
      put(JSON.parse(token));
    }
  }
  return whole;
}

/** A member of every name, also of the one that an assignment takes for the prototype. */
function setMember(into: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") into[name] = value;
  else Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });
}
