// The configuration in force: environment over file over defaults, checked whole. Either everything is valid, or every
// complaint comes at once; nothing is guessed and nothing is ignored.
import type { z } from "zod";
import { messageOf } from "../../contracts/src/fault.ts";
import { crossComplaints } from "./checks/cross-checks.ts";
import { type Complaint, complaintAt, shownValue } from "./complaint.ts";
import {
  configFileVariable,
  type Environment,
  type EnvironmentValue,
  environmentValues,
  unknownVariables,
} from "./environment.ts";
import { nearest } from "./nearest.ts";
import { type Configuration, configurationSchema } from "./schema.ts";
import { keyTree, namedKeys, nodeAt, type Path, pathText } from "./schema-tree.ts";
import { type Sources, sourcesOf } from "./sources.ts";
import { changedAt, type Tree, valueAt } from "./tree.ts";
import { hasCredentials } from "./value-forms.ts";
import { readYaml, type YamlFile } from "./yaml-file.ts";

interface LoadOptions {
  readonly environment: Environment;
  /** Only `--config FILE` and `--config=FILE` are looked for; it names the file before PORTCULLIS_CONFIG does. */
  readonly arguments?: readonly string[];
  /** Answers the text of a file or throws. */
  readFile(path: string): string;
  /** PORTCULLIS_* variables that somebody else of the program reads. */
  readonly alsoKnown?: readonly string[];
}

export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration; readonly sources: Sources }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

export function loadConfiguration(options: LoadOptions): Loaded {
  const file = readNamedFile(options);
  const fromFile = withoutSecrets(file);
  const fromEnvironment = environmentValues(options.environment);
  const tree = overlaid(fromFile.tree, fromEnvironment);
  const variableOf = new Map(fromEnvironment.map(({ name, path }) => [pathText(path), name]));
  const whereIs = (path: Path): string => {
    for (let length = path.length; length > 0; length -= 1) {
      const variable = variableOf.get(pathText(path.slice(0, length)));
      if (variable !== undefined) return `environment ${variable}`;
    }
    return file.whereIs(path);
  };

  const checked = configurationSchema.safeParse(tree);
  const complaints = [
    ...file.complaints,
    ...fromFile.complaints,
    ...(checked.success ? [] : checked.error.issues.flatMap((issue) => issueComplaints(issue, tree, whereIs))),
    ...(file.broken ? [] : crossComplaints({ tree, environment: options.environment, whereIs })),
    ...unknownVariables(options.environment, options.alsoKnown ?? []),
  ];
  if (complaints.length > 0 || !checked.success) return { ok: false, complaints: distinct(complaints) };

  const { fund, ...rest } = checked.data;
  const configuration: Configuration = deepFrozen({ ...rest, funds: fund === undefined ? rest.funds : [fund] });
  const sources = sourcesOf({ configuration, tree, whereIs, variableOf, singleFund: fund !== undefined });
  return { ok: true, configuration, sources };
}

function readNamedFile(options: LoadOptions): YamlFile {
  const flagged = fileArgument(options.arguments ?? []);
  if (flagged === "")
    return unreadFile(configFileFlag, "nothing", `${configFileFlag} names no file: write --config FILE`);
  const name = flagged ?? options.environment[configFileVariable] ?? "";
  if (name === "") return { tree: {}, whereIs: () => "", complaints: [], broken: false };
  const namedBy = flagged === undefined ? configFileVariable : configFileFlag;
  let text: string;
  try {
    text = options.readFile(name);
  } catch (thrown) {
    return unreadFile(name, "a file that cannot be read", readErrorSentence(name, namedBy, thrown));
  }
  return readYaml(name, text);
}

const configFileFlag = "--config";

function fileArgument(words: readonly string[]): string | undefined {
  const index = words.findIndex((word) => word === configFileFlag || word.startsWith(`${configFileFlag}=`));
  const word = words[index];
  if (word === undefined) return undefined;
  return word === configFileFlag ? (words[index + 1] ?? "") : word.slice(`${configFileFlag}=`.length);
}

function unreadFile(path: string, value: string, sentence: string): YamlFile {
  const complaint = { path, value, expected: "a readable YAML file", where: "", sentence };
  return { tree: {}, whereIs: () => "", complaints: [complaint], broken: true };
}

const readErrors: Readonly<Record<string, string>> = {
  EACCES: "may not be read by this user",
  EISDIR: "is a folder, not a file",
  ELOOP: "is a link that leads back to itself",
  EPERM: "may not be read by this user",
};

/** Why a file could not be read, with its name once and who named it. */
function readErrorSentence(name: string, namedBy: string, thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  // A name may have a line break in it, and the complaint is one line.
  const file = name.replaceAll(/\p{Cc}/gu, "?");
  if (code === "ENOENT" || code === "ENOTDIR") {
    const advice = name.startsWith("~") ? "; write the path out, for `~` means nothing here" : "";
    return `there is no file ${file} (named by ${namedBy})${advice}`;
  }
  const reason = readErrors[code];
  if (reason !== undefined) return `the file ${file} (named by ${namedBy}) ${reason}`;
  return `the file ${file} (named by ${namedBy}) cannot be read: ${code === "" ? messageOf(thrown) : code}`;
}

/** The file's data without the secrets that do not belong in a file, each of them a complaint. */
function withoutSecrets(file: YamlFile): { readonly tree: Tree; readonly complaints: readonly Complaint[] } {
  let tree = file.tree;
  const complaints: Complaint[] = [];
  for (const { steps, node } of namedKeys) {
    const { secrecy, environment } = node.facts ?? {};
    const value = secrecy === undefined ? undefined : valueAt(tree, steps);
    if (value === undefined) continue;
    const harmless = secrecy === "credentials" && !(typeof value === "string" && hasCredentials(value));
    if (harmless) continue;
    const what = secrecy === "whole" ? "no secret in the file" : "no credentials in the file";
    const expected = `${what}: it is taken from the environment only, as ${environment}`;
    complaints.push(
      complaintAt(steps, { value: shownValue(value, steps, node), expected, where: file.whereIs(steps) }),
    );
    tree = changedAt(tree, steps, undefined);
  }
  return { tree, complaints };
}

function overlaid(tree: Tree, values: readonly EnvironmentValue[]): Tree {
  return values.reduce((current, { path, value }) => changedAt(current, path, value), tree);
}

/** What the schema found, in our words: one complaint per unknown key, else one for the place. */
function issueComplaints(issue: z.core.$ZodIssue, tree: Tree, whereIs: (path: Path) => string): readonly Complaint[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.filter((name) => name !== "__proto__").map((name) => unknownKey([...path, name], tree, whereIs));
  }
  const node = nodeAt(path);
  if (issue.code === "invalid_key") {
    const expected = "a name of 1 to 64 letters, digits, dots, dashes or underscores";
    return [complaintAt(path, { value: JSON.stringify(path.at(-1)), expected, where: whereIs(path) })];
  }
  const value = valueAt(tree, path);
  const near = typeof value === "string" ? nearest(value, node?.choices ?? []) : undefined;
  const parts = {
    value: shownValue(value, path, node),
    expected: node?.expected ?? issue.message,
    where: whereIs(path),
  };
  return [complaintAt(path, near === undefined ? parts : { ...parts, suggestion: near })];
}

function unknownKey(path: Path, tree: Tree, whereIs: (path: Path) => string): Complaint {
  const siblings = [...(nodeAt(path.slice(0, -1)) ?? keyTree).children.keys()];
  const suggestion = nearestKey(String(path.at(-1)), path, siblings);
  // A misspelt secret is still a secret.
  const near = suggestion === undefined ? undefined : namedKeys.find((known) => known.path === suggestion)?.node;
  const value = shownValue(valueAt(tree, path), path, near?.facts?.secrecy === undefined ? undefined : near);
  const parts = { value, expected: `a known key: ${siblings.join(", ")}`, where: whereIs(path) };
  return complaintAt(path, suggestion === undefined ? parts : { ...parts, suggestion });
}

/** The nearest key beside it, else a key of nearly that name anywhere else. */
function nearestKey(name: string, path: Path, siblings: readonly string[]): string | undefined {
  const beside = nearest(name, siblings);
  if (beside !== undefined) return pathText([...path.slice(0, -1), beside]);
  const lastNameOf = (key: { readonly steps: readonly string[] }): string => key.steps.at(-1) ?? "";
  const elsewhere = nearest(name, namedKeys.map(lastNameOf));
  return namedKeys.find((key) => lastNameOf(key) === elsewhere)?.path;
}

/** One complaint per place and finding: two rules may have noticed the same slip. */
function distinct(complaints: readonly Complaint[]): readonly Complaint[] {
  const seen = new Set<string>();
  return complaints.filter(({ path, where, expected }) => {
    const place = `${path} ${where} ${expected}`;
    return !seen.has(place) && seen.add(place) !== undefined;
  });
}

function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFrozen(inner);
  }
  return value;
}
