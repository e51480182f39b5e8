// The configuration in force as YAML, each value with its source behind it. What is secret is shown as present or absent in
// a comment; the rest can be read back as a configuration file.
import { stringify } from "yaml";
import type { Configuration } from "./schema.ts";
import { isLeaf, type KeyNode, keyTree, type Path, pathText } from "./schema-tree.ts";
import type { Source, Sources } from "./sources.ts";
import { hasCredentials, serverOf } from "./value-forms.ts";

export function printConfiguration(configuration: Configuration, sources: Sources): string {
  return `${linesOf(configuration, keyTree, [], sources).join("\n")}\n`;
}

const indentOf = (path: Path): string => "  ".repeat(Math.max(0, path.length - 1));

function linesOf(value: unknown, node: KeyNode, path: Path, sources: Sources): readonly string[] {
  if (isLeaf(node)) return [leafLine(value, node, path, sources)];
  const members = membersOf(value, node, path).flatMap(([step, inner, child]) =>
    linesOf(inner, child, [...path, step], sources),
  );
  if (path.length === 0) return members;
  const name = typeof path.at(-1) === "number" ? "-" : `${keyText(path.at(-1))}:`;
  const holdsValue = members.some((line) => !line.trimStart().startsWith("#"));
  if (holdsValue) return [`${indentOf(path)}${name}`, ...members];
  const empty = node.kind === "list" ? "[]" : "{}";
  // The comments of an otherwise empty section stand below it; YAML does not mind where a comment is.
  return [`${indentOf(path)}${name} ${empty}${members.length === 0 ? " # default" : ""}`, ...members];
}

type Member = readonly [step: string | number, value: unknown, node: KeyNode];

function membersOf(value: unknown, node: KeyNode, path: Path): readonly Member[] {
  const record = (value ?? {}) as Readonly<Record<string, unknown>>;
  const named = [...node.children].filter(([name]) => path.length > 0 || name !== "fund");
  const element = node.element;
  if (element === undefined) return named.map(([name, child]) => [name, record[name], child]);
  return Object.entries(record).map(([name, inner]) => [node.kind === "list" ? Number(name) : name, inner, element]);
}

function leafLine(value: unknown, node: KeyNode, path: Path, sources: Sources): string {
  const source = sourceText(sources.get(pathText(path)));
  const name = keyText(path.at(-1));
  const { secrecy, whenAbsent, environment } = node.facts ?? {};
  const hint = environment === undefined ? "" : ` [${environment}]`;
  const instead = whenAbsent === undefined || whenAbsent === "none" ? "" : ` (${whenAbsent})`;
  if (value === undefined) return `${indentOf(path)}# ${name}: absent${instead}${hint}`;
  if (secrecy === "whole") return `${indentOf(path)}# ${name}: present, not shown; ${source}`;
  if (secrecy === "credentials" && hasCredentials(String(value))) {
    return `${indentOf(path)}# ${name}: present, credentials not shown, server ${oneLine(serverOf(String(value)))}; ${source}`;
  }
  return `${indentOf(path)}${name}: ${valueText(value)} # ${source}`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  // JSON's quotes are YAML's too, and leave no doubt what is a text.
  return typeof value === "string" && !/^[A-Za-z][\w./-]*$/.test(value) ? JSON.stringify(value) : plain(value);
}

function keyText(step: string | number | undefined): string {
  return plain(step ?? "");
}

function plain(value: unknown): string {
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

function sourceText(source: Source | undefined): string {
  if (source === undefined || source.from === "default") return "default";
  return oneLine(source.from === "file" ? source.where : `environment ${source.name}`);
}

/** A comment ends with its line, so what stands in one may not have a line break. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}
