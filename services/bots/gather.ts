// The reader: what a mind gets of one thread, gathered with a token that may only read, within bounds of number and size.
import type { BotPersona } from "../../contracts/src/records/githubbot.ts";
import type { RepositoryFile } from "../../core/bots/apply-edits.ts";
import {
  bytesMax,
  type CommentMaterial,
  type FileMaterial,
  filesMax,
  type Material,
  type PatchMaterial,
  type ThreadMaterial,
  withinBytes,
} from "../../core/bots/material.ts";
import { lastDiff } from "../../core/bots/mind/fix-rules.ts";
import { readDiff } from "../../core/bots/patches.ts";
import { whyProtected } from "../../core/bots/protected-paths.ts";
import type { RepositorySettings } from "../../core/bots/repository-settings.ts";
import type { ForgeComment, ForgeIssue, ForgeTreeEntry, RepositoryForge } from "../../ports/forge.ts";

/** What was read, for the mind, and what the plan is held against later. */
export interface Gathered {
  readonly material: Material;
  readonly headSha: string | undefined;
  readonly patches: readonly PatchMaterial[];
  readonly others: readonly number[];
  readonly baseSha: string | undefined;
  readonly tree: readonly ForgeTreeEntry[];
}

interface Reading {
  readonly forge: RepositoryForge;
  readonly issue: ForgeIssue;
  readonly settings: RepositorySettings;
  readonly defaultBranch: string;
  readonly hasModel: boolean;
}

const empty = { headSha: undefined, patches: [], others: [], baseSha: undefined, tree: [] } as const;
const otherCharactersMax = 400;
const commentsMax = 50;
const commentCharactersMax = 20_000;
const fileBytesMax = 60_000;
const authorsMax = 20;
const pathsMax = 5_000;

export async function gather(persona: BotPersona, reading: Reading): Promise<Gathered> {
  if (persona === "triager") return gatherIssue(reading);
  if (persona === "code_reviewer") return gatherPull(reading);
  return gatherFix(reading);
}

async function gatherIssue({ forge, issue, settings }: Reading): Promise<Gathered> {
  const labels = await forge.labels();
  const others = (await forge.openIssues()).filter(({ number }) => number !== issue.number);
  const near = others.map(({ number, title, body }) => ({
    number,
    title: title.slice(0, 300),
    body: body.slice(0, otherCharactersMax),
  }));
  const material: Material = {
    persona: "triager",
    thread: threadOf(issue, []),
    labels,
    words: settings.words,
    others: near,
  };
  return { ...empty, material, others: others.map(({ number }) => number) };
}

async function gatherPull({ forge, issue }: Reading): Promise<Gathered> {
  const pull = await forge.pull(issue.number);
  const files = (await forge.pullFiles(issue.number)).slice(0, filesMax);
  const patches = withinBytes(files, ({ patch }) => patch?.length ?? 0, bytesMax);
  const material: Material = {
    persona: "code_reviewer",
    thread: threadOf(issue, []),
    branch: pull.headBranch,
    patches,
  };
  return { ...empty, material, headSha: pull.headSha, patches };
}

async function gatherFix(reading: Reading): Promise<Gathered> {
  const { forge, issue, defaultBranch, hasModel } = reading;
  const comments = await withPermissions(forge, await forge.comments(issue.number));
  const thread = threadOf(issue, comments);
  const baseSha = await forge.headOf(defaultBranch);
  const tree = baseSha === undefined ? [] : await forge.tree(baseSha);
  const hasDiff = comments.some(({ mayWrite, body }) => mayWrite && readDiff(lastDiff(body) ?? "") !== undefined);
  const files = hasModel && !hasDiff ? await readFiles(forge, tree, `${issue.title}\n${issue.body}`) : [];
  const paths = tree.slice(0, pathsMax).map(({ path }) => path);
  return { ...empty, material: { persona: "bug_fixer", thread, paths, files }, baseSha, tree };
}

function threadOf({ number, title, body, author }: ForgeIssue, comments: readonly CommentMaterial[]): ThreadMaterial {
  return { number, title: title.slice(0, 1_000), body: body.slice(0, 65_536), author, comments };
}

/** Whoever put a diff into the thread is asked about: only people with write are taken at their word. */
async function withPermissions(
  forge: RepositoryForge,
  all: readonly ForgeComment[],
): Promise<readonly CommentMaterial[]> {
  const newest = all.slice(-commentsMax);
  const wanted = newest.filter(({ isPerson, body }) => isPerson && lastDiff(normal(body)) !== undefined);
  const authors = [...new Set(wanted.map(({ author }) => author))].slice(-authorsMax);
  const may = new Set<string>();
  for (const author of authors) if (mayWrite(await forge.permission(author))) may.add(author);
  return newest.map(({ author, isPerson, body }) => ({
    author,
    mayWrite: isPerson && may.has(author),
    body: normal(body).slice(0, commentCharactersMax),
  }));
}

function normal(body: string): string {
  return body.replaceAll("\r\n", "\n");
}

export function mayWrite(permission: string): boolean {
  return permission === "write" || permission === "admin";
}

/** Files of text that an issue is probably about: those that it names first, then those whose names it has words of. */
async function readFiles(
  forge: RepositoryForge,
  tree: readonly ForgeTreeEntry[],
  text: string,
): Promise<readonly FileMaterial[]> {
  const lowered = text.toLowerCase();
  const score = ({ path }: ForgeTreeEntry): number => {
    const lower = path.toLowerCase();
    if (lowered.includes(lower)) return 1_000;
    return lower.split(/[/._-]/).filter((word) => word.length > 3 && lowered.includes(word)).length;
  };
  const readable = tree.filter(
    ({ mode, type, size, path }) =>
      type === "blob" && mode !== "120000" && size <= fileBytesMax && whyProtected(path) === undefined,
  );
  const ranked = readable.map((entry) => ({ entry, rank: score(entry) })).filter(({ rank }) => rank > 0);
  const chosen = ranked.sort((left, right) => right.rank - left.rank).slice(0, filesMax);
  const files: FileMaterial[] = [];
  for (const { entry } of withinBytes(chosen, ({ entry: { size } }) => size, bytesMax)) {
    const content = await forge.blob(entry.sha);
    if (content !== undefined) files.push({ path: entry.path, content });
  }
  return files;
}

/** The files that a plan names, as the commit has them. */
export async function filesOf(
  forge: RepositoryForge,
  tree: readonly ForgeTreeEntry[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, RepositoryFile>> {
  const files = new Map<string, RepositoryFile>();
  for (const path of new Set(paths.slice(0, filesMax))) {
    const entry = tree.find((each) => each.path === path);
    if (entry === undefined) continue;
    const isText =
      entry.type === "blob" && (entry.mode === "100644" || entry.mode === "100755") && entry.size <= bytesMax;
    files.set(path, { path, mode: entry.mode, content: isText ? await forge.blob(entry.sha) : undefined });
  }
  return files;
}
