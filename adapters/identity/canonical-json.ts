// One text for one value, whoever wrote it (RFC 8785): keys sorted by their UTF-16 code units, no white space, numbers in their
// shortest form. Two texts are equal exactly when the values are, so their hashes can stand for them.
import { Fault } from "../../contracts/src/fault.ts";

const depthMax = 32;
/** With the u flag this matches only a surrogate without its partner. */
const loneSurrogate = /\p{Surrogate}/u;

/** The canonical text; a fault INVALID_ARGUMENT for what JSON cannot carry exactly. */
export function canonicalJson(value: unknown): string {
  return written(value, 0);
}

function written(value: unknown, depth: number): string {
  if (depth > depthMax) throw refused(`it is nested more than ${depthMax} deep`);
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refused("it has a number that is not finite");
    return JSON.stringify(value);
  }
  if (typeof value !== "object") throw refused(`it has a value of type ${typeof value}`);
  if (Array.isArray(value)) return `[${Array.from(value, (each: unknown) => written(each, depth + 1)).join(",")}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refused("it has an object that is not plain data");
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, each]) => `${text(name)}:${written(each, depth + 1)}`).join(",")}}`;
}

function text(value: string): string {
  // A surrogate without its partner has no UTF-8 form, so two such texts could share a hash.
  if (loneSurrogate.test(value)) throw refused("it has a text that is not well-formed Unicode");
  return JSON.stringify(value);
}

function refused(why: string): Fault {
  return new Fault("INVALID_ARGUMENT", `The parameters cannot be written as canonical JSON: ${why}.`, {
    retry: "never",
  });
}
