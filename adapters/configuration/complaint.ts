// A complaint about the configuration: which key, what it held, what was expected, where it was written, and the nearest
// known name. A value is shown only when it cannot be a secret.
import { isSecretName, redactText } from "../log/log-redaction.ts";
import { type KeyNode, type Path, pathText } from "./schema-tree.ts";

export interface Complaint {
  /** The key, or the environment variable, or the file that it is about. */
  readonly path: string;
  /** What it held, shortened; "(not shown)" when it may be secret, "nothing" when it was missing. */
  readonly value: string;
  readonly expected: string;
  /** `file:line`, `environment NAME`, `environment` when the path is the name, or "" when it was written nowhere. */
  readonly where: string;
  /** The nearest known key, name or value. */
  readonly suggestion?: string;
  /** Said instead of all the above where "found this, expected that" would not be how a person puts it. */
  readonly sentence?: string;
}

const notShown = "(not shown)";
const valueCharsMax = 80;

/** One complaint as one line for a person. */
export function complaintLine(complaint: Complaint): string {
  if (complaint.sentence !== undefined) return complaint.sentence;
  const hint = complaint.suggestion === undefined ? "" : `; did you mean ${complaint.suggestion}?`;
  return `${placeText(complaint)}: found ${complaint.value}, expected ${complaint.expected}${hint}`;
}

/** A complaint about a file as a whole has the file's name in its place already. */
function placeText({ path, where }: Complaint): string {
  if (where === path || where.startsWith(`${path}:`)) return where;
  return where === "" ? path : `${path} (${where})`;
}

/** A value as a complaint may show it. Short texts in quotes; maps and lists by name only, for they may hold secrets. */
export function shownValue(value: unknown, path: Path, node: KeyNode | undefined): string {
  if (value === undefined || value === null) return "nothing";
  if (node?.facts?.secrecy !== undefined || path.some((step) => isSecretStep(step, node))) return notShown;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  const text = typeof value === "string" ? JSON.stringify(redactText(value.slice(0, 4_096))) : String(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
}

/** A known key says itself whether it is secret; of an unknown one only the name can tell. */
function isSecretStep(step: string | number, node: KeyNode | undefined): boolean {
  return node === undefined && typeof step === "string" && step !== "secrets" && isSecretName(step);
}

export function complaintAt(path: Path, parts: Omit<Complaint, "path">): Complaint {
  return { path: pathText(path), ...parts };
}
