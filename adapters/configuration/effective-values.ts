// The configuration in force as a flat list: every key that has a value, what of it may be shown, and the value itself for comparing. Lists and maps
// of sections are listed member by member; what is secret or carries credentials is never shown.
import { createHash } from "node:crypto";
import type { Configuration } from "./schema.ts";
import { isLeaf, type KeyNode, keyTree, type Path, pathText } from "./schema-tree.ts";
import { hasCredentials, serverOf } from "./value-forms.ts";

export interface EffectiveValue {
  /** `log.level`, `funds[1].fund_id`. */
  readonly path: string;
  /** What people may read of it. */
  readonly shown: string;
  readonly redacted: boolean;
  /** The whole value as JSON: for comparing, never for telling. */
  readonly text: string;
}

const shownLengthMax = 1_000;
const pathLengthMax = 200;
const control = /[\p{Cc}\u2028\u2029]/gu;

export function effectiveValues(configuration: Configuration): readonly EffectiveValue[] {
  return valuesOf(configuration, keyTree, []);
}

function valuesOf(value: unknown, node: KeyNode, path: Path): readonly EffectiveValue[] {
  if (value === undefined) return [];
  if (isLeaf(node)) return [leafOf(value, node, path)];
  const record = value as Readonly<Record<string, unknown>>;
  const { element } = node;
  const named = [...node.children].flatMap(([name, child]) => valuesOf(record[name], child, [...path, name]));
  if (element === undefined) return named;
  const members = Object.entries(record).map(([name, inner]) => {
    const step = node.kind === "list" ? Number(name) : name;
    return valuesOf(inner, element, [...path, step]);
  });
  return [...named, ...members.flat()];
}

function leafOf(value: unknown, node: KeyNode, path: Path): EffectiveValue {
  const text = JSON.stringify(value);
  const { secrecy } = node.facts ?? {};
  const common = { path: bounded(pathText(path)), text };
  if (secrecy === "whole") return { ...common, redacted: true, shown: "(not shown)" };
  if (secrecy === "credentials" && hasCredentials(String(value))) {
    return { ...common, redacted: true, shown: line(`(credentials not shown, server ${serverOf(String(value))})`) };
  }
  return { ...common, redacted: false, shown: line(typeof value === "string" ? value : text) };
}

function line(text: string): string {
  const plain = text.replaceAll(control, " ");
  return plain.length <= shownLengthMax ? plain : `${plain.slice(0, shownLengthMax - 1)}…`;
}

/** A name of a path is the user's own and may be long; two long ones must not become one. */
function bounded(path: string): string {
  const plain = path.replaceAll(control, " ");
  if (plain.length <= pathLengthMax) return plain;
  return `${plain.slice(0, pathLengthMax - 20)}…${createHash("sha256").update(path).digest("hex").slice(0, 16)}`;
}
