// The schema read as a tree of keys, so that everything else (environment, complaints, printing, reference) walks one plain
// structure and does not know the schema library.
import { z } from "zod";
import { type KeyFacts, keyFacts } from "./key-facts.ts";
import { configurationSchema } from "./schema.ts";

export type Path = readonly (string | number)[];

export interface KeyNode {
  readonly kind: "section" | "list" | "map" | "whole" | "number" | "boolean" | "choice" | "text";
  readonly facts: KeyFacts | undefined;
  readonly optional: boolean;
  /** The default, when there is one. */
  readonly fallback: unknown;
  /** What a valid value looks like, in words. */
  readonly expected: string;
  /** The keys of a section, in the order of the schema. */
  readonly children: ReadonlyMap<string, KeyNode>;
  /** What a list or a map holds. */
  readonly element: KeyNode | undefined;
  readonly choices: readonly string[];
}

export const keyTree: KeyNode = nodeOf(configurationSchema);

interface Peeled {
  readonly schema: z.ZodType;
  readonly facts: KeyFacts | undefined;
  readonly optional: boolean;
  readonly fallback: unknown;
}

/** The schema inside its wrappers (default, optional), with what the wrappers say. */
function peel(schema: z.ZodType): Peeled {
  const facts = keyFacts.get(schema);
  if (schema instanceof z.ZodDefault) {
    const inner = peel(schema.unwrap() as z.ZodType);
    return { ...inner, facts: facts ?? inner.facts, fallback: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    const inner = peel(schema.unwrap() as z.ZodType);
    return { ...inner, facts: facts ?? inner.facts, optional: schema instanceof z.ZodOptional };
  }
  return { schema, facts, optional: false, fallback: undefined };
}

function nodeOf(wrapped: z.ZodType): KeyNode {
  const { schema, facts, optional, fallback } = peel(wrapped);
  const plain = { facts, optional, fallback, children: new Map<string, KeyNode>(), element: undefined, choices: [] };
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
    const children = new Map(shape.map(([name, child]) => [name, nodeOf(child)] as const));
    return { ...plain, kind: "section", children, expected: `a map with the keys ${[...children.keys()].join(", ")}` };
  }
  if (schema instanceof z.ZodArray) {
    const element = nodeOf(schema.element as z.ZodType);
    return { ...plain, kind: "list", element, expected: facts?.expected ?? `a list, each ${element.expected}` };
  }
  if (schema instanceof z.ZodRecord) {
    const element = nodeOf(schema.valueType as z.ZodType);
    return { ...plain, kind: "map", element, expected: `a map from names to ${element.expected}` };
  }
  return { ...plain, ...leafOf(schema, facts) };
}

function leafOf(schema: z.ZodType, facts: KeyFacts | undefined): Pick<KeyNode, "kind" | "expected" | "choices"> {
  if (schema instanceof z.ZodEnum) {
    const choices = schema.options.map(String);
    return { kind: "choice", choices, expected: `one of ${choices.join(", ")}` };
  }
  if (schema instanceof z.ZodBoolean) return { kind: "boolean", choices: [], expected: "true or false" };
  if (schema instanceof z.ZodNumber) {
    const range = `from ${schema.minValue} to ${schema.maxValue}`;
    if (schema.isInt) return { kind: "whole", choices: [], expected: facts?.expected ?? `a whole number ${range}` };
    return { kind: "number", choices: [], expected: facts?.expected ?? `a number ${range}` };
  }
  return { kind: "text", choices: [], expected: facts?.expected ?? "text" };
}

/** The node that a path leads to, or undefined when there is no such key. */
export function nodeAt(path: Path): KeyNode | undefined {
  let node: KeyNode | undefined = keyTree;
  for (const step of path) node = node?.children.get(String(step)) ?? node?.element;
  return node;
}

export function isLeaf(node: KeyNode): boolean {
  return node.kind !== "section" && node.kind !== "map" && (node.element === undefined || isLeaf(node.element));
}

export interface NamedKey {
  /** Placeholders stand for list positions and names: `funds[].fund_id`, `reports.schedule.<name>.cron`. */
  readonly path: string;
  readonly steps: readonly string[];
  readonly node: KeyNode;
}

function keysBelow(node: KeyNode, path: string, steps: readonly string[]): readonly NamedKey[] {
  if (isLeaf(node)) return [{ path, steps, node }];
  const inner = [...node.children].flatMap(([name, child]) =>
    keysBelow(child, path === "" ? name : `${path}.${name}`, [...steps, name]),
  );
  if (node.element === undefined) return inner;
  const [suffix, step] = node.kind === "list" ? ["[]", "0"] : [".<name>", "<name>"];
  return [...inner, ...keysBelow(node.element, `${path}${suffix}`, [...steps, step])];
}

/** Every key that holds a value, in the order of the schema. */
export const namedKeys: readonly NamedKey[] = keysBelow(keyTree, "", []);

/** A path in words: `funds[1].compliance.cat_enabled`; a name with odd characters in quotes. */
export function pathText(path: Path): string {
  const words = path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    const name = /^[\w-]{1,64}$/.test(step) ? step : JSON.stringify(step.length > 64 ? `${step.slice(0, 64)}…` : step);
    return index === 0 ? name : `.${name}`;
  });
  return words.join("");
}
